"""The exercises of "CuTe on Hopper and Blackwell"."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.exact_formulas import exact_product
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.reviews import review
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked
from course_utils.layouts import Layout

from .common import by_cute

BOX = {"box": (8, 32)}

# --- The strides of a fragment ---


def any_fragment(rng: np.random.Generator) -> tuple[Any, ...]:
    span = int(rng.choice((16, 32, 64, 128)))
    rows, columns = 64 * int(rng.integers(1, 5)), 64 * int(rng.integers(1, 5))
    part, k = int(rng.integers(0, rows // 64)), int(rng.integers(0, columns // 16))
    return rows, columns, span, part, k


def in_units(rows: int, columns: int, span: int, part: int, k: int) -> int:
    """By the layout of the tile in bytes: (bytes of a span, rows, spans)."""
    tile = Layout((span, rows, 2 * columns // span), (1, span, span * rows))
    return int(tile((32 * k % span, 64 * part, 32 * k // span))) // 16


# --- Arrivals ---


def any_cluster(rng: np.random.Generator) -> tuple[Any, ...]:
    down, across = ((1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (2, 4))[int(rng.integers(0, 6))]
    whole = int(rng.choice((32, 128, 256, 384)))  # all that CUTLASS takes in a cluster
    return whole if down * across > 1 else 32 * int(rng.integers(1, 13)), down, across


def listed(consumers: int, down: int, across: int) -> int:
    """Every arrival at block (0, 0), one by one."""
    if down == across == 1:
        return len(range(consumers))
    near = [(i, j) for i in range(down) for j in range(across) if i == 0 or j == 0]
    return sum(len(range(0, consumers, 128)) for _ in near)


# --- Rings ---


def a_ring(weighted: bool, rng: np.random.Generator, size: tuple[int, int]) -> Given:
    given: dict[str, Any] = {"x": floats(rng, size)}
    if weighted:
        given["w"] = floats(rng, size)
    return given | {"y": empty(size[1]), **int32s(rows=size[0], columns=size[1])}


def added(given: Given) -> dict[str, np.ndarray]:
    x = given["x"].astype(np.float64)
    return {"y": (x * given["w"] if "w" in given else x).sum(axis=0)}


def by_pipeline(matrices: int) -> tuple[Requirement, ...]:
    """The copies are TMA's, their barriers the pipeline's, and they run ahead of the sums."""
    return (
        Requirement(
            "bytes that TMA fetches from global memory",
            lambda stats: stats.counts.bulk_global_load_bytes,
            at_least=matrices * 37 * 36 * 4,
            advice="The boxes come by SM90_TMA_LOAD::copy.",
            size=(37, 36),
        ),
        method.from_header(
            "CUTLASS",
            "cutlass/arch/barrier",
            "mbarrier",
            at_least=2 * 2 * 5,
            advice="Acquire, wait and release by the pipeline, once a box each.",
            size=(37, 36),
        ),
        method.balanced_loads(size=(37, 64)),
        method.beside_tma(
            0.7,
            advice="A stage is on its way while another is added: does the consumer release the "
            "stage that it has just read, and does the producer wait for nothing but that?",
            size=(37, 36),
        ),
    )


def of_columns(*data: str, **more: Any) -> KernelExercise:
    """Sums of columns through a ring, 32 columns a block."""
    return KernelExercise(
        arch="sm_90a",
        inputs=partial(a_ring, len(data) > 1),
        maps=dict.fromkeys(data, BOX),
        reference=added,
        launch=lambda size: Launch((ceil_div(size[1], 32),), (64,)),
        small=((37, 36), (8, 32), (1, 4)),
        full=(8192, 4096),
        reduction=lambda size: size[0],
        contract=Domain(
            sizes=domain.shapes(rows=(1, 8, 17, 33), columns=(4, 32, 36)).with_outlier(
                rows=131, columns=68
            ),
            values=(domain.data(" ".join(data), *domain.ORDINARY),),
        ),
        method=by_pipeline(len(data)),
        **more,
    )


# --- Fetch ---


def one_of_many(rng: np.random.Generator, tiles: int) -> Given:
    a, b = (
        rng.standard_normal((rows, 64), dtype=np.float32).astype(bfloat16)
        for rows in (128 * tiles, 32)
    )
    return {"A": a, "B": b, "bias": floats(rng, 32), "Y": empty((128 * tiles, 32))}


def cut_off(given: Given) -> dict[str, np.ndarray]:
    return {"Y": np.maximum(exact_product(given["A"], given["B"].T) + given["bias"], 0)}


# --- A tree ---

LEAVES, NODES = ("sums", "scalar", "row", "column"), ("plus", "times", "relu")


def any_tree(rng: np.random.Generator) -> tuple[Any, ...]:
    rows, columns = (int(n) for n in rng.integers(1, 6, 2))

    def some(count: int) -> list[Any]:
        return [int(n) for n in rng.integers(-4, 5, count)]

    def node(depth: int) -> tuple[Any, ...]:
        if depth == 0 or rng.random() < 0.2:
            kind = str(rng.choice(LEAVES))
            lengths = {"row": columns, "column": rows}
            if kind == "sums":
                return ("sums",)
            return kind, (some(1)[0] if kind == "scalar" else some(lengths[kind]))
        kind = str(rng.choice(NODES))
        return kind, *(node(depth - 1) for _ in range(1 if kind == "relu" else 2))

    return node(int(rng.integers(0, 5))), [some(columns) for _ in range(rows)]


def by_arrays(tree: tuple[Any, ...], sums: list[Any]) -> list[Any]:
    """The whole matrix at once."""
    matrix = np.array(sums)

    def of(node: tuple[Any, ...]) -> Any:
        match node:
            case ("sums",):
                return matrix
            case ("column", values):
                return np.zeros_like(matrix) + np.array(values)[:, None]
            case ("scalar" | "row", values):
                return np.zeros_like(matrix) + np.array(values)
            case ("relu", child):
                return of(child).clip(min=0)
            case (operation, left, right):
                return of(left) + of(right) if operation == "plus" else of(left) * of(right)
        raise ValueError(node)

    found: list[Any] = of(tree).tolist()
    return found


# --- Choose ---


def any_ways(rng: np.random.Generator) -> tuple[Any, ...]:
    epilogues = "none", "relu", "gelu", "swiglu"
    ways = [
        (
            name,
            tuple(each for each in epilogues if rng.random() < 0.6),
            float(rng.choice((0, 0, 5, 60, 600))),
            float(rng.choice((1.25, 1.5, 2.0))),
        )
        for name in ("library", "builder", "by hand")[: int(rng.integers(1, 4))]
    ]
    return ways, str(rng.choice(epilogues)), int(rng.choice((0, 1, 1000, 240_000, 4_000_000)))


def sorted_by_cost(ways: list[Any], needed: str, calls: int) -> tuple[Any, ...] | None:
    able = [way for way in ways if needed in way[1]]
    found = sorted((seconds + calls * ms / 1000, at) for at, (_, _, seconds, ms) in enumerate(able))
    return (able[found[0][1]][0], found[0][0]) if found else None


WORD_STEP = PythonExercise(
    cases=(
        (128, 64, 128, 0, 1),
        (128, 64, 128, 1, 1),
        (128, 128, 128, 0, 4),
        (128, 128, 64, 1, 3),
        (64, 64, 32, 0, 3),
        (256, 64, 16, 3, 2),
    ),
    reference=in_units,
    contract=DrawnCases(any_fragment, 24),
)

EMPTY_ARRIVALS = PythonExercise(
    cases=(
        (128, 1, 1),
        (256, 1, 1),
        (256, 2, 1),
        (128, 1, 2),
        (256, 2, 2),
        (32, 1, 1),
        (32, 2, 1),
        (384, 2, 4),
    ),
    reference=listed,
    contract=DrawnCases(any_cluster, 24),
)

COLUMNS_IN_TURN = of_columns("x")

EARLY_RELEASE = of_columns("x", "w", bug=kinds.DATA_RACE)

REVIEW_THE_PIPELINE = review(
    {8: "bytes", 11: "count", 17: "start", 29: "advance"},
    example='{9: "count"}',
    start="Ask four questions: bytes of a stage, arrivals of a release, first phase, who advances?",
)

FETCHED_BY_LAYOUT = KernelExercise(
    arch="sm_100a",
    inputs=one_of_many,
    maps={"A": {"box": (128, 64), "swizzle": 128}, "B": {"box": (32, 64), "swizzle": 128}},
    reference=cut_off,
    launch=lambda tiles: Launch((tiles,), (128,)),
    small=(2, 1),
    worked=Worked(why_not="a tile has 128 rows"),
    full=64,
    reduction=lambda tiles: 64,
    contract=Domain(
        sizes=domain.lengths(most=3).with_outlier(n=5),
        values=(
            domain.data("A B", domain.POSITIVE, domain.TIES, domain.SMALL),
            domain.data("bias", domain.LARGE_NEGATIVE, domain.LARGE_POSITIVE, domain.MIDDLING),
        ),
    ),
    method=(
        method.one_store_per_result(),
        by_cute(
            "cute/arch/copy_sm100", "Fetch by `make_tmem_copy` and the slices of that copy.", 2
        ),
    ),
)

VISIT_TREE = PythonExercise(
    cases=(
        (("relu", ("plus", ("sums",), ("row", [1, -3]))), [[2, 2]]),
        (("sums",), [[1, -2], [3, 4]]),
        (("plus", ("column", [1, 2, 3]), ("row", [10, 20])), [[0, 0], [0, 0], [0, 0]]),
        (("times", ("scalar", 2), ("plus", ("sums",), ("sums",))), [[1, 2, 3]]),
        (("relu", ("times", ("sums",), ("scalar", -1))), [[1], [-1]]),
    ),
    reference=by_arrays,
    contract=DrawnCases(any_tree, 24),
)

LIBRARY, BUILDER = (
    ("library", ("relu", "gelu"), 0.0, 1.5),
    ("builder", ("gelu", "swiglu"), 60.0, 1.4),
)

CHOOSE_WAY = PythonExercise(
    cases=(
        ([LIBRARY, BUILDER], "gelu", 100_000),
        ([LIBRARY, BUILDER], "gelu", 1_000_000),
        ([LIBRARY, BUILDER], "swiglu", 1),
        ([LIBRARY, BUILDER], "softmax", 10),
        ([BUILDER, LIBRARY], "relu", 0),
        ([("a", ("relu",), 1.0, 2.0), ("b", ("relu",), 3.0, 1.0)], "relu", 2000),
    ),
    reference=sorted_by_cost,
    contract=DrawnCases(any_ways, 24),
    start="Strike out the ways that can't fuse it, then add up the seconds of the others.",
)
