"""Calls each function of cuBLAS, and prints how far its results are from NumPy's."""

import ctypes

import numpy as np
from calling import P, back, calls, compare, drawn, errors, finish, host, library, on_device, random

LETTERS = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}
handle = ctypes.c_void_p()
library.cublasCreate_v2(ctypes.byref(handle))


def call(name, *words):
    """Call a function that has to succeed."""
    status = getattr(library, name)(handle, *words)
    assert status == 0, (name, status)


for letter, dtype in LETTERS.items():
    one = dtype(1.5) if letter in "SD" else dtype(1.5 - 0.5j)
    two = dtype(-0.25)
    real = np.float32 if letter in "SC" else np.float64
    x, y = drawn(12, dtype=dtype), drawn(6, dtype=dtype)
    dx, dy = on_device(x), on_device(y)
    call(f"cublas{letter}axpy_v2", 6, host(one), dx, 2, dy, 1)
    compare(f"{letter}axpy", back(dy, y), y + one * x[::2])
    dy = on_device(y)
    call(f"cublas{letter}copy_v2", 6, dx, 2, dy, -1)
    compare(f"{letter}copy", back(dy, y), x[::2][::-1])
    dx, dy = on_device(x), on_device(y)
    call(f"cublas{letter}swap_v2", 6, dx, 2, dy, 1)
    compare(f"{letter}swap", [back(dx, x)[::2], back(dy, y)], [y, x[::2]])
    dx, dy = on_device(x), on_device(y)
    call(f"cublas{letter}scal_v2", 6, host(one), dx, 2)
    compare(f"{letter}scal", back(dx, x)[::2], one * x[::2])
    compare(f"{letter}scal, between", back(dx, x)[1::2], x[1::2])
    dx = on_device(x)
    sums = {"S": ["dot"], "D": ["dot"], "C": ["dotu", "dotc"], "Z": ["dotu", "dotc"]}[letter]
    for name in sums:
        out = np.zeros(1, dtype)
        call(f"cublas{letter}{name}_v2", 6, dx, 2, dy, 1, P(out.ctypes.data))
        compare(letter + name, out[0], np.sum((x.conj() if name == "dotc" else x)[::2] * y))
    prefix = {"S": "S", "D": "D", "C": "Sc", "Z": "Dz"}[letter]
    parts = np.abs(x.real) + np.abs(x.imag)
    for name, wanted in (("nrm2", np.linalg.norm(x)), ("asum", parts.sum())):
        out = np.zeros(1, real)
        call(f"cublas{prefix}{name}_v2", 12, dx, 1, P(out.ctypes.data))
        compare(prefix + name, out[0], wanted)
    for name, wanted in (("amax", parts.argmax() + 1), ("amin", parts.argmin() + 1)):
        out = np.zeros(1, np.int32)
        call(f"cublasI{letter.lower()}{name}_v2", 12, dx, 1, P(out.ctypes.data))
        compare(f"I{letter.lower()}{name}", out[0], wanted)
    out = np.zeros(1, np.int64)
    function = getattr(library, f"cublasI{letter.lower()}amax_v2_64")
    function.argtypes = [P, ctypes.c_int64, P, ctypes.c_int64, P]
    call(f"cublasI{letter.lower()}amax_v2_64", 12, dx, 1, P(out.ctypes.data))
    compare(f"I{letter.lower()}amax_64", out[0], parts.argmax() + 1)

    # Matrices whose columns are further apart than they are long.
    a, b, c = drawn(7, 6, dtype=dtype), drawn(7, 6, dtype=dtype), drawn(7, 6, dtype=dtype)
    da, db = on_device(a), on_device(b)
    flips = {0: lambda m: m, 1: lambda m: m.T, 2: lambda m: m.conj().T}
    for op_a, flip_a in flips.items():
        for op_b, flip_b in flips.items():
            dc = on_device(c)
            rows_a, rows_b = (5, 4) if op_a == 0 else (4, 5), (4, 3) if op_b == 0 else (3, 4)
            wanted = c.copy()
            part = flip_a(a[: rows_a[0], : rows_a[1]]) @ flip_b(b[: rows_b[0], : rows_b[1]])
            wanted[:5, :3] = one * part + two * c[:5, :3]
            sizes = 5, 3, 4, host(one), da, 7, db, 7, host(two), dc, 7
            call(f"cublas{letter}gemm_v2", op_a, op_b, *sizes)
            compare(f"{letter}gemm {'NTC'[op_a]}{'NTC'[op_b]}", back(dc, c), wanted)
        length, width = (5, 4) if op_a == 0 else (4, 5)
        dy = on_device(b[:, 0])
        vectors = da, 7, on_device(c[:, 0]), 1, host(two), dy, 1
        call(f"cublas{letter}gemv_v2", op_a, 5, 4, host(one), *vectors)
        wanted = b[:, 0].copy()
        wanted[:length] = one * flip_a(a[:5, :4]) @ c[:width, 0] + two * b[:length, 0]
        compare(f"{letter}gemv {'NTC'[op_a]}", back(dy, b[:, 0]), wanted)
    dc = on_device(c)
    call(f"cublas{letter}geam", 1, 0, 6, 6, host(one), da, 7, host(two), db, 7, dc, 7)
    compare(f"{letter}geam", back(dc, c)[:6], one * a[:6].T + two * b[:6])
    for side in (0, 1):
        dc = on_device(c)
        call(f"cublas{letter}dgmm", side, 6, 6, da, 7, dx, 1, dc, 7)
        scale = x[:6, None] if side == 0 else x[:6]
        compare(f"{letter}dgmm {'LR'[side]}", back(dc, c)[:6], scale * a[:6])
    for name in {"S": ["ger"], "D": ["ger"], "C": ["geru", "gerc"], "Z": ["geru", "gerc"]}[letter]:
        dc = on_device(c)
        call(f"cublas{letter}{name}_v2", 6, 5, host(one), dx, 1, on_device(y), 1, dc, 7)
        right = y[:5].conj() if name == "gerc" else y[:5]
        compare(letter + name, back(dc, c)[:6, :5], c[:6, :5] + one * np.outer(x[:6], right))
    square = a[:6] + 4 * np.eye(6, dtype=dtype)
    ds = on_device(square)
    for side, upper, op, unit in np.ndindex(2, 2, 3, 2):
        dc = on_device(c)
        call(f"cublas{letter}trsm_v2", side, upper, op, unit, 6, 6, host(one), ds, 6, dc, 7)
        triangle = np.triu(square) if upper else np.tril(square)
        if unit:
            np.fill_diagonal(triangle, 1)
        found, triangle = back(dc, c)[:6], flips[op](triangle)
        product = triangle @ found if side == 0 else found @ triangle
        case = f"{letter}trsm {'LR'[side]}{'LU'[upper]}{'NTC'[op]}{'NU'[unit]}"
        compare(case, product, one * c[:6])
    # Batches: by strides, and by pointers.
    many = [drawn(4, 4, dtype=dtype) for _ in range(9)]
    das, dbs, dcs = (on_device(np.concatenate(many[n : n + 3], 1)) for n in (0, 3, 6))
    step, stacked = ctypes.c_longlong(16), np.concatenate(many[6:], 1)
    sizes = 0, 0, 4, 4, 4, host(one)
    wanted = [one * many[n] @ many[n + 3] + two * many[n + 6] for n in range(3)]
    name = f"cublas{letter}gemmStridedBatched"
    call(name, *sizes, das, 4, step, dbs, 4, step, host(two), dcs, 4, step, 3)
    compare(f"{letter}gemmStridedBatched", back(dcs, stacked), np.concatenate(wanted, 1))
    places = [[on_device(m) for m in many[n : n + 3]] for n in (0, 3, 6)]
    tables = [on_device(np.array([p.value for p in row], np.uint64)) for row in places]
    call(
        f"cublas{letter}gemmBatched", *sizes, tables[0], 4, tables[1], 4, host(two), tables[2], 4, 3
    )
    compare(f"{letter}gemmBatched", [back(p, many[0]) for p in places[2]], wanted)
    pivots, info = np.zeros((3, 4), np.int32), np.zeros(3, np.int32)
    dp, di = on_device(pivots.T), on_device(info)
    call(f"cublas{letter}getrfBatched", 4, tables[0], 4, dp, di, 3)
    orders, again = back(dp, pivots.T).T, []
    for place, order in zip(places[0], orders, strict=True):
        matrix = back(place, many[0])
        product = (np.tril(matrix, -1) + np.eye(4, dtype=dtype)) @ np.triu(matrix)
        for row in reversed(range(4)):
            product[[row, order[row] - 1]] = product[[order[row] - 1, row]]
        again.append(product)
    compare(f"{letter}getrfBatched", again, many[:3])

# Types that NumPy lacks, or that differ from call to call.
a, b = drawn(4, 4), drawn(4, 4)
half_a, half_b = a.astype(np.float16), b.astype(np.float16)
wide = half_a.astype(np.float32) @ half_b.astype(np.float32)
dc = on_device(np.zeros((4, 4), np.float16))
one, zero = np.float16(1), np.float16(0)
sizes = 0, 0, 4, 4, 4
da, db = on_device(half_a), on_device(half_b)
call("cublasHgemm", *sizes, host(one), da, 4, db, 4, host(zero), dc, 4)
compare("Hgemm", back(dc, half_a), wide.astype(np.float16))
dc = on_device(np.zeros((4, 4), np.float32))
f_one, f_zero = host(np.float32(1)), host(np.float32(0))
call("cublasGemmEx", *sizes, f_one, da, 2, 4, db, 2, 4, f_zero, dc, 0, 4, 68, -1)
compare("GemmEx f16 to f32", back(dc, a), wide)
bits = lambda m: ((m.view(np.uint32) + 0x8000) >> 16).astype(np.uint16)  # noqa: E731
value = lambda m: (m.astype(np.uint32) << 16).view(np.float32)  # noqa: E731
da, db, dc = on_device(bits(a)), on_device(bits(b)), on_device(np.zeros((4, 4), np.uint16))
call("cublasGemmEx", *sizes, f_one, da, 14, 4, db, 14, 4, f_zero, dc, 14, 4, 68, -1)
wide = value(bits(a)) @ value(bits(b))
compare("GemmEx bf16", value(back(dc, bits(a))) / wide, np.ones((4, 4)))
errors["GemmEx bf16"] /= 2**10  # bfloat16 has 8 bits
small = random.integers(-100, 100, (2, 4, 4)).astype(np.int8)
da, db, dc = on_device(small[0]), on_device(small[1]), on_device(np.zeros((4, 4), np.int32))
i_one, i_zero = host(np.int32(1)), host(np.int32(0))
call("cublasGemmEx", *sizes, i_one, da, 3, 4, db, 3, 4, i_zero, dc, 10, 4, 72, -1)
compare("GemmEx i8", back(dc, np.zeros((4, 4), np.int32)), small[0].astype(int) @ small[1])
dx, dy = on_device(half_a[:, 0]), on_device(half_b[:, 0])
out = np.zeros(1, np.float32)
call("cublasDotEx", 4, dx, 2, 1, dy, 2, 1, P(out.ctypes.data), 0, 0)
compare("DotEx", out[0], half_a[:, 0].astype(float) @ half_b[:, 0].astype(float))
for name, dtype in (("Srot", np.float32), ("Drot", np.float64)):
    x, y = drawn(5, dtype=dtype), drawn(5, dtype=dtype)
    dx, dy, c, s = on_device(x), on_device(y), dtype(0.6), dtype(0.8)
    call(f"cublas{name}_v2", 5, dx, 1, dy, 1, host(c), host(s))
    compare(name, [back(dx, x), back(dy, y)], [c * x + s * y, c * y - s * x])

# Scalars and results of the device, memory that is read when the factor is 0, and copies.
call("cublasSetPointerMode_v2", 1)
x = drawn(5)
dx, out = on_device(x), on_device(np.zeros(1, np.float32))
call("cublasSscal_v2", 5, on_device(np.float32([3])), dx, 1)
compare("scalar of the device", back(dx, x), 3 * x)
call("cublasSasum_v2", 5, dx, 1, out)
compare("result of the device", back(out, np.zeros(1, np.float32)), 3 * np.abs(x).sum())
call("cublasSetPointerMode_v2", 0)
dc = on_device(np.full((4, 4), np.nan, np.float32))
da, db = on_device(a), on_device(b)
call("cublasSgemm_v2", *sizes, f_one, da, 4, db, 4, f_zero, dc, 4)
compare("C isn't read where beta is 0", back(dc, a), a @ b)
dx = on_device(np.zeros(8, np.float32))
assert library.cublasSetVector(4, 4, P(x.ctypes.data), 1, dx, 2) == 0
compare("SetVector", back(dx, np.zeros(8, np.float32))[::2], x[:4])
got = np.zeros((2, 2), np.float32, order="F")
assert library.cublasGetMatrix(2, 2, 4, da, 4, P(got.ctypes.data), 2) == 0
compare("GetMatrix", got, a[:2, :2])

# A graph keeps the scalar of its capture.
stream, graph, ready, three = P(), P(), P(), np.float32([3])
library.cudaStreamCreate(ctypes.byref(stream))
call("cublasSetStream_v2", stream)
dx = on_device(x)
library.cudaStreamBeginCapture(stream, 0)
call("cublasSscal_v2", 5, P(three.ctypes.data), dx, 1)
library.cudaStreamEndCapture(stream, ctypes.byref(graph))
three[:] = 100
compare("captured", back(dx, x), x)
library.cudaGraphInstantiate(ctypes.byref(ready), graph, ctypes.c_longlong(0))
assert library.cudaGraphLaunch(ready, stream) == library.cudaGraphLaunch(ready, stream) == 0
compare("launched twice", back(dx, x), 9 * x)

# Mistakes: their statuses.
statuses = [
    library.cublasSgemm_v2(handle, *sizes, f_one, da, 3, db, 4, f_zero, dc, 4),
    library.cublasSscal_v2(handle, 5, None, dx, 1),
    library.cublasSaxpy_v2(handle, 5, f_one, P(x.ctypes.data), 1, dx, 1),
    library.cublasSscal_v2(handle, 5, f_one, dx, 1),
]
calls.sticky = calls.pending = 0
unset = ctypes.c_void_p()
library.cudaMalloc(ctypes.byref(unset), ctypes.c_size_t(16))
statuses.append(library.cublasScopy_v2(handle, 4, unset, 1, dx, 1))
statuses.append(library.cublasScopy_v2(handle, 4, dx, 1, unset, 1))  # sets it
statuses.append(library.cublasSswap_v2(handle, 4, dx, 1, unset, 1))
library.cublasDestroy_v2(handle)
statuses.append(library.cublasSscal_v2(handle, 5, f_one, dx, 1))
finish(statuses=statuses)
