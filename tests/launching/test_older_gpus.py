"""Kernels that the GPU at hand is too old for."""

import numpy as np
import pytest

from course_utils import bench, cp, load
from course_utils.compiling.diagnostics import CompileError
from course_utils.devices import compute_capability
from course_utils.emulator import LaunchTooLong, Options
from course_utils.errors import LessonError
from course_utils.launching import kernels, older_gpus
from course_utils.launching.modules import _on_gpu_if_it_can

COPY = """
extern "C" __global__ void copy(const float* x, float* y)
{
    __shared__ float word[32];
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(word + threadIdx.x));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + threadIdx.x));
    asm volatile("cp.async.wait_all;" ::: "memory");
    y[threadIdx.x] = word[threadIdx.x];
}
"""
CUTE_COPY = """
#include <cute/arch/copy_sm80.hpp>
extern "C" __global__ void cute_copy(const float* x, float* y)
{
    __shared__ float word[32];
    cute::SM80_CP_ASYNC_CACHEALWAYS<float>::copy(x[threadIdx.x], word[threadIdx.x]);
    cute::cp_async_wait<0>();
    y[threadIdx.x] = word[threadIdx.x];
}
"""
LONG = """
extern "C" __global__ void spin(float* y, int turns)
{
    float sum = 0;
    for (int turn = 0; turn < turns; ++turn) sum = sum * 0.5f + 1.0f;
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


@pytest.fixture
def turing(monkeypatch):
    """A GPU of compute capability 7.5, as far as compiling goes."""
    monkeypatch.setattr(older_gpus, "capability", lambda: 75)


def test_the_oldest_gpu_that_will_do_is_named(turing):
    assert older_gpus.needed(load(source=COPY)) == "sm_80"
    assert older_gpus.needed(load("04_first_kernels/memory_model/cluster_totals.cu")) == "sm_90"


def test_what_compiles_for_the_gpu_at_hand_needs_no_other(turing):
    assert older_gpus.needed(load("04_first_kernels/threads/vec_add.cu")) is None


def test_a_target_of_one_generation_is_beyond_all_others(turing):
    assert older_gpus.is_beyond("sm_90a")
    assert not older_gpus.is_beyond(None)


def test_cute_that_would_only_fail_when_it_runs_is_found(turing):
    module = load(source=CUTE_COPY)
    assert not older_gpus.compiles(module, "sm_75")
    assert older_gpus.compiles(module, "sm_80")


def test_a_launch_that_would_take_too_long_ends_early():
    kernel = load(source=LONG, device="emulator").spin
    y = emulated_zeros(4096 * 256)
    with pytest.raises(LaunchTooLong) as caught:
        kernel.raw.launch(4096, 256, (y, np.int32(2000)), options=Options(patience=0.01))
    assert caught.value.seconds > 0.01


def test_its_lesson_says_what_to_do():
    kernel = load(source=LONG, device="emulator").spin
    y = emulated_zeros(4096 * 256)
    assert "2 hours or more" in str(older_gpus.too_long("spin", 9000))
    with pytest.raises(LessonError, match="GPU cannot run it"):
        kernel.launch(4096, 256, (y, 2000), options=Options(patience=0.01))


def test_shared_memory_that_later_gpus_have_alone_is_beyond_this_one(monkeypatch):
    kernel = load(source=LONG, device="emulator").spin
    assert not kernel.is_beyond_gpu(100 * 1024)
    limits = {"cuda": (48 << 10, 64 << 10), "emulator": (48 << 10, 227 << 10)}
    monkeypatch.setattr(kernels, "_shared_limits", limits.__getitem__)
    monkeypatch.setattr(kernels.Kernel, "device", "cuda")
    needs = {64: False, 65: True, 227: True, 228: False}  # the last is beyond all GPUs
    assert {size: kernel.is_beyond_gpu(size << 10) for size in needs} == needs


def test_a_patient_launch_ends_as_any_other():
    kernel = load(source=LONG, device="emulator").spin
    y = emulated_zeros(256)
    kernel.launch(1, 256, (y, 3), options=Options(patience=60.0))
    assert (y == 1.75).all()


def emulated_zeros(n):
    from course_utils.devices import emulated_cupy

    return emulated_cupy.zeros(n, np.float32)


RECIPE = {
    "filename": "kernel.cu",
    "defines": {},
    "names": (),
    "arch": None,
    "options": (),
    "cooperative": False,
}


@pytest.fixture
def pretended_turing(monkeypatch):
    """The GPU stands in for one of compute capability 7.5."""
    monkeypatch.setenv(compute_capability.PRETEND, "75")
    remembered = compute_capability.pretended, kernels._shared_limits
    for each in remembered:
        each.cache_clear()
    yield
    for each in remembered:
        each.cache_clear()


@pytest.mark.gpu
def test_a_kernel_for_later_gpus_runs_on_the_emulator_with_the_gpus_arrays(
    pretended_turing, capsys
):
    module = load(source=COPY)
    assert capsys.readouterr().out == (
        "kernel.cu needs an sm_80 GPU, and this GPU is sm_75: it runs on the emulator.\n"
    )
    x, y = cp.arange(32, dtype=cp.float32), cp.zeros(32, cp.float32)
    module(1, 32, (x, y))
    assert (y == x).all()
    result = bench(lambda: module(1, 32, (x, y)))
    assert result.launches == 1
    with pytest.raises(older_gpus.GpuTooOld, match="no time to tell"):
        _ = result.median_ms


@pytest.mark.gpu
def test_a_kernel_that_the_gpu_can_run_stays_there(pretended_turing, capsys):
    assert load("04_first_kernels/threads/vec_add.cu").device == "cuda"
    assert capsys.readouterr().out == ""


@pytest.mark.gpu
def test_more_shared_memory_than_the_older_gpu_has_is_the_emulators(pretended_turing, capsys):
    source = """extern __shared__ float tile[];
    extern "C" __global__ void big(float* y) { tile[0] = 2; y[0] = tile[0]; }"""
    y = cp.zeros(1, cp.float32)
    kernel = load(source=source).big
    kernel(1, 1, (y,), shared_mem=100 * 1024)
    assert y.get()[0] == 2
    assert "big needs 100 KB of shared memory for a block" in capsys.readouterr().out


@pytest.mark.gpu
def test_a_mistake_of_the_source_is_no_question_of_the_gpu(pretended_turing):
    with pytest.raises(CompileError, match="nonsense"):
        _on_gpu_if_it_can('extern "C" __global__ void wrong() { nonsense; }', RECIPE)
