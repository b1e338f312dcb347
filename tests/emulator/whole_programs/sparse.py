"""Calls cuSPARSE's products, and prints how far their results are from NumPy's."""

import ctypes

import numpy as np
from calling import P, back, compare, drawn, finish, host, library, on_device, random

KINDS = {
    "S": (0, np.float32),
    "D": (1, np.float64),
    "C": (4, np.complex64),
    "Z": (5, np.complex128),
}
handle = ctypes.c_void_p()
library.cusparseCreate(ctypes.byref(handle))


def long(value):
    """A 64-bit argument."""
    return ctypes.c_int64(value)


def sparse(matrix, code, coordinates=False, base=0, index=np.int32):
    """A descriptor of a matrix in the format CSR, or in coordinates."""
    rows, columns = np.nonzero(matrix)
    values = on_device(matrix[rows, columns])
    offsets = np.searchsorted(rows, np.arange(len(matrix) + 1))
    first = rows if coordinates else offsets
    places = [on_device((each + base).astype(index)) for each in (first, columns)]
    made, kind = ctypes.c_void_p(), 2 if index == np.int32 else 3
    create = library.cusparseCreateCoo if coordinates else library.cusparseCreateCsr
    kinds = (kind,) if coordinates else (kind, kind)
    shape = map(long, (*matrix.shape, len(rows)))
    assert create(ctypes.byref(made), *shape, *places, values, *kinds, base, code) == 0
    return made


def vector(values, code):
    """A descriptor of a vector."""
    made, place = ctypes.c_void_p(), on_device(values)
    library.cusparseCreateDnVec(ctypes.byref(made), long(len(values)), place, code)
    return made, place


for letter, (code, dtype) in KINDS.items():
    matrix = np.where(random.random((5, 7)) < 0.4, drawn(5, 7, dtype=dtype), 0)
    matrix[2] = 0
    one, two = dtype(1.5), dtype(-0.5)
    for op, flip in enumerate((lambda m: m, lambda m: m.T, lambda m: m.conj().T)):
        dense = flip(matrix)
        x, y = drawn(dense.shape[1], dtype=dtype), drawn(dense.shape[0], dtype=dtype)
        for coordinates, base, index in ((0, 0, np.int32), (1, 1, np.int32), (0, 1, np.int64)):
            a = sparse(matrix, code, coordinates, base, index)
            (dx, _), (dy, place) = vector(x, code), vector(y, code)
            words = host(one), a, dx, host(two), dy, code, 0, None
            assert library.cusparseSpMV(handle, op, *words) == 0
            case = f"{letter}SpMV {'NTC'[op]} {'COO' if coordinates else 'CSR'} {base}"
            compare(f"{case} {np.dtype(index)}", back(place, y), one * dense @ x + two * y)
    right, out = drawn(7, 3, dtype=dtype), drawn(5, 3, dtype=dtype)
    for order in (1, 2):
        descriptors, places = [], []
        for m in (right, out):
            made, place = ctypes.c_void_p(), on_device(m if order == 1 else m.T)
            ld = long(m.shape[0] if order == 1 else m.shape[1])
            shape = map(long, m.shape)
            library.cusparseCreateDnMat(ctypes.byref(made), *shape, ld, place, code, order)
            descriptors.append(made)
            places.append(place)
        words = host(one), sparse(matrix, code), descriptors[0], host(two), descriptors[1]
        assert library.cusparseSpMM(handle, 0, 0, *words, code, 0, None) == 0
        found = back(places[1], out) if order == 1 else back(places[1], out.T).T
        compare(f"{letter}SpMM order {order}", found, one * matrix @ right + two * out)

a = sparse(np.eye(4, dtype=np.float32), 0)
too_short, _ = vector(np.zeros(2, np.float32), 0)
(dx, _), one = vector(np.zeros(4, np.float32), 0), host(np.float32(1))
index = on_device(np.arange(1, 5, dtype=np.int32))
rows, values = on_device(np.arange(5, dtype=np.int32)), on_device(np.ones(4, np.float32))
outside = ctypes.c_void_p()
words = long(4), long(4), long(4), rows, index, values, 2, 2, 0, 0
library.cusparseCreateCsr(ctypes.byref(outside), *words)
statuses = [
    library.cusparseSpMV(P(), 0, one, a, dx, one, dx, 0, 0, None),
    library.cusparseSpMV(handle, 7, one, a, dx, one, dx, 0, 0, None),
    library.cusparseSpMV(handle, 0, one, a, too_short, one, dx, 0, 0, None),
    library.cusparseSpMV(handle, 0, one, outside, dx, one, dx, 0, 0, None),
]
finish(statuses=statuses)
