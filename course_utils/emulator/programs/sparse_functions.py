"""cuSPARSE's products of a sparse matrix with a vector or a matrix."""

from __future__ import annotations

import numpy as np

from .blas_functions import READS, WRITES, flipped, operations
from .cuda_errors import CudaStatus
from .host_mistakes import HostMistake
from .library_operands import LibraryCall, LibraryOperand, NotThere, WrongArgument
from .refusals import Refused

CSR = 1
INDICES = {2: 10, 3: 24}  # cusparseIndexType_t -> cudaDataType


def product(call: LibraryCall) -> None:
    """C = alpha op(A) op(B) + beta C, with a sparse A in the formats CSR and COO. Raises
    WrongArgument for shapes that do not match, and for indices outside them."""
    op_a, op_b = operations(call, 2)
    alpha, beta = call.scalar(), call.scalar()
    form, rows, columns, count, row_kind, column_kind, base, kind = call.take(8)
    row_index, column_index, values = call.take(3)
    down = _index(call, row_index, row_kind, rows + 1 if form == CSR else count) - base
    across = _index(call, column_index, column_kind, count) - base
    if form == CSR:
        lengths = np.diff(down)
        if down[0] != 0 or down[-1] != count or (lengths < 0).any():
            raise _outside(call, "has row offsets that don't rise from 0 to its number of values")
        down = np.repeat(np.arange(rows), lengths)
    _check(call, "row", down, rows)
    _check(call, "column", across, columns)
    elements = call.vector(values, kind, count, 1, READS).values
    if op_a:
        down, across, rows, columns = across, down, columns, rows
        elements = elements.conj() if op_a == 2 else elements
    right = flipped(_dense(call, READS).values, op_b)
    target = _dense(call, WRITES)
    shapes = (right.shape[0], *target.view.shape)
    if shapes != (columns, rows, right.shape[1]):
        raise WrongArgument(
            f"{call.name} multiplies a matrix of {rows} × {columns} and one of {right.shape[0]} × "
            f"{right.shape[1]} into {target.view.shape[0]} × {target.view.shape[1]} elements."
        )
    made = np.zeros(target.view.shape, np.result_type(elements, right))
    np.add.at(made, down, elements[:, None] * right[across])
    made = made.dtype.type(alpha) * made
    target.store(made + made.dtype.type(beta) * target.values if beta else made)


def _index(call: LibraryCall, address: int, kind: int, count: int) -> np.ndarray:
    if kind not in INDICES:
        raise NotThere(f"{call.name} is called with indices of the cusparseIndexType_t {kind}")
    found: np.ndarray = call.vector(address, INDICES[kind], count, 1, READS).values.astype(np.int64)
    return found


def _dense(call: LibraryCall, what: str) -> LibraryOperand:
    address, kind, rows, columns, ld, by_rows = call.take(6)
    return call.array(address, kind, (rows, columns), (ld, 1) if by_rows else (1, ld), what)


def _check(call: LibraryCall, name: str, index: np.ndarray, size: int) -> None:
    wrong = index[(index < 0) | (index >= size)]
    if len(wrong):
        raise _outside(call, f"has an element in {name} {wrong[0]:,}, and {size:,} {name}s")


def _outside(call: LibraryCall, text: str) -> Refused:
    return Refused(
        CudaStatus.cudaErrorIllegalAddress,
        HostMistake.OUTSIDE_ALLOCATION,
        f"{call.name} is called with a sparse matrix that {text}.",
    )
