"""Arrays of a GPU, as a launch on the emulator gets them."""

import numpy as np
import pytest

from course_utils import load, profile, sanitize, trace
from course_utils.devices import emulated_cupy
from course_utils.launching.arguments import carry_over


class Pointer:
    def __init__(self, ptr):
        self.ptr = ptr


class OfGpu:
    """Stands for CuPy's array of a GPU: memory of its own, and views that know whose they are."""

    __cuda_array_interface__ = {}

    def __init__(self, held, base=None):
        self.held, self.base = held, base
        self.shape, self.dtype, self.strides = held.shape, held.dtype, held.strides
        self.data = Pointer(held.__array_interface__["data"][0])

    def __getitem__(self, key):
        return OfGpu(self.held[key], self if self.base is None else self.base)

    @property
    def T(self):  # noqa: N802 (CuPy's name)
        return OfGpu(self.held.T, self if self.base is None else self.base)

    def get(self, order="C"):
        return self.held.copy(order=order)

    def set(self, values):
        self.held[...] = values


def test_views_of_one_array_overlap_and_go_home_together():
    whole = OfGpu(np.arange(12, dtype=np.float32))
    (x, tail, other), copies = carry_over((whole, whole[1:], OfGpu(np.zeros(3, np.float32))))
    assert isinstance(tail, emulated_cupy.ndarray)
    assert tail.data.ptr - x.data.ptr == 4
    assert len(copies) == 2 and other.tolist() == [0, 0, 0]
    tail[0] = 100
    for gpu, copy in copies:
        gpu.set(copy.get(order="A"))
    assert whole.held[:3].tolist() == [0, 100, 2]


def test_a_view_alone_brings_what_lies_before_it():
    whole = OfGpu(np.arange(12, dtype=np.float32))
    (tail,), copies = carry_over((whole[3:],))
    assert tail.tolist() == list(range(3, 12))
    assert tail.data.ptr - copies[0][1].data.ptr == 12


@pytest.mark.parametrize("order", ("C", "F"))
def test_a_view_keeps_its_strides(order):
    whole = OfGpu(
        np.asfortranarray(np.arange(20).reshape(4, 5))
        if order == "F"
        else np.arange(20).reshape(4, 5)
    )
    views = whole[1:, ::2], whole.T, whole[:, 3]
    carried, _ = carry_over(views)
    for view, here in zip(views, carried, strict=True):
        assert here.strides == view.strides
        assert (here.get() == view.held).all()


@pytest.mark.parametrize("look", (profile, sanitize, trace))
def test_who_looks_at_a_kernel_leaves_what_it_wrote_in_the_gpus_arrays(look):
    code = """extern "C" __global__ void more(float* x) { x[threadIdx.x] += 1; }"""
    x = OfGpu(np.zeros(32, np.float32))
    look(load(source=code, device="emulator").more, 1, 32, (x,))
    assert x.held.tolist() == [1] * 32


def test_an_empty_array_is_carried():
    (x,), _ = carry_over((OfGpu(np.zeros(0, np.float32)),))
    assert x.shape == (0,)
