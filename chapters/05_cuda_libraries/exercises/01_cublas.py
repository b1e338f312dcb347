"""The exercises of "cuBLAS"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.reviews import said_of_lines
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

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
    contract=DrawnCases(any_call),
)

# --- Rows for a library of columns ---

OPS = {"N": 0, "T": 1, "n": 0, "t": 1}


def by_columns(
    name: str, memory: np.ndarray, start: int, rows: int, columns: int, ld: int
) -> np.ndarray:
    """A view of ``memory`` with element (i, j) at start + i + j ld, called ``name`` in errors."""
    if ld < max(1, rows):
        raise LessonError(
            f"the leading dimension of {name} is {ld}, and your arguments make it a matrix of "
            f"{rows} stored rows (by columns): it can't be less than {max(1, rows)}."
        )
    if start < 0 or rows and columns and start + rows - 1 + (columns - 1) * ld >= len(memory):
        raise LessonError(
            f"your arguments make {name} {rows} x {columns} with leading dimension {ld} from "
            f"element {start} on: that reaches past its end, since it has {len(memory)} elements."
        )
    step = memory.itemsize
    return np.lib.stride_tricks.as_strided(memory[start:], (rows, columns), (step, ld * step))


def of_op(
    name: str, memory: np.ndarray, start: int, op: int, rows: int, columns: int, ld: int
) -> np.ndarray:
    """op(X), rows x columns, of an X in ``memory``."""
    if op not in (0, 1):
        raise LessonError(f"the op of {name} is {op!r}: it is 0 (as stored) or 1 (transposed).")
    stored = (columns, rows) if op else (rows, columns)
    found = by_columns(name, memory, start, *stored, ld)
    return found.T if op else found


def whole_numbers(values: Any, count: int, names: tuple[str, str]) -> list[Any]:
    """``values`` as a list, where each is a whole number or, for the operands, a name. The first
    two, the ops, may be BLAS's own letters."""
    if not isinstance(values, (tuple, list)) or len(values) != count:
        raise LessonError(f"the library wants a tuple of {count} arguments, got {values!r}.")
    values = [OPS.get(value, value) if k < 2 else value for k, value in enumerate(values)]
    for k, value in enumerate(values, 1):
        if value in names:
            continue
        if not isinstance(value, (int, float, np.number)) or int(value) != value:
            wanted = f"an integer, or {names[0]!r} or {names[1]!r} for an operand"
            raise LessonError(f"argument {k} is {value!r}, and the library takes {wanted}.")
    return [value if value in names else int(value) for value in values]


def operand(place: str, name: Any, memory: dict[str, np.ndarray]) -> tuple[str, np.ndarray]:
    """An operand's name for errors, and its memory."""
    if name not in memory:
        raise LessonError(f"the {place} operand is {name!r}: there is no such matrix.")
    return f"{name}, the {place} operand,", memory[name]


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


def by_the_library(function: Callable[..., Any], *problem: int) -> np.ndarray:
    """What a strict library of columns leaves in C when it gets the answer's arguments."""
    memory = operands(problem)  # type: ignore[arg-type]
    ta, tb, m, n, k, first, lda, second, ldb, ldc = whole_numbers(
        function(*problem), 10, ("A", "B")
    )
    left = of_op(*operand("first", first, memory), 0, ta, m, k, lda)
    right = of_op(*operand("second", second, memory), 0, tb, k, n, ldb)
    by_columns("C", memory["C"], 0, m, n, ldc)[...] = left @ right
    return memory["C"].reshape(problem[0], problem[-1])


def by_rows(*problem: int) -> np.ndarray:
    """The same with matrices of NumPy."""
    M, N, K, ta, tb, pa, pb, pc = problem
    memory = operands(problem)  # type: ignore[arg-type]
    A, B = memory["A"].reshape(-1, pa), memory["B"].reshape(-1, pb)
    A = A[:, : M if ta else K]
    B = B[:, : K if tb else N]
    C = memory["C"].reshape(M, pc)
    C[:, :N] = (A.T if ta else A) @ (B.T if tb else B)
    return C


def matrices(*problem: int) -> dict[str, np.ndarray]:
    """A and B as our program sees them, by rows, and C before the call."""
    pitches = problem[5:]
    return {
        name if name != "C" else "old C": memory.reshape(-1, pitch)
        for (name, memory), pitch in zip(operands(problem).items(), pitches, strict=True)  # type: ignore[arg-type]
    }


def any_problem(rng: np.random.Generator) -> Problem:
    """Extents from 1 on, with rows that have gaps after them or none."""
    M, N, K = (int(x) for x in rng.choice((1, 2, 3, 5, 8), 3))
    ta, tb = (int(x) for x in rng.integers(0, 2, 2))
    gaps = rng.choice((0, 0, 1, 3), 3)
    columns = (M if ta else K), (K if tb else N), N
    pitches = (int(c + gap) for c, gap in zip(columns, gaps, strict=True))
    return M, N, K, ta, tb, *pitches  # type: ignore[return-value]


ROW_MAJOR_GEMM = PythonExercise(
    cases=(
        (2, 3, 4, 0, 0, 4, 3, 3),  # small enough for each matrix to be shown
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
    shows=matrices,
    exact=True,
    contract=DrawnCases(any_problem),
)

# --- A triangle ---


def for_syrk(rng: np.random.Generator, size: tuple[int, int, int, int, int]) -> Given:
    """A by columns with ``pad`` elements after each column, and a C that holds numbers."""
    n, k, trans, pad, beta = size
    rows, columns = (k, n) if trans else (n, k)
    lda, ldc = max(1, rows) + pad, n + pad
    return {
        **int32s(trans=trans, n=n, k=k),
        "alpha": np.float32(rng.uniform(0.5, 2)),
        "A": floats(rng, (columns, lda)),
        "lda": np.int32(lda),
        "beta": np.float32(beta),
        "C": floats(rng, (n, ldc)),
        "ldc": np.int32(ldc),
    }


def syrk(given: Given) -> dict[str, np.ndarray]:
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


def strange_triangle(
    value: float, beta: float
) -> Callable[[Given, np.random.Generator], dict[str, Any]]:
    """Strange values in the lower triangle of C: not read if beta is 0, else not hidden."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        C, n = given["C"].copy(), int(given["n"])
        C[:, :n][np.triu(np.ones((n, n), bool)) & (rng.random((n, n)) < 0.3)] = value
        return {"C": C, "beta": beta}

    return change


def faint_beta(given: Given, rng: np.random.Generator) -> Given:
    """A beta that is small and not 0, and a lower triangle that is large."""
    C, n = given["C"].copy(), int(given["n"])
    C[:, :n][np.triu(np.ones((n, n), bool))] *= np.float32(1e9)
    return {"C": C, "beta": 1e-7}


SYRK_SIZE, SYRK_ANEW = (48, 16, 0, 0, 2), (48, 16, 0, 0, 0)

SYRK_LOWER = KernelExercise(
    inputs=for_syrk,
    reference=syrk,
    launch=lambda size: Launch((ceil_div(size[0], 32), ceil_div(size[0], 8)), (32, 8)),
    small=(
        (5, 3, 0, 2, 3),
        (4, 7, 1, 1, 2),
        (33, 5, 1, 0, 0),
        (6, 0, 0, 1, 3),
        (7, 0, 1, 0, 1),
        (1, 1, 1, 1, 1),
    ),
    by_columns=("A", "C"),
    worked=Worked(size=(3, 2, 0, 0, 0), whole=("C",)),
    full=(2048, 512, 0, 0, 2),
    reduction=lambda size: max(1, size[1]),
    contract=Domain(
        sizes=domain.shapes(
            n=(1, 2, 7, 31, 33, 65),
            k=(0, 1, 5, 33, 70),
            trans=(0, 1),
            pad=(0, 1, 6),
            beta=(0, 1, 2, 3),
        )
        .with_outlier(n=181, k=301)
        .limited_in("trans", "pad", "beta"),
        values=(
            domain.data("A", domain.NEGATIVE, domain.POSITIVE, domain.TIES, domain.SMALL),
            domain.scalars("alpha", 0, 1, -2),
            (
                *domain.scalars("beta", 0.25, -1.5),
                InputClass("beta = 0, infinities in its triangle", strange_triangle(np.inf, 0)),
                InputClass("beta = 2, NaN in its triangle", strange_triangle(np.nan, 2)),
                InputClass("beta = 1e-7, its triangle about 1e9", faint_beta),
            ),
        ),
    ),
    method=(
        Requirement(
            "FLOPs, over those of a whole square",
            lambda stats: stats.counts.flops_by_type.get("f32", 0) / (2 * 48 * 48 * 16),
            at_most=0.9,  # half, and alpha within the sum
            advice="No thread owns the elements above the diagonal: return before their sum.",
            size=SYRK_SIZE,
        ),
        Requirement(
            "bytes stored, over those of the triangle",
            lambda stats: stats.counts.global_store_bytes / (4 * 48 * 49 / 2),
            at_most=1.0,
            advice="One store for each element of the triangle, and none elsewhere.",
            size=SYRK_SIZE,
        ),
        method.reads("C", 0, 0, advice="With beta 0, C is not read.", size=SYRK_ANEW),
        method.reads(
            "C",
            0,
            1.5 * 4 * 48 * 49 / 2,
            advice="Of C, the triangle alone is read.",
            size=SYRK_SIZE,
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


def by_strided_batches(function: Callable[..., Any], *shape: int) -> np.ndarray:
    """What a strict strided library of columns leaves in S."""
    memory = attention(shape)  # type: ignore[arg-type]
    given = whole_numbers(function(*shape), 14, ("Q", "K"))
    ta, tb, m, n, k, first, lda, by_a, second, ldb, by_b, ldc, by_c, count = given
    if count < 0 or count > 1000:
        raise LessonError(f"a count of {count}")
    for z in range(count):
        left = of_op(*operand("first", first, memory), z * by_a, ta, m, k, lda)
        right = of_op(*operand("second", second, memory), z * by_b, tb, k, n, ldb)
        by_columns("S", memory["S"], z * by_c, m, n, ldc)[...] = left @ right
    queries, _, heads, _, room, _ = shape
    return memory["S"].reshape(heads, queries, room)


def scores(*shape: int) -> np.ndarray:
    """The same with NumPy's einsum."""
    queries, keys, heads, d, room, shared = shape
    memory = attention(shape)  # type: ignore[arg-type]
    Q = memory["Q"].reshape(queries, heads, d)
    K = np.broadcast_to(memory["K"].reshape(-1, room, d), (heads, room, d))[:, :keys]
    S = memory["S"].reshape(heads, queries, room)
    S[:, :, :keys] = np.einsum("qhd,hkd->hqk", Q, K)
    return S


def queries_and_keys(*shape: int) -> dict[str, np.ndarray]:
    """Q (queries, heads, d), K (heads, room, d) and S before the call."""
    queries, _, heads, d, room, _ = shape
    memory = attention(shape)  # type: ignore[arg-type]
    return {
        "Q": memory["Q"].reshape(queries, heads, d),
        "K": memory["K"].reshape(-1, room, d),
        "old S": memory["S"].reshape(heads, queries, room),
    }


def any_heads(rng: np.random.Generator) -> Heads:
    queries, keys, heads, d = (int(x) for x in rng.choice((1, 2, 3, 4, 7), 4))
    room = keys + int(rng.choice((0, 1, 4)))
    return queries, keys, heads, d, room, bool(rng.random() < 0.4)


HEADS_AS_BATCH = PythonExercise(
    cases=(
        (2, 2, 2, 2, 3, False),
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
    shows=queries_and_keys,
    axes=("head", "query", "key"),
    exact=True,
    contract=DrawnCases(any_heads),
)

# --- Arrays of pointers ---


def routed(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    """Products of any token with any of three to six experts, some of them several times."""
    count, outputs, inputs = size
    experts, tokens = 3 + outputs % 4, max(1, count // 2)
    return {
        "W": floats(rng, (experts, outputs, inputs)),
        "X": floats(rng, (tokens, inputs)),
        "Y": empty((count, outputs)),
        "expert": rng.integers(0, experts, count).astype(np.int32),
        "token": rng.integers(0, tokens, count).astype(np.int32),
        **int32s(outputs=outputs, inputs=inputs, count=count),
    }


def of_experts(given: Given) -> dict[str, np.ndarray]:
    W, X = given["W"].astype(np.float64), given["X"].astype(np.float64)
    return {"Y": np.einsum("zoi,zi->zo", W[given["expert"]], X[given["token"]])}


def tables_then_products(size: tuple[int, int, int]) -> tuple[Launch, ...]:
    count, outputs, _ = size
    return (
        Launch((ceil_div(count, 64),), (64,), kernel="fill_tables"),
        Launch(
            (ceil_div(outputs, 32), count),
            (32,),
            kernel="follow_tables",
            arguments=("outputs", "inputs"),
        ),
    )


TABLES_SIZE = 67, 5, 4

POINTER_TABLES = KernelExercise(
    kernel="fill_tables",
    inputs=routed,
    reference=of_experts,
    launch=tables_then_products,
    small=((7, 5, 3), (65, 3, 2), (1, 33, 4), (1030, 2, 131), (5, 16_411, 1), (1, 1, 1)),
    worked=Worked(size=(4, 1, 3), whole=("X",)),
    full=(4096, 256, 256),
    reduction=lambda size: size[2],
    contract=Domain(
        sizes=domain.shapes(
            count=(1, 2, 63, 64, 65, 129), outputs=(1, 2, 5, 33), inputs=(1, 3, 16)
        ).with_outlier(count=4096, outputs=16_411),
        values=(
            domain.data("W", domain.NEGATIVE, domain.TIES),
            (
                InputClass(
                    "the last expert for all",
                    lambda given, rng: {"expert": given["expert"] * 0 + len(given["W"]) - 1},
                ),
                InputClass("one token for all", lambda given, rng: {"token": given["token"] * 0}),
                InputClass("as drawn", lambda given, rng: {}),
            ),
        ),
    ),
    method=(
        Requirement(
            "bytes that the first kernel stores for each product",
            lambda stats: stats.launches[0].counts.global_store_bytes / TABLES_SIZE[0],
            at_most=24,
            advice="Three pointers of 8 bytes: the matrices stay where they are.",
            size=TABLES_SIZE,
        ),
        method.balanced_work(10, size=TABLES_SIZE),
    ),
)


def call_times(
    products: int, n: int, launch: float, peak: float, bandwidth: float, scattered: bool
) -> tuple[str, float]:
    each = 2 * n**3 / peak
    batched = max(launch, products * each) + scattered * products * 24 * n * n / bandwidth
    loop = products * max(launch, each)
    return ("loop", loop) if loop <= batched else ("batched", batched)


def small_products(rng: np.random.Generator) -> tuple[Any, ...]:
    return (
        int(rng.integers(1, 500)),
        int(rng.choice([4, 16, 32, 100, 256, 700])),
        float(rng.choice([1, 2.5, 4])),
        float(rng.choice([1e6, 2e7, 6e7])),
        float(rng.choice([1e5, 1e6, 4e6])),
        bool(rng.integers(2)),
    )


CHOOSE_CALL = PythonExercise(
    cases=(
        (100, 10, 3.0, 4000.0, 1000.0, False),
        (100, 10, 3.0, 4000.0, 1000.0, True),
        (1, 32, 3.0, 6e7, 4e6, False),
        (1, 32, 3.0, 6e7, 4e6, True),
        (10, 1000, 3.0, 6e7, 4e6, True),
        (1000, 16, 2.5, 2e7, 1e5, True),
        (1000, 16, 2.5, 2e7, 4e6, True),
        (4, 8, 2.0, 6e7, 4e6, False),
    ),
    reference=call_times,
    start="How long does one product of the loop take, and which copies are paid for once?",
    rtol=1e-9,
    contract=DrawnCases(small_products, 24),
)

# --- A review ---

MISTAKES = {  # the lines at which each may be named
    "beta": {3},
    "handle": {7, 8},
    "status": {10},
    "extents": {11},
    "leading dimension": {12},
    "offset": {14},
}


def reviewed(function: Callable[[], Any]) -> tuple[str, ...] | None:
    """Each mistake, and whether a review names it, and the words that belong to no line."""
    found = function()
    if found is None:
        return None
    if not isinstance(found, dict):
        raise LessonError('return a dictionary, such as {5: "op"}')
    return said_of_lines(found, MISTAKES)


REVIEW_GEMM = PythonExercise(
    function="review",
    cases=((),),
    reference=lambda: tuple(f"{word}: right" for word in MISTAKES),
    call=reviewed,
    start="Write the thirteen arguments that the call should have, and compare them with lines 10 "
    "to 14. Then read the lines around it as the second layer meets them.",
    contract="There is one function to review.",
)
