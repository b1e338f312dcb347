"""The exercises of "cuBLAS"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.errors import LessonError
from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Means,
    Promises,
    PythonExercise,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.promises import Given, Values

FOLDER = "05_cuda_libraries/exercises"

# --- A status, and which argument it is about ---

ARGUMENTS = ("transa", "transb", "m", "n", "k", "alpha", "A", "lda", "B", "ldb", "beta", "C", "ldc")


def complaint(
    transa: int, transb: int, m: int, n: int, k: int, lda: int, ldb: int, ldc: int
) -> int:
    """The place, from 1 on, of the first argument of BLAS's list that cannot be."""
    of_a, of_b = ((m, k), (k, n))
    if transa:
        of_a = of_a[::-1]
    if transb:
        of_b = of_b[::-1]
    limits = {"m": 0, "n": 0, "k": 0, "lda": max(1, of_a[0]), "ldb": max(1, of_b[0])}
    limits["ldc"] = max(1, m)
    values = {"m": m, "n": n, "k": k, "lda": lda, "ldb": ldb, "ldc": ldc}
    wrong = {name for name, least in limits.items() if values[name] < least}
    wrong |= {name for name, op in (("transa", transa), ("transb", transb)) if not 0 <= op <= 2}
    return min((ARGUMENTS.index(name) + 1 for name in wrong), default=0)


def any_call(rng: np.random.Generator) -> tuple[int, ...]:
    """A call with leading dimensions about as large as they must be, and now and then a mistake."""
    transa, transb = (
        int(x) for x in rng.choice((0, 1, 2, 0, 1, 3, -1), 2, p=[0.18] * 5 + [0.05] * 2)
    )
    m, n, k = (int(x) for x in rng.integers(0, 12, 3))
    if rng.random() < 0.2:
        m, n, k = (int(x) - 2 for x in (m, n, k))
    near = (m if transa == 0 else k), (k if transb == 0 else n), m
    lda, ldb, ldc = (max(1, x) + int(rng.choice((0, 0, 0, 1, 5, -1))) for x in near)
    return transa, transb, m, n, k, lda, ldb, ldc


WHICH_ARGUMENT = PythonExercise(
    id="05.which_argument",
    title="which of thirteen?",
    task="""
Write what the library did there: find the place of the first wrong argument in BLAS's list, for
`cublasSgemm` without its handle. A leading dimension is at least the number of rows that are
stored, and at least 1; m, n and k may be 0.
""",
    source=f"{FOLDER}/which_argument.py",
    function="which_argument",
    cases=(
        (0, 0, 3, 4, 5, 3, 5, 3),
        (0, 0, 3, 4, 5, 2, 5, 3),
        (1, 0, 3, 4, 5, 3, 5, 3),
        (0, 1, 3, 4, 5, 3, 3, 3),
        (2, 2, 3, 4, 5, 5, 4, 3),
        (0, 0, 3, 4, 5, 3, 5, 2),
        (2, 0, 3, 4, 5, 4, 5, 3),
        (0, 2, 3, 4, 5, 3, 3, 3),
        (0, 3, -1, 4, 5, 3, 5, 3),
        (0, 0, 3, -1, 5, 3, 5, 3),
        (0, 0, 3, 4, -5, 3, 5, 3),
        (0, 0, 0, 0, 0, 1, 1, 1),
        (0, 0, 0, 4, 5, 0, 5, 1),
        (-1, 3, 3, 4, 5, 3, 5, 3),
        (0, 0, 3, 4, 0, 3, 0, 3),
        (0, 0, 0, 4, 5, 1, 5, 0),
        (0, 0, 70_001, 70_002, 70_003, 70_001, 70_003, 70_001),
    ),
    reference=complaint,
    promises=Cases(any_call),
    means="Any way to the right place is a good one.",
    hints=(
        "How many rows has A as it is stored? That is m, or k where it is transposed.",
        "`lda < max(1, rows of A)` is wrong, and so on for ldb and ldc; C is never transposed.",
        "Ask in the order of the list and return the first: a dictionary from place to condition "
        "keeps the order in which it is written.",
    ),
    explanation="""
Three rules: ops are 0, 1 or 2, sizes are not negative, a column has room for its rows. What is
easily got wrong: the leading dimension is that of the matrix *as stored*, whatever `op` makes of
it.
""",
    mutants=(
        mutant("rows after op", kinds.WRONG, ("m if transa == 0 else k", "m")),
        mutant("rows of B after op", kinds.WRONG, ("k if transb == 0 else n", "k")),
        mutant(
            "no conjugates",
            kinds.WRONG,
            ("1: transa not in (0, 1, 2)", "1: transa not in (0, 1)"),
        ),
        mutant("2 is no transpose", kinds.WRONG, ("m if transa == 0", "m if transa != 1")),
        mutant("empty is wrong", kinds.WRONG, ("5: k < 0", "5: k <= 0")),
        mutant("ld of 0", kinds.WRONG, ("lda < max(1, rows_of_a)", "lda < rows_of_a")),
        mutant("ldc of 0", kinds.WRONG, ("ldc < max(1, m)", "ldc < m")),
        mutant("16 bits", kinds.WRONG, ("3: m < 0", "3: not 0 <= m < 1 << 16")),
        mutant("ldc of columns", kinds.WRONG, ("ldc < max(1, m)", "ldc < max(1, n)")),
        mutant("ldc forgotten", kinds.WRONG, ("        13: ldc < max(1, m),\n", "")),
        mutant("places from 0", kinds.WRONG, ("(place for", "(place - 1 for")),
        mutant(
            "the last one",
            kinds.WRONG,
            ("in wrong.items() if", "in reversed(wrong.items()) if"),
        ),
        mutant("b before a", kinds.WRONG, ("8: lda <", "80: lda <")),
    ),
)

# --- Rows for a library of columns ---


def by_columns(memory: np.ndarray, start: int, rows: int, columns: int, ld: int) -> np.ndarray:
    """A view of ``memory``, whose elements (i, j) lie at start + i + j ld."""
    if ld < max(1, rows):
        raise LessonError(f"a leading dimension of {ld} for a matrix stored with {rows} rows.")
    if rows and columns and start + rows - 1 + (columns - 1) * ld >= len(memory):
        raise LessonError(
            f"{rows} x {columns} with leading dimension {ld} is past the array's end."
        )
    step = memory.itemsize
    return np.lib.stride_tricks.as_strided(memory[start:], (rows, columns), (step, ld * step))


def of_op(memory: np.ndarray, start: int, op: int, rows: int, columns: int, ld: int) -> np.ndarray:
    """op(X), rows x columns, of an X in ``memory``."""
    if op not in (0, 1):
        raise LessonError(f"an op of {op!r}: 0 or 1 are the ways there are.")
    stored = (columns, rows) if op else (rows, columns)
    found = by_columns(memory, start, *stored, ld)
    return found.T if op else found


def whole_numbers(values: Any, count: int, names: tuple[str, str]) -> list:
    """``values`` as a list, where each is a whole number or, for the operands, a name."""
    if not isinstance(values, (tuple, list)) or len(values) != count:
        raise LessonError(f"the library wants a tuple of {count} arguments, got {values!r}.")
    for value in values:
        if value not in names and (isinstance(value, str) or int(value) != value):
            raise LessonError(f"{value!r} is neither a whole number nor one of {names}.")
    return [value if value in names else int(value) for value in values]


def stored(rng: np.random.Generator, rows: int, pitch: int) -> np.ndarray:
    """Memory of a matrix of ``rows`` rows, ``pitch`` apart, with small whole numbers."""
    return rng.integers(-4, 5, rows * pitch).astype(float)


Problem = tuple[int, int, int, int, int, int, int, int]


def operands(problem: Problem) -> dict[str, np.ndarray]:
    """The memory of A, B and C, the same for a problem each time."""
    M, N, K, ta, tb, pa, pb, pc = problem
    rng = np.random.default_rng(problem)
    return {
        "A": stored(rng, K if ta else M, pa),
        "B": stored(rng, N if tb else K, pb),
        "C": stored(rng, M, pc),
    }


def by_the_library(function: Callable, *problem: int) -> np.ndarray:
    """What a strict library of columns leaves in C when it gets the answer's arguments."""
    memory = operands(problem)  # type: ignore[arg-type]
    ta, tb, m, n, k, first, lda, second, ldb, ldc = whole_numbers(
        function(*problem), 10, ("A", "B")
    )
    left = of_op(memory[first], 0, ta, m, k, lda)
    right = of_op(memory[second], 0, tb, k, n, ldb)
    by_columns(memory["C"], 0, m, n, ldc)[...] = left @ right
    return memory["C"]


def by_rows(*problem: int) -> np.ndarray:
    """The same with matrices of NumPy."""
    M, N, K, ta, tb, pa, pb, pc = problem
    memory = operands(problem)  # type: ignore[arg-type]
    A, B = memory["A"].reshape(-1, pa), memory["B"].reshape(-1, pb)
    A = A[:, : M if ta else K]
    B = B[:, : K if tb else N]
    C = memory["C"].reshape(M, pc)
    C[:, :N] = (A.T if ta else A) @ (B.T if tb else B)
    return memory["C"]


def any_problem(rng: np.random.Generator) -> Problem:
    """Extents from 1 on, with rows that have gaps after them or none."""
    M, N, K = (int(x) for x in rng.choice((1, 2, 3, 5, 8), 3))
    ta, tb = (int(x) for x in rng.integers(0, 2, 2))
    gaps = rng.choice((0, 0, 1, 3), 3)
    columns = (M if ta else K), (K if tb else N), N
    pitches = (int(c + gap) for c, gap in zip(columns, gaps, strict=True))
    return M, N, K, ta, tb, *pitches  # type: ignore[return-value]


ROW_MAJOR_GEMM = PythonExercise(
    id="05.row_major_gemm",
    title="rows for a library of columns",
    task="""
Your matrices are NumPy's, stored by rows; the library thinks in columns. Write the function that
says what to call it with, for C = op(A) op(B): any sizes, either matrix transposed or not, and rows
that may have gaps between them, `pitch` elements from one to the next. Nothing is copied. The
checker hands your arguments to a strict library that raises an error where one of them cannot be.
""",
    source=f"{FOLDER}/row_major_gemm.py",
    function="row_major_gemm",
    cases=(
        (2, 3, 4, 0, 0, 4, 3, 3),
        (2, 3, 4, 1, 0, 2, 3, 3),
        (2, 3, 4, 0, 1, 4, 4, 3),
        (2, 3, 4, 1, 1, 2, 4, 3),
        (3, 2, 5, 0, 0, 7, 4, 6),
        (1, 8, 5, 1, 0, 3, 9, 8),
        (8, 1, 5, 0, 1, 5, 8, 4),
        (5, 5, 5, 1, 0, 5, 5, 5),
    ),
    call=by_the_library,
    reference=by_rows,
    exact=True,
    promises=Cases(any_problem),
    means="Whatever makes the library compute C is right.",
    hints=(
        "What lies in memory as our C (M x N, by rows) is for the library Cᵀ (N x M, by columns).",
        "Cᵀ = op(B)ᵀ op(A)ᵀ. So B comes first, and m is N.",
        "The library sees Bᵀ where we have B. For op(B)ᵀ it has to transpose exactly where we do. "
        "The leading dimensions are the pitches.",
    ),
    explanation="""
Nobody transposes anything: the same bytes, read by columns, are the transposes already. A and B
change places with all that belongs to them, M and N change places, and the ops stay with their
matrices. Whoever remembers "swap A and B, swap m and n" is never lost.
""",
    mutants=(
        mutant(
            "ops stay in place",
            kinds.EXCEPTION,
            ("return transpose_b, transpose_a", "return transpose_a, transpose_b"),
        ),
        mutant(
            "ops turned over",
            kinds.EXCEPTION,
            ("return transpose_b, transpose_a", "return 1 - transpose_b, 1 - transpose_a"),
        ),
        mutant("m and n stay", kinds.EXCEPTION, ("N, M, K", "M, N, K")),
        mutant(
            "A first", kinds.EXCEPTION, ('"B", pitch_b, "A", pitch_a', '"A", pitch_a, "B", pitch_b')
        ),
        mutant("no gaps in C", kinds.WRONG, ("pitch_a, pitch_c", "pitch_a, N")),
        mutant("no gaps in A", kinds.WRONG, ('"A", pitch_a', '"A", M if transpose_a else K')),
        mutant("no gaps in B", kinds.WRONG, ('"B", pitch_b', '"B", K if transpose_b else N')),
        mutant("ld is the rows", kinds.EXCEPTION, ("pitch_a, pitch_c", "pitch_a, M")),
        mutant("B twice", kinds.EXCEPTION, ('"A", pitch_a', '"B", pitch_b')),
    ),
)

# --- A triangle ---


def for_syrk(rng: np.random.Generator, size: tuple[int, int, int, int, int]) -> dict:
    """A by columns with ``pad`` elements after each column, and a C that holds numbers."""
    n, k, trans, pad, beta = size
    rows, columns = (k, n) if trans else (n, k)
    lda, ldc = max(1, rows) + pad, n + pad
    return {
        "trans": np.int32(trans),
        "n": np.int32(n),
        "k": np.int32(k),
        "alpha": np.float32(rng.uniform(0.5, 2)),
        "A": floats(rng, (columns, lda)),
        "lda": np.int32(lda),
        "beta": np.float32(beta),
        "C": floats(rng, (n, ldc)),
        "ldc": np.int32(ldc),
    }


def syrk(given: Given) -> dict:
    """The lower triangle anew, the rest as it was."""
    n, k = int(given["n"]), int(given["k"])
    A = given["A"].astype(np.float64).T  # its columns are the rows in memory
    A = A[:k, :n].T if given["trans"] else A[:n, :k]
    C = given["C"].astype(np.float64).copy()
    lower = np.triu(np.ones((n, n), bool))  # in memory a column is a row
    before = np.where(lower, C[:, :n], 0) if given["beta"] else 0
    value = float(given["alpha"]) * (A @ A.T) + float(given["beta"]) * before
    C[:, :n][lower] = value[lower]
    return {"C": C}


def strange_triangle(value: float, beta: float) -> Callable[[Given, np.random.Generator], dict]:
    """The lower triangle of C holds what nobody may read where beta is 0, and nobody hide else."""

    def change(given: Given, rng: np.random.Generator) -> dict:
        C, n = given["C"].copy(), int(given["n"])
        C[:, :n][np.triu(np.ones((n, n), bool)) & (rng.random((n, n)) < 0.3)] = value
        return {"C": C, "beta": beta}

    return change


def faint_beta(given: Given, rng: np.random.Generator) -> dict:
    """A beta that is small and not 0, and a lower triangle that is large."""
    C, n = given["C"].copy(), int(given["n"])
    C[:, :n][np.triu(np.ones((n, n), bool))] *= np.float32(1e9)
    return {"C": C, "beta": 1e-7}


SYRK_SIZE, SYRK_ANEW = (48, 16, 0, 0, 2), (48, 16, 0, 0, 0)

SYRK_LOWER = Exercise(
    id="05.syrk_lower",
    title="half a product",
    task="""
A Aᵀ is symmetric, so BLAS has `syrk`, which computes one triangle of it and leaves the other alone.
Write it for the lower triangle, with the conventions of this notebook: columns, leading dimensions
that may be larger than the rows, `trans`, alpha, and a beta that, where it is 0, means that C is
not read. k may be 0: C is multiplied by beta then. The upper triangle of C, and what lies between
its columns, keep what they hold.
""",
    source=f"{FOLDER}/syrk_lower.cu",
    kernel="syrk_lower",
    inputs=for_syrk,
    reference=syrk,
    launch=lambda size: Launch((-(-size[0] // 32), -(-size[0] // 8)), (32, 8)),
    small=(
        (5, 3, 0, 2, 3),
        (4, 7, 1, 1, 2),
        (33, 5, 1, 0, 0),
        (6, 0, 0, 1, 3),
        (7, 0, 1, 0, 1),
        (1, 1, 1, 1, 1),
    ),
    full=(2048, 512, 0, 0, 2),
    reduction=lambda size: max(1, size[1]),
    promises=Promises(
        sizes=promises.shapes(
            n=(1, 2, 7, 31, 33, 65),
            k=(0, 1, 5, 33, 70),
            trans=(0, 1),
            pad=(0, 1, 6),
            beta=(0, 1, 2, 3),
        ).with_longest(n=181, k=301),
        values=(
            promises.data("A", promises.NEGATIVE, promises.POSITIVE, promises.TIES, promises.SMALL),
            promises.scalars("alpha", 0, 1, -2),
            (
                *promises.scalars("beta", 0.25, -1.5),
                Values("beta = 0, infinities in its triangle", strange_triangle(np.inf, 0)),
                Values("beta = 2, NaN in its triangle", strange_triangle(np.nan, 2)),
                Values("beta = 1e-7, its triangle about 1e9", faint_beta),
            ),
        ),
    ),
    means=(
        Means(
            "FLOPs, over those of a whole square",
            lambda work: work.counts.flops_by_type.get("f32", 0) / (2 * 48 * 48 * 16),
            at_most=0.7,
            advice="The elements above the diagonal are nobody's: return before their sum.",
            size=SYRK_SIZE,
        ),
        Means(
            "bytes stored, over those of the triangle",
            lambda work: work.counts.global_store_bytes / (4 * 48 * 49 / 2),
            at_most=1.0,
            advice="One store for each element of the triangle, and none elsewhere.",
            size=SYRK_SIZE,
        ),
        means.reads("C", 0, 0, advice="With beta 0, C is not read.", size=SYRK_ANEW),
        means.reads(
            "C",
            0,
            1.5 * 4 * 48 * 49 / 2,
            advice="Of C, the triangle alone is read.",
            size=SYRK_SIZE,
        ),
    ),
    hints=(
        "Row i, column j: the lower triangle is where `i >= j`. Return for all others.",
        "op(A) at (i, p) is `A[i + p * lda]`, or `A[p + i * lda]` where trans is 1; of op(A)ᵀ you "
        "need element (p, j), which is op(A) at (j, p).",
        "C at (i, j) is `C[i + j * ldc]`. With beta 0 it takes a branch, since 0 · NaN is NaN.",
    ),
    explanation="""
Half of the work of a product, and a result that can be relied on to be symmetric. BLAS is full of
such letters: `uplo` says which triangle (`trmm`, `trsm`, `syrk`), `side` from which side a triangle
is multiplied, `diag` whether its diagonal is ones. All of them say which elements are touched, and
what is not named is not touched.
""",
    mutants=(
        mutant("the upper triangle", kinds.PARTLY_WRITTEN, ("j > i", "j < i || j >= n")),
        mutant("no diagonal", kinds.PARTLY_WRITTEN, ("j > i", "j >= i")),
        mutant("the whole square", kinds.WRONG, ("i >= n || j > i", "i >= n || j >= n")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("i >= n || j > i", "j > i")),
        mutant("lda is n", kinds.WRONG, ("A[i + (size_t)at * lda]", "A[i + (size_t)at * n]")),
        mutant("ldc is n", kinds.PARTLY_WRITTEN, ("(size_t)j * ldc", "(size_t)j * n")),
        mutant(
            "stored by rows",
            kinds.PARTLY_WRITTEN,
            ("C + i + (size_t)j * ldc", "C + j + (size_t)i * ldc"),
        ),
        mutant(
            "C is always read",
            kinds.MEANS_MISSING,
            ("(beta == 0.0f ? 0.0f : beta * *c)", "beta * *c"),
        ),
        mutant(
            "never transposed",
            kinds.OUT_OF_BOUNDS,
            ("trans ? A[at + (size_t)j * lda] :", "false ? 0.0f :"),
        ),
        mutant(
            "read and thrown away",
            kinds.MEANS_MISSING,
            ("    *c = alpha", "    const float old = *(volatile float*)c;\n    *c = alpha"),
            ("beta * *c)", "beta * old)"),
        ),
        mutant(
            "infinities hidden and not left unread",
            kinds.MEANS_MISSING,
            (
                "*c = alpha * sum + (beta == 0.0f ? 0.0f : beta * *c);",
                "const float old = beta * *c;\n"
                "    *c = alpha * sum + (isfinite(old) ? old : 0.0f);",
            ),
        ),
        mutant(
            "read, and not used",
            kinds.MEANS_MISSING,
            (
                "*c = alpha * sum + (beta == 0.0f ? 0.0f : beta * *c);",
                "const float old = *(volatile float *)c;\n"
                "    *c = alpha * sum + (beta == 0.0f ? 0.0f : beta * old);",
            ),
        ),
        mutant("alpha forgotten", kinds.WRONG, ("alpha * sum", "sum")),
        mutant(
            "zeros for k = 0 and beta = 1",
            kinds.WRONG,
            ("beta == 0.0f ?", "beta == 0.0f || k == 0 && beta == 1.0f ?"),
        ),
        mutant("128 columns", kinds.WRONG, ("at < k", "at < min(k, 128)")),
        mutant(
            "nothing to do for k = 0",
            kinds.PARTLY_WRITTEN,
            ("j > i)", "j > i || k == 0 && beta != 0)"),
        ),
        mutant("beta forgotten", kinds.WRONG, ("beta * *c)", "*c)")),
        mutant("a column of squares", kinds.WRONG, ("left * right", "left * left")),
        mutant(
            "sums for nobody",
            kinds.MEANS_MISSING,
            ("if (i >= n || j > i) return;", "if (i >= n || j >= n) return;"),
            ("    *c = alpha * sum +", "    if (j <= i) *c = alpha * sum +"),
        ),
    ),
)

# --- Heads as a batch ---

Heads = tuple[int, int, int, int, int, bool]


def attention(shape: Heads) -> dict[str, np.ndarray]:
    """Q, K and room for S in memory, the same for a shape each time."""
    queries, keys, heads, d, room, shared = shape
    rng = np.random.default_rng([*shape[:5], int(shared)])
    return {
        "Q": stored(rng, queries, heads * d),
        "K": stored(rng, 1 if shared else heads, room * d),
        "S": stored(rng, heads, queries * room),
    }


def by_strided_batches(function: Callable, *shape: int) -> np.ndarray:
    """What a strict strided library of columns leaves in S."""
    memory = attention(shape)  # type: ignore[arg-type]
    given = whole_numbers(function(*shape), 14, ("Q", "K"))
    ta, tb, m, n, k, first, lda, by_a, second, ldb, by_b, ldc, by_c, count = given
    if count < 0 or count > 1000:
        raise LessonError(f"a count of {count}")
    for z in range(count):
        left = of_op(memory[first], z * by_a, ta, m, k, lda)
        right = of_op(memory[second], z * by_b, tb, k, n, ldb)
        by_columns(memory["S"], z * by_c, m, n, ldc)[...] = left @ right
    return memory["S"]


def scores(*shape: int) -> np.ndarray:
    """The same with NumPy's einsum."""
    queries, keys, heads, d, room, shared = shape
    memory = attention(shape)  # type: ignore[arg-type]
    Q = memory["Q"].reshape(queries, heads, d)
    K = np.broadcast_to(memory["K"].reshape(-1, room, d), (heads, room, d))[:, :keys]
    memory["S"].reshape(heads, queries, room)[:, :, :keys] = np.einsum("qhd,hkd->hqk", Q, K)
    return memory["S"]


def any_heads(rng: np.random.Generator) -> Heads:
    queries, keys, heads, d = (int(x) for x in rng.choice((1, 2, 3, 4, 7), 4))
    room = keys + int(rng.choice((0, 1, 4)))
    return queries, keys, heads, d, room, bool(rng.random() < 0.4)


HEADS_AS_BATCH = PythonExercise(
    id="05.heads_as_batch",
    title="all heads in one call",
    task="""
Attention wants the products Q Kᵀ of all heads, and each tensor lies as suits somebody else: queries
token by token, keys head by head in a cache that is not full, or one set of keys for all heads. One
call of a strided batch does it, with no copy. Write the function that says with which arguments.
The checker hands them to a strict library.
""",
    source=f"{FOLDER}/heads_as_batch.py",
    function="heads_as_batch",
    cases=(
        (2, 3, 2, 4, 5, False),
        (2, 3, 2, 4, 5, True),
        (1, 3, 4, 2, 3, False),
        (5, 1, 3, 2, 6, False),
        (3, 3, 3, 3, 3, False),
        (4, 2, 1, 7, 2, True),
        (7, 5, 3, 2, 6, False),
        (2, 3, 2, 300, 4, False),
    ),
    call=by_strided_batches,
    reference=scores,
    exact=True,
    promises=Cases(any_heads),
    means="Whatever makes the library compute S is right.",
    hints=(
        "One head first: rows of S have `room` numbers, of which `keys` are written. The library "
        "sees Sᵀ, keys x queries, so K comes first.",
        "The library sees a head of K as d x room, by columns, and wants it keys x d: op is 1, lda "
        "is d. It sees Q as d x queries, as it wants it; from token to token it is `heads * d`.",
        "Strides: the next head of Q is d further on, that of K `room * d`, or 0 where all share "
        "one, that of S `queries * room`.",
    ),
    explanation="""
A leading dimension goes from column to column within a matrix, a stride from matrix to matrix, and
they need not be nested: in Q the stride (d) is *smaller* than the leading dimension (heads · d). A
stride of 0 gives all products the same matrix. What one stride cannot say is that every four heads
share keys: that takes an array of pointers, or one call a group.
""",
    mutants=(
        mutant(
            "128 numbers a head at most",
            kinds.WRONG,
            ('"Q", heads * d, d', '"Q", heads * d, min(d, 128)'),
        ),
        mutant("Q first", kinds.EXCEPTION, ("*of_k, *of_q", "*of_q, *of_k")),
        mutant("K not transposed", kinds.WRONG, ("return 1, 0", "return 0, 0")),
        mutant(
            "queries and keys swapped", kinds.EXCEPTION, ("keys, queries, d", "queries, keys, d")
        ),
        mutant("room for keys", kinds.EXCEPTION, ("1, 0, keys,", "1, 0, room + 1,")),
        mutant(
            "heads of Q one after the other",
            kinds.WRONG,
            ('"Q", heads * d, d', '"Q", d, queries * d'),
        ),
        mutant("K is never shared", kinds.EXCEPTION, ("0 if shared else room * d", "room * d")),
        mutant("K is always shared", kinds.WRONG, ("0 if shared else room * d", "0")),
        mutant("no room in K", kinds.WRONG, ("else room * d", "else keys * d")),
        mutant(
            "no room in S",
            kinds.WRONG,
            ("*of_q, room, queries * room", "*of_q, keys, queries * keys"),
        ),
        mutant("one head", kinds.WRONG, ("room, heads", "room, 1")),
        mutant("the cache's empty end, too", kinds.WRONG, ("1, 0, keys,", "1, 0, room,")),
    ),
)

# --- Arrays of pointers ---


def routed(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    """Products of any token with any of three to six experts, some of them several times."""
    count, outputs, inputs = size
    experts, tokens = 3 + outputs % 4, max(1, count // 2)
    return {
        "W": floats(rng, (experts, outputs, inputs)),
        "X": floats(rng, (tokens, inputs)),
        "Y": empty((count, outputs)),
        "expert": rng.integers(0, experts, count).astype(np.int32),
        "token": rng.integers(0, tokens, count).astype(np.int32),
        "outputs": np.int32(outputs),
        "inputs": np.int32(inputs),
        "count": np.int32(count),
    }


def of_experts(given: Given) -> dict:
    W, X = given["W"].astype(np.float64), given["X"].astype(np.float64)
    return {"Y": np.einsum("zoi,zi->zo", W[given["expert"]], X[given["token"]])}


def tables_then_products(size: tuple[int, int, int]) -> tuple[Launch, ...]:
    count, outputs, _ = size
    return (
        Launch((-(-count // 64),), (64,), kernel="fill_tables"),
        Launch(
            (-(-outputs // 32), count),
            (32,),
            kernel="follow_tables",
            arguments=("outputs", "inputs"),
        ),
    )


TABLES_SIZE = 67, 5, 4

POINTER_TABLES = Exercise(
    id="05.pointer_tables",
    title="a matrix for each token",
    task="""
In a mixture of experts each token is multiplied by the weights of an expert of its own, which a
small network chose a moment ago, on the device. `cublasSgemmBatched` takes such a batch as arrays
of pointers, and they have to be made where the choice is: on the device. Write the kernel that
fills them. Tokens may occur several times, experts often or never.
""",
    source=f"{FOLDER}/pointer_tables.cu",
    kernel="fill_tables",
    inputs=routed,
    reference=of_experts,
    launch=tables_then_products,
    small=((7, 5, 3), (65, 3, 2), (1, 33, 4), (1030, 2, 131), (5, 16_411, 1), (1, 1, 1)),
    full=(4096, 256, 256),
    reduction=lambda size: size[2],
    promises=Promises(
        sizes=promises.shapes(
            count=(1, 2, 63, 64, 65, 129), outputs=(1, 2, 5, 33), inputs=(1, 3, 16)
        ).with_longest(count=4096, outputs=16_411),
        values=(
            promises.data("W", promises.NEGATIVE, promises.TIES),
            (
                Values(
                    "the last expert for all",
                    lambda given, rng: {"expert": given["expert"] * 0 + len(given["W"]) - 1},
                ),
                Values("one token for all", lambda given, rng: {"token": given["token"] * 0}),
                Values("as drawn", lambda given, rng: {}),
            ),
        ),
    ),
    means=(
        Means(
            "bytes that the first kernel stores for each product",
            lambda work: work.launches[0].counts.global_store_bytes / TABLES_SIZE[0],
            at_most=24,
            advice="Three pointers of 8 bytes: the matrices stay where they are.",
            size=TABLES_SIZE,
        ),
        means.work_shared_out(10, size=TABLES_SIZE),
    ),
    hints=(
        "A pointer plus a number is a pointer that many elements further on: `X + 4` is `&X[4]`.",
        "A matrix of W has `outputs * inputs` elements, a row of X `inputs`, one of Y `outputs`.",
        "`W_at[z] = W + (size_t)expert[z] * outputs * inputs;`, where z is below count.",
    ),
    explanation="""
The host never learns who chose what, and need not wait for it. The arrays of pointers lie in the
device's memory: one in the *host's* memory compiles as well, and a kernel cannot follow it. A
strided batch could not do this: the matrices of neighbours are no constant distance apart.
""",
    mutants=(
        mutant(
            "4,000 products at most",
            kinds.NULL_POINTER,
            ("z < count", "z < min(count, 4000)"),
        ),
        mutant(
            "places in 16 bits",
            kinds.WRONG,
            (
                "(size_t)expert[z] * outputs * inputs",
                "(unsigned short)(expert[z] * outputs * inputs)",
            ),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("    if (z < count) {\n", "    {\n")),
        mutant("the last one missed", kinds.NULL_POINTER, ("z < count", "z < count - 1")),
        mutant("matrices in order", kinds.WRONG, ("(size_t)expert[z]", "(size_t)(z % 3)")),
        mutant("never more than four experts", kinds.WRONG, ("expert[z] *", "min(expert[z], 3) *")),
        mutant("tokens in order", kinds.OUT_OF_BOUNDS, ("(size_t)token[z]", "(size_t)z")),
        mutant(
            "a row for a matrix",
            kinds.WRONG,
            ("expert[z] * outputs * inputs", "expert[z] * inputs"),
        ),
        mutant(
            "expert and token swapped",
            kinds.OUT_OF_BOUNDS,
            ("(size_t)token[z]", "(size_t)expert[z]"),
        ),
        mutant(
            "columns for rows",
            kinds.OUT_OF_BOUNDS,
            ("X + (size_t)token[z] * inputs", "X + (size_t)token[z] * outputs"),
        ),
        mutant("results of one row", kinds.DATA_RACE, ("Y + (size_t)z * outputs", "Y")),
        mutant(
            "results by token",
            kinds.DATA_RACE,
            ("Y + (size_t)z * outputs", "Y + (size_t)token[z] * outputs"),
        ),
        mutant(
            "offsets in bytes",
            kinds.OUT_OF_BOUNDS,
            ("(size_t)token[z] * inputs", "(size_t)token[z] * inputs * 4"),
        ),
        mutant(
            "Y in 16 bits",
            kinds.DATA_RACE,
            ("Y + (size_t)z * outputs", "Y + (z * outputs & 65535)"),
        ),
        mutant(
            "2,000 products", kinds.NULL_POINTER, ("if (z < count)", "if (z < min(count, 2000))")
        ),
    ),
)

# --- An epilogue that remembers ---


def to_activate(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, columns = size
    return {
        "x": floats(rng, (rows, columns)),
        "bias": floats(rng, columns),
        "y": empty((rows, columns)),
        "mask": empty((rows, -(-columns // 128) * 4), np.uint32),
        "rows": np.int32(rows),
        "columns": np.int32(columns),
    }


def activated(given: Given) -> dict:
    value = given["x"] + given["bias"]  # in fp32: the sign is that of the rounded sum
    bits = np.zeros((len(value), given["mask"].shape[1] * 32), np.uint8)
    bits[:, : value.shape[1]] = value > 0
    words = np.packbits(bits, axis=1, bitorder="little").view("<u4")
    return {"y": np.where(value > 0, value, 0), "mask": words}


MASK_SIZE = 3, 200

RELU_MASK = Exercise(
    id="05.relu_mask",
    title="a bit for the way back",
    task="""
The gradient of a ReLU needs to know which elements were positive, and one bit each is enough.
`CUBLASLT_EPILOGUE_RELU_AUX_BIAS` stores such a mask beside the product; write the same for a
product that is there: y = relu(x + bias), and the mask, in cuBLASLt's layout. A warp has 32
neighbours of a row, so one word of the mask is the vote of its lanes. Where x + bias is 0
or NaN, the bit is 0, and so is y.
""",
    source=f"{FOLDER}/relu_mask.cu",
    kernel="relu_mask",
    inputs=to_activate,
    reference=activated,
    launch=lambda size: Launch((-(-size[1] // 128), size[0]), (128,)),
    small=((3, 200), (2, 128), (1, 33), (5, 1), (1, 1)),
    full=(8192, 8192),
    promises=Promises(
        sizes=promises.shapes(
            rows=(1, 2, 7, 40), columns=(1, 31, 32, 33, 127, 129, 300)
        ).with_longest(rows=16_411, columns=4099),
        values=(
            promises.data(
                "x",
                promises.NEGATIVE,
                promises.POSITIVE,
                promises.TIES,
                promises.LARGE,
                promises.SOME_INFINITE,
                promises.SOME_NAN,
            ),
            (
                Values("as drawn", lambda given, rng: {}),
                *promises.data("x bias", promises.FAINTEST)[1:],
                Values("x = -bias or just above", lambda given, rng: sums_about_zero(given, rng)),
            ),
        ),
    ),
    means=(
        Means(
            "bytes stored, over those of y and the mask",
            lambda work: work.counts.global_store_bytes / work.result_bytes,
            at_most=1.0,
            advice="One lane of each warp stores the word of all 32.",
            size=MASK_SIZE,
        ),
        means.atomics(
            "global",
            at_most=0,
            advice="The bits of a word come from one warp, whose lanes can vote.",
            size=MASK_SIZE,
        ),
        means.work_shared_out(size=MASK_SIZE),
    ),
    hints=(
        "`__ballot_sync(0xffffffff, condition)` gives every lane a word with a bit from each lane.",
        "All 32 lanes have to take part, those past the last column too: keep the vote outside of "
        "the `if`, and let those lanes vote 0.",
        "Lane 0 stores it: `mask[row * words + column / 32]`.",
    ),
    explanation="""
32 comparisons become one word with one instruction, and the mask has a 32nd of the bytes of y. The
padding to 128 bits makes each row begin at an address that 16-byte loads can take. On a GPU the
notebook compares this mask with cuBLASLt's, bit by bit.
""",
    mutants=(
        mutant(
            "NaN counts as positive",
            kinds.WRONG,
            ("0xffffffff, value > 0.0f", "0xffffffff, !(value <= 0.0f)"),
        ),
        mutant("no padding", kinds.DATA_RACE, ("(columns + 127) / 128 * 4", "(columns + 31) / 32")),
        mutant(
            "zero counts as positive",
            kinds.WRONG,
            ("0xffffffff, value > 0.0f", "0xffffffff, column < columns && value >= 0.0f"),
        ),
        mutant(
            "a threshold", kinds.WRONG, ("0xffffffff, value > 0.0f", "0xffffffff, value > 1e-6f")
        ),
        mutant("the padding votes 1", kinds.EDGES, ("float value = 0.0f;", "float value = 1.0f;")),
        mutant(
            "a vote without the bias",
            kinds.WRONG,
            (
                "0xffffffff, value > 0.0f",
                "0xffffffff, column < columns && x[(size_t)row * columns + column] > 0.0f",
            ),
        ),
        mutant("bits in reverse", kinds.WRONG, ("= bits;", "= __brev(bits);")),
        mutant("no ReLU", kinds.WRONG, ("value > 0.0f ? value : 0.0f", "value")),
        mutant("a bias for each row", kinds.OUT_OF_BOUNDS, ("bias[column]", "bias[row]")),
        mutant(
            "the next word", kinds.OUT_OF_BOUNDS, ("column / 32] = bits", "column / 32 + 1] = bits")
        ),
        mutant(
            "the first warp alone",
            kinds.PARTLY_WRITTEN,
            ("if (threadIdx.x % 32 == 0)", "if (threadIdx.x == 0)"),
        ),
        mutant("every lane stores", kinds.MEANS_MISSING, ("if (threadIdx.x % 32 == 0) ", "")),
        mutant(
            "lanes missing from the vote",
            kinds.EDGES,
            ("const unsigned bits =", "if (column >= columns) return;\n    const unsigned bits ="),
        ),
        mutant("more than hardly 0", kinds.ALL_ZEROS, ("value > 0.0f);", "value > 1e-30f);")),
        mutant("hardly 0 lost", kinds.ALL_ZEROS, ("= value > 0.0f ?", "= value > 1e-30f ?")),
        mutant(
            "words in 16 bits", kinds.DATA_RACE, ("(size_t)row * words", "(row * words & 65535)")
        ),
    ),
)


def sums_about_zero(given: Given, rng: np.random.Generator) -> dict:
    """x is -bias in two columns of three: a sum of 0 in one, the least above 0 in the other."""
    x = given["x"].copy()
    x[:, ::3] = -given["bias"][::3]
    x[:, 1::3] = np.nextafter(-given["bias"][1::3], np.float32(np.inf))
    return {"x": x}


EXERCISES = (
    WHICH_ARGUMENT,
    ROW_MAJOR_GEMM,
    SYRK_LOWER,
    HEADS_AS_BATCH,
    POINTER_TABLES,
    RELU_MASK,
)
