"""cuBLAS's functions of vectors and matrices. The order of sums is NumPy's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .library_operands import COMPUTED, LibraryCall, WrongArgument

READS, WRITES = "reads", "writes"
LEFT, UPPER, UNIT = 0, 1, 1  # cublasSideMode_t, cublasFillMode_t, cublasDiagType_t


def flipped(values: np.ndarray, operation: int) -> np.ndarray:
    """A matrix after its cublasOperation_t: as it is, transposed, or conjugated as well."""
    if operation == 0:
        return values
    return values.T if operation == 1 else values.conj().T


def operations(call: LibraryCall, count: int) -> list[int]:
    """The next words, which are operations. Raises WrongArgument for another value."""
    found = call.take(count)
    if not all(0 <= operation <= 2 for operation in found):
        raise WrongArgument(f"{call.name} is called with an operation that isn't N, T or C.")
    return found


def _shape(operation: int, rows: int, columns: int) -> tuple[int, int]:
    return (rows, columns) if operation == 0 else (columns, rows)


def _times(scalar: complex, values: np.ndarray) -> np.ndarray:
    """A product in the type of the values."""
    return values.dtype.type(scalar) * values


# --- vectors ---


def axpy(call: LibraryCall) -> None:
    """y += alpha x."""
    alpha = call.scalar()
    (count,) = call.sizes(1)
    x, y = call.next_vector(count, READS), call.next_vector(count, WRITES)
    y.store(y.values + _times(alpha, x.values))


def scal(call: LibraryCall) -> None:
    """x *= alpha."""
    alpha = call.scalar()
    (count,) = call.sizes(1)
    x = call.next_vector(count, WRITES)
    x.store(_times(alpha, x.values))


def copy(call: LibraryCall) -> None:
    """y = x."""
    (count,) = call.sizes(1)
    x, y = call.next_vector(count, READS), call.next_vector(count, WRITES)
    y.store(x.values)


def swap(call: LibraryCall) -> None:
    """x, y = y, x."""
    (count,) = call.sizes(1)
    x, y = call.next_vector(count, WRITES), call.next_vector(count, WRITES)
    before = x.values
    x.store(y.values)
    y.store(before)


def rot(call: LibraryCall) -> None:
    """x, y = c x + s y, c y - s x."""
    c, s = call.scalar(), call.scalar()
    (count,) = call.sizes(1)
    x, y = call.next_vector(count, WRITES), call.next_vector(count, WRITES)
    first, second = x.values, y.values
    x.store(_times(c, first) + _times(s, second))
    y.store(_times(c, second) - _times(s, first))


def dot(call: LibraryCall) -> None:
    """The sum of x y, with x conjugated if it is asked for."""
    result, kind, conjugate, count = call.take(4)
    count = max(count, 0)
    x, y = call.next_vector(count, READS).values, call.next_vector(count, READS).values
    call.result(result, kind, (x.conj() if conjugate else x) @ y)


def nrm2(call: LibraryCall) -> None:
    """The square root of the sum of squares."""
    result, kind, count = call.take(3)
    x = call.next_vector(max(count, 0), READS).values
    wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    call.result(result, kind, np.linalg.norm(wide))


def asum(call: LibraryCall) -> None:
    """The sum of absolute values. Of a complex number: of both its parts."""
    result, kind, count = call.take(3)
    x = call.next_vector(max(count, 0), READS).values
    call.result(result, kind, np.sum(_sizes_of(x)))


def _sizes_of(x: np.ndarray) -> np.ndarray:
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def _extreme(find: Callable[[np.ndarray], np.intp]) -> Callable[[LibraryCall], None]:
    def extreme(call: LibraryCall) -> None:
        result, kind, count = call.take(3)
        x = call.next_vector(max(count, 0), READS).values
        call.result(result, kind, int(find(_sizes_of(x))) + 1 if len(x) else 0)

    return extreme


# --- matrices ---


def gemv(call: LibraryCall) -> None:
    """y = alpha op(A) x + beta y."""
    (operation,) = operations(call, 1)
    m, n = call.sizes(2)
    (kind,) = call.take(1)
    alpha, beta = call.scalar(), call.scalar()
    a, ld, x, step_x, y, step_y = call.take(6)
    rows, columns = _shape(operation, m, n)
    matrix = call.matrix("A", a, kind, (m, n), ld, READS)
    source = call.vector(x, kind, columns, step_x, READS)
    target = call.vector(y, kind, rows, step_y, WRITES)
    made = _times(alpha, flipped(matrix.values, operation) @ source.values)
    target.store(made + _times(beta, target.values) if beta else made)


def ger(call: LibraryCall) -> None:
    """A += alpha x y^T, with y conjugated if it is asked for."""
    m, n = call.sizes(2)
    conjugate, kind = call.take(2)
    alpha = call.scalar()
    x, step_x, y, step_y, a, ld = call.take(6)
    matrix = call.matrix("A", a, kind, (m, n), ld, WRITES)
    column = call.vector(x, kind, m, step_x, READS).values
    row = call.vector(y, kind, n, step_y, READS).values
    matrix.store(matrix.values + _times(alpha, np.outer(column, row.conj() if conjugate else row)))


def gemm(call: LibraryCall) -> None:
    """C = alpha op(A) op(B) + beta C, of one matrix or of a batch. The scalars have the type that
    is computed in."""
    op_a, op_b = operations(call, 2)
    m, n, k = call.sizes(3)
    alpha, beta = call.scalar(), call.scalar()
    operands = [call.take(4) for _ in "ABC"]  # address, type, leading dimension, stride
    (count,) = call.sizes(1)
    (pointers,) = call.take(1)
    shapes = _shape(op_a, m, k), _shape(op_b, k, n), (m, n)
    places = [
        call.addresses(address, count)
        if pointers
        else [address + at * stride * call.bytes_of(kind) for at in range(count)]
        for address, kind, _, stride in operands
    ]
    for at in range(count):
        a, b, c = (
            call.matrix(name, place[at], kind, shape, ld, WRITES if name == "C" else READS)
            for name, place, (_, kind, ld, _), shape in zip(
                "ABC", places, operands, shapes, strict=True
            )
        )
        wide = np.result_type(a.values, b.values)
        made = flipped(a.values, op_a).astype(wide) @ flipped(b.values, op_b).astype(wide)
        made = _times(alpha, made)
        c.store(made + _times(beta, c.values.astype(made.dtype)) if beta else made)


def geam(call: LibraryCall) -> None:
    """C = alpha op(A) + beta op(B)."""
    op_a, op_b = operations(call, 2)
    m, n = call.sizes(2)
    (kind,) = call.take(1)
    alpha, beta = call.scalar(), call.scalar()
    a, ld_a, b, ld_b, c, ld_c = call.take(6)
    made = np.zeros((m, n), COMPUTED[kind])
    for name, scalar, op, place, ld in (("A", alpha, op_a, a, ld_a), ("B", beta, op_b, b, ld_b)):
        if scalar:  # with 0 the matrix isn't read
            part = call.matrix(name, place, kind, _shape(op, m, n), ld, READS)
            made = made + _times(scalar, flipped(part.values, op))
    call.matrix("C", c, kind, (m, n), ld_c, WRITES).store(made)


def dgmm(call: LibraryCall) -> None:
    """C = diag(x) A on the left, or A diag(x)."""
    (side,) = call.take(1)
    m, n = call.sizes(2)
    kind, a, ld_a, x, step, c, ld_c = call.take(7)
    matrix = call.matrix("A", a, kind, (m, n), ld_a, READS).values
    diagonal = call.vector(x, kind, m if side == LEFT else n, step, READS).values
    made = diagonal[:, None] * matrix if side == LEFT else matrix * diagonal
    call.matrix("C", c, kind, (m, n), ld_c, WRITES).store(made)


def trsm(call: LibraryCall) -> None:
    """Solve op(A) X = alpha B on the left, or X op(A) = alpha B, for a triangle A. X replaces B."""
    side, upper = call.take(2)
    (operation,) = operations(call, 1)
    (unit,) = call.take(1)
    m, n = call.sizes(2)
    (kind,) = call.take(1)
    alpha = call.scalar()
    a, ld_a, b, ld_b = call.take(4)
    size = m if side == LEFT else n
    used = np.tri(size, dtype=bool)
    used = (used.T if upper == UPPER else used) & ~(np.eye(size, dtype=bool) & (unit == UNIT))
    triangle = np.where(used, call.matrix("A", a, kind, (size, size), ld_a, READS).read(used), 0)
    if unit == UNIT:
        np.fill_diagonal(triangle, 1)
    triangle = flipped(triangle, operation)
    target = call.matrix("B", b, kind, (m, n), ld_b, WRITES)
    right = _times(alpha, target.values)
    if side == LEFT:
        target.store(_substituted(triangle, right))
    else:
        target.store(_substituted(triangle.T, right.T).T)


def _substituted(triangle: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution of a triangle: from its first row on, or from its last."""
    found = right.copy()
    lower = not np.triu(triangle, 1).any()
    rows = range(len(triangle))
    for row in rows if lower else reversed(rows):
        with np.errstate(divide="ignore", invalid="ignore"):
            known = slice(0, row) if lower else slice(row + 1, None)
            found[row] = (right[row] - triangle[row, known] @ found[known]) / triangle[row, row]
    return found


def getrf(call: LibraryCall) -> None:
    """P A = L U of a batch, in place. Without pivots rows aren't exchanged. ``info`` is the number
    of the first pivot that is 0."""
    (size,) = call.sizes(1)
    kind, table, ld, pivots, infos = call.take(5)
    (count,) = call.sizes(1)
    for at, place in enumerate(call.addresses(table, count)):
        target = call.matrix("A", place, kind, (size, size), ld, WRITES)
        matrix, order, info = _factored(target.values, bool(pivots))
        target.store(matrix)
        if pivots:
            call.vector(pivots + 4 * size * at, 10, size, 1, WRITES).store(order)
        call.vector(infos + 4 * at, 10, 1, 1, WRITES).store(np.asarray([info]))


def _factored(matrix: np.ndarray, pivoting: bool) -> tuple[np.ndarray, np.ndarray, int]:
    order, info = np.arange(1, len(matrix) + 1), 0
    for k in range(len(matrix)):
        if pivoting:
            found = k + int(np.argmax(_sizes_of(matrix[k:, k])))
            order[k] = found + 1
            matrix[[k, found]] = matrix[[found, k]]
        if matrix[k, k] == 0:
            info = info or k + 1
            continue
        matrix[k + 1 :, k] /= matrix[k, k]
        matrix[k + 1 :, k + 1 :] -= np.outer(matrix[k + 1 :, k], matrix[k, k + 1 :])
    return matrix, order, info


FUNCTIONS: dict[str, Callable[[LibraryCall], None]] = {
    function.__name__: function
    for function in (axpy, scal, copy, swap, rot, dot, nrm2, asum)
    + (gemv, ger, gemm, geam, dgmm, trsm, getrf)
}
FUNCTIONS |= {"amax": _extreme(np.argmax), "amin": _extreme(np.argmin)}
