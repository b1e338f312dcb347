"""Calls each transform of cuFFT, and prints how far its results are from NumPy's."""

import ctypes

import numpy as np
from calling import back, compare, drawn, finish, library, on_device

KINDS = {"C2C": (0x29, "c8", "c8"), "R2C": (0x2A, "f4", "c8"), "C2R": (0x2C, "c8", "f4")}
KINDS |= {"Z2Z": (0x69, "c16", "c16"), "D2Z": (0x6A, "f8", "c16"), "Z2D": (0x6C, "c16", "f8")}


def row_major(values):
    """The values as C stores them, for functions that copy by columns."""
    return np.ascontiguousarray(values).reshape(-1)


def ints(*values):
    """An array of int."""
    return (ctypes.c_int * len(values))(*values)


def run(kind, plan, source, target, *direction):
    """Run a plan on copies, and return the target's values."""
    start, end = on_device(row_major(source)), on_device(row_major(target))
    assert getattr(library, f"cufftExec{kind}")(plan, start, end, *direction) == 0
    return back(end, row_major(target)).reshape(target.shape)


for kind, (code, first, second) in KINDS.items():
    for size in ((8,), (6, 5), (3, 4, 6)):
        half = (*size[:-1], size[-1] // 2 + 1)
        real, wide = np.dtype(first).kind, np.dtype(second).kind
        plan = ctypes.c_int()
        make = getattr(library, f"cufftPlan{len(size)}d")
        assert make(ctypes.byref(plan), *size, code, *([1] if len(size) == 1 else [])) == 0
        name = f"{kind} {len(size)}d"
        total = np.prod(size)
        if real == wide:
            x = np.ascontiguousarray(drawn(*size, dtype=first))
            compare(name, run(kind, plan, x, x, -1), np.fft.fftn(x))
            compare(f"{name} inverse", run(kind, plan, x, x, 1), np.fft.ifftn(x) * total)
        elif real == "f":
            x = np.ascontiguousarray(drawn(*size, dtype=first))
            compare(name, run(kind, plan, x, np.zeros(half, second)), np.fft.rfftn(x))
            room = np.zeros((*size[:-1], 2 * half[-1]), first)
            room[..., : size[-1]] = x
            place = on_device(row_major(room))
            assert getattr(library, f"cufftExec{kind}")(plan, place, place) == 0
            found = back(place, row_major(room)).view(second).reshape(half)
            compare(f"{name} in place", found, np.fft.rfftn(x))
        else:
            x = np.fft.rfftn(drawn(*size)).astype(first)
            wanted = np.fft.irfftn(x, size) * total
            compare(name, run(kind, plan, x, np.zeros(size, second)), wanted)

# A batch of rows whose elements are apart, in a larger array.
plan = ctypes.c_int()
x = np.ascontiguousarray(drawn(3, 20, dtype=np.complex64))
words = ints(8), ints(8), 2, 20, ints(8), 1, 8, 0x29, 3
assert library.cufftPlanMany(ctypes.byref(plan), 1, *words) == 0
found = run("C2C", plan, x, np.zeros((3, 8), np.complex64), -1)
compare("batch", found, np.fft.fft(x[:, :16:2]))
plan = ctypes.c_int()
library.cufftCreate(ctypes.byref(plan))
size, one = (ctypes.c_longlong * 1)(20), ctypes.c_longlong(1)
words = None, one, one, 4, None, one, one, 4, ctypes.c_longlong(3), None, 4
assert library.cufftXtMakePlanMany(plan, 1, size, *words) == 0
start = on_device(row_major(x))
assert library.cufftXtExec(plan, start, start, -1) == 0
compare("of 64-bit sizes", back(start, row_major(x)).reshape(x.shape), np.fft.fft(x))
statuses = [
    library.cufftPlan1d(ctypes.byref(plan), 0, 0x29, 1),
    library.cufftExecR2C(plan, None, None),
    library.cufftMakePlan1d(plan, 8, 7, 1, None),
    library.cufftExecC2C(999, None, None, -1),
]
finish(statuses=statuses)
