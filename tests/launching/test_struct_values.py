"""Structs by value: NumPy's and ctypes' own become the bytes that the kernel takes."""

import ctypes

import numpy as np
import pytest

from course_utils import cp, load
from course_utils.devices.limits import LaunchError

SOURCE = """
struct Particle { char kind; float weight; double value; int count; };
enum Mode : short { FIRST = 1, LAST = 300 };
extern "C" __global__ void take(Particle p, double *out)
{ out[0] = p.kind; out[1] = p.weight; out[2] = p.value; out[3] = p.count; }
extern "C" __global__ void vector(float3 v, double *out) { out[0] = v.x + v.y + v.z; }
extern "C" __global__ void mode(Mode m, double *out) { out[0] = m; }
"""
FIELDS = [("kind", "i1"), ("weight", "f4"), ("value", "f8"), ("count", "i4")]
ALIGNED, PACKED = np.dtype(FIELDS, align=True), np.dtype(FIELDS)


class Particle(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_byte),
        ("weight", ctypes.c_float),
        ("value", ctypes.c_double),
        ("count", ctypes.c_int),
    )


@pytest.fixture(scope="module")
def module():
    return load(source=SOURCE)


@pytest.mark.parametrize(
    "value",
    [
        np.array((1, 2.5, 3.5, 7), ALIGNED)[()],
        np.array([(1, 2.5, 3.5, 7)], ALIGNED),
        Particle(1, 2.5, 3.5, 7),
    ],
    ids=["scalar", "array", "ctypes"],
)
@pytest.mark.filterwarnings("error")
def test_a_struct_arrives_as_it_was_passed(module, value):
    out = cp.zeros(4)
    module["take"](1, 1, (value, out))
    assert out.get().tolist() == [1, 2.5, 3.5, 7]


def test_a_vector_of_three_may_be_an_array_and_an_enum_an_integer(module):
    out = cp.zeros(1)
    module["vector"](1, 1, (np.array([1, 2, 4], np.float32), out))
    assert out.get()[0] == 7
    module["mode"](1, 1, (300, out))
    assert out.get()[0] == 300


@pytest.mark.emulator
@pytest.mark.parametrize(
    "value, told",
    [
        (np.array((1, 2.5, 3.5, 7), PACKED)[()], r"24 bytes, the value 17\..* align=True"),
        (np.array([(1, 2.5, 3.5, 7)], PACKED), r"24 bytes, the value 17\..* align=True"),
        (5, "24 bytes, the value 8"),
        (np.float32(5), "24 bytes, the value 4"),
        (np.zeros(5, np.float32), "24 bytes, the value 20"),
    ],
    ids=["packed", "packed array", "number", "scalar", "array"],
)
def test_a_value_of_another_size_is_refused_with_both_sizes(module, value, told):
    with pytest.raises(LaunchError, match=rf"argument 1 \(Particle p\): Particle has {told}"):
        module["take"](1, 1, (value, cp.zeros(4)))


@pytest.mark.parametrize("value", [(1, 2.5, 3.5, 7), [1, 2, 3], "p"])
def test_what_has_no_bytes_is_refused(module, value):
    with pytest.raises(LaunchError, match=r"argument 1 .*wants one Particle, got a "):
        module["take"](1, 1, (value, cp.zeros(4)))
