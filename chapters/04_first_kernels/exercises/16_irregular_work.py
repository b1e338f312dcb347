"""The exercises of "Irregular work"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import LaunchStats, Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise, Target
from course_utils.exercises.authoring.vectors import FULL
from course_utils.exercises.authoring.worked import Worked

from .common import words

Cuts = Callable[[np.random.Generator, int, int], np.ndarray]


# --- matrices in CSR ---


def short_rows(rng: np.random.Generator, rows: int) -> np.ndarray:
    """About ten elements per row, some rows empty and one of them long."""
    lengths: np.ndarray = rng.integers(0, 21, rows)
    lengths[rng.integers(rows)] = 100
    return lengths


def in_csr(rng: np.random.Generator, lengths: np.ndarray, columns: int) -> dict[str, Any]:
    """Offsets, and columns in any order, which may come twice in a row."""
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int32)
    return {
        "offsets": offsets,
        "columns": rng.integers(0, columns, offsets[-1]).astype(np.int32),
    }


def cut_at(label: str, cuts: Cuts) -> InputClass:
    """The same elements in other rows: ``cuts(rng, rows, elements)`` are the ends of all rows but
    the last."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        elements = len(given["columns"])
        ends = cuts(rng, int(given["rows"]), elements)
        return {"offsets": np.concatenate([[0], ends, [elements]])}

    return InputClass(label, change)


LONG_MIDDLE = cut_at(
    "all elements in the middle row",
    lambda rng, rows, n: np.repeat([0, n], [rows // 2, rows - 1 - rows // 2]),
)
OTHER_ROWS = (
    cut_at("all elements in the last row", lambda rng, rows, n: np.zeros(rows - 1, int)),
    cut_at("all elements in the first row", lambda rng, rows, n: np.full(rows - 1, n)),
    cut_at("rows alike", lambda rng, rows, n: np.arange(1, rows) * n // rows),
    cut_at("rows of any length", lambda rng, rows, n: np.sort(rng.integers(0, n + 1, rows - 1))),
)


def products(given: Mapping[str, Any]) -> np.ndarray:
    """A x in float64."""
    terms = given["values"].astype(np.float64) * given["x"].astype(np.float64)[given["columns"]]
    rows = pairwise(given["offsets"].tolist())
    return np.array([terms[begin:end].sum() for begin, end in rows])


def zero_meets_infinity(given: Given, rng: np.random.Generator) -> Given:
    """Where one element is infinite, x is 0: its row has no number. The only row keeps its own."""
    values, x = given["values"].copy(), given["x"].copy()
    if given["rows"] > 1 and len(values):
        values[len(values) // 2] = np.inf
        x[given["columns"][len(values) // 2]] = 0
    return {"values": values, "x": x}


# --- products ---


def matrix_and_vector(rng: np.random.Generator, rows: int) -> dict[str, Any]:
    matrix = in_csr(rng, short_rows(rng, rows), rows)
    return {
        **matrix,
        "values": floats(rng, len(matrix["columns"])),
        "x": floats(rng, rows),
        "y": empty(rows),
        "rows": np.int32(rows),
    }


ROW_LANES = KernelExercise(
    inputs=matrix_and_vector,
    reference=lambda given: {"y": products(given)},
    launch=lambda rows: Launch((ceil_div(rows, 32),), (256,)),
    small=(250, 33, 31, 1),
    full=1 << 16,
    reduction=lambda rows: 300,
    worked=Worked(
        size=3,
        derived=lambda given: {
            "offsets": (0, 2, 2, 5),
            "columns": (1, 0, 0, 1, 2),
            "values": (2, 3, 1, 4, 5),
            "x": (1, 2, 3),
        },
    ),
    contract=Domain(
        sizes=domain.lengths("rows", most=2500),
        values=(
            (LONG_MIDDLE, *OTHER_ROWS[2:]),
            (
                *domain.data("values", domain.ZEROS, domain.POSITIVE),
                InputClass("x = 0 where an element is infinite", zero_meets_infinity),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.atomics("global", at_most=0, advice="A row is stored once, by a plain store."),
        method.shuffles(
            3 * 250, advice="Eight lanes share a row, and add up their sums by shuffles."
        ),
        method.no_shared_memory("Lanes of one warp need no shared memory to add up."),
        method.balanced_work(16),
        Requirement(
            "sectors loaded, over those of our solution",
            lambda stats: (
                stats.counts.global_load_sectors / _ours(stats).counts.global_load_sectors
            ),
            at_most=1.15,
            advice="Neighbouring lanes read neighbouring elements of their row: lane l takes the "
            "elements l, l + 8, l + 16 and so on.",
        ),
    ),
)


# --- a choice ---


def least_steps(lengths: list[int]) -> tuple[int, int]:
    """By arrays of NumPy, one row of lengths per warp."""
    costs = {}
    for g in (1, 2, 4, 8, 16, 32):
        padded = np.pad(np.array(lengths), (0, -len(lengths) % (32 // g))).reshape(-1, 32 // g)
        costs[g] = int((ceil_div(padded.max(axis=1), g) + np.log2(g).astype(int)).sum())
    best = min(costs, key=lambda g: costs[g])
    return best, costs[best]


def any_rows(rng: np.random.Generator) -> tuple[list[int]]:
    """Rows that are alike, or of all lengths, or short with a few long ones."""
    rows = int(rng.integers(1, 200))
    lengths = rng.integers(0, int(rng.choice([2, 8, 40, 400])), rows)
    if rng.random() < 0.5:
        lengths[rng.integers(0, rows, 3)] += 500
    return (lengths.tolist(),)


CHOOSE_LANES = PythonExercise(
    cases=(
        ([1] * 64,),
        ([32] * 64,),
        ([0] * 40,),
        ([300],),
        ([7] * 100 + [200],),
        ([3, 0, 90] * 21,),
        ([9] * 33,),
        ([2, 3, 1, 1000] * 16,),
    ),
    reference=least_steps,
    contract=DrawnCases(any_rows),
)


# --- the merge path ---


class Ends(Sequence[int]):
    """The ends of a matrix's rows, which count how often they are read."""

    def __init__(self, ends: Sequence[int]):
        self._ends, self.reads = list(ends), 0

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: Any) -> Any:
        found = self._ends[index]
        self.reads += len(found) if isinstance(index, slice) else 1
        return found

    def __iter__(self) -> Iterator[int]:
        for end in self._ends:
            self.reads += 1
            yield end

    def __repr__(self) -> str:
        return repr(self._ends)


def after_steps(ends: Ends, d: int) -> tuple[int, int]:
    """By counting the rows whose own step comes within the first ``d``."""
    steps = np.array(ends._ends) + np.arange(1, len(ends) + 1)
    row = int((steps <= d).sum())
    return row, d - row


def few_reads(ends: Ends, d: int) -> str:
    limit = 2 * len(ends).bit_length() + 4
    if ends.reads > limit:
        return (
            f"{ends.reads} ends of {len(ends)} rows were read. A search by halves reads one in "
            f"each step, {len(ends).bit_length()} or so."
        )
    return ""


def rows_and_diagonal(rng: np.random.Generator) -> tuple[Ends, int]:
    lengths = rng.integers(0, int(rng.choice([2, 5, 40])), int(rng.integers(1, 300)))
    lengths[-1] += rng.integers(0, 2)
    ends = np.cumsum(lengths).tolist()
    return Ends(ends), int(rng.integers(0, len(ends) + ends[-1] + 1))


EIGHT_ROWS = (2, 2, 3, 8, 9, 12, 12, 16)

CROSSING = PythonExercise(
    cases=(
        (Ends(EIGHT_ROWS), 8),
        (Ends(EIGHT_ROWS), 16),
        (Ends(EIGHT_ROWS), 4),
        (Ends(EIGHT_ROWS), 0),
        (Ends(EIGHT_ROWS), 24),
        (Ends((0, 0, 0)), 2),
        (Ends((0, 3)), 0),
        (Ends((5,)), 5),
        (Ends((5,)), 6),
        (Ends(range(7, 70_001, 7)), 41_234),
    ),
    reference=after_steps,
    contract=DrawnCases(rows_and_diagonal),
    method=few_reads,
)


# --- another product ---


def _ours(stats: LaunchStats) -> LaunchStats:
    return stats.ours


def flipped(rng: np.random.Generator, rows: int) -> dict[str, Any]:
    columns = max(rows // 2, 1) if rows <= 300 else 2**15 + rows  # past a short index
    lengths = rng.integers(0, 9, rows)  # fewer than of other matrices: one thread may have them all
    lengths[rng.integers(rows)] = 40
    matrix = in_csr(rng, lengths, columns)
    return {
        **matrix,
        "values": words(rng, len(matrix["columns"])),
        "x": words(rng, rows),
        "y": words(rng, columns),
        "rows": np.int32(rows),
    }


def scattered(given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """y plus Aᵀ x, as unsigned numbers of 32 bits wrap around."""
    row = np.searchsorted(given["offsets"][1:], np.arange(len(given["columns"])), "right")
    of_row = given["x"][np.minimum(row, len(given["x"]) - 1)].astype(np.uint64)
    total = given["y"].astype(np.uint64)
    np.add.at(total, given["columns"], given["values"] * of_row % 2**32)
    return {"y": (total % 2**32).astype(np.uint32)}


ONE_COLUMN = (InputClass("one column alone", lambda given, rng: {"columns": 0 * given["columns"]}),)

FLIPPED_PRODUCT = KernelExercise(
    inputs=flipped,
    reference=scattered,
    launch=lambda rows: Launch((ceil_div(rows, 256),), (256,)),
    small=(300, 31, 1),
    full=1 << 16,
    exact=True,
    worked=Worked(
        size=4,
        derived=lambda given: {
            "offsets": (0, 2, 2, 3, 5),
            "columns": (0, 1, 1, 0, 1),
            "values": (2, 3, 4, 1, 5),
            "x": (1, 2, 3, 2),
            "y": (0, 7),
        },
    ),
    budget=400_000,  # one thread may have all elements
    contract=Domain(sizes=domain.lengths("rows", most=520), values=(OTHER_ROWS, ONE_COLUMN)),
    method=(
        method.atomics(
            "global", at_least=150, advice="Rows share columns: they add by atomics, and to y."
        ),
        method.reads("values", 4 * 400, advice="Each element of A is read."),
        method.reads("columns", 4 * 400, 4 * 3200, advice="Each element of A is read once."),
        method.balanced_loads(30),
    ),
)


# --- a search ---

VISITS = """
extern "C" __global__ void count_visits(int *next, const int *next_count, unsigned *visits, int n,
                                        int slots)
{
    for (int i = threadIdx.x; i < slots; i += blockDim.x) {
        const int v = next[i];
        for (unsigned seen = 0; i < *next_count && v >= 0 && v < n;) { // draws are counted
            const unsigned old = atomicCAS(&visits[v], seen, seen + 1);
            if (old == seen) {
                break;
            }
            seen = old;
        }
        next[i] = -1; // the slots' order is free
    }
}
"""


def visited(index: int) -> str:
    return f"how often vertex {index} is in next"


def graph_and_frontier(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """A frontier of a quarter of n + 1 vertices, with the first and without the last, to which the
    first has an edge. A few of the others have been found before."""
    vertices = n + 1
    lengths = rng.integers(0, 12, vertices)
    lengths[0] += 1
    matrix = in_csr(rng, lengths, vertices)
    matrix["columns"][0] = n
    queue = np.append(0, 1 + np.flatnonzero(rng.random(n - 1) < 0.25)).astype(np.int32)
    distance = np.where(rng.random(vertices) < 0.2, 1, -1).astype(np.int32)
    distance[queue], distance[n] = 2, -1
    return {
        "offsets": matrix["offsets"],
        "neighbours": matrix["columns"],
        "queue": queue,
        "count": np.int32(len(queue)),
        "level": np.int32(3),
        "distance": distance,
        **slots_for(len(matrix["columns"]), vertices),
    }


def slots_for(slots: int, vertices: int) -> dict[str, Any]:
    """The queue of the next level, with room for all edges, and how often a vertex is in it."""
    return {
        "next": np.full(max(slots, 1), -1, np.int32),
        "next_count": np.zeros(1, np.int32),
        "visits": np.zeros(vertices, np.uint32),
        **int32s(n=vertices, slots=slots),
    }


def one_level(given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    offsets, queue = given["offsets"], given["queue"]
    edges = [given["neighbours"][offsets[v] : offsets[v + 1]] for v in queue]
    return _found(given, np.concatenate(edges))


def _found(given: Mapping[str, Any], ends: np.ndarray) -> dict[str, np.ndarray]:
    new = np.unique(ends[given["distance"][ends] == -1])
    distance, visits = given["distance"].copy(), given["visits"].copy()
    distance[new] = given["level"]
    visits[new] = 1
    return {
        "distance": distance,
        "next": given["next"],
        "next_count": np.array([len(new)], np.int32),
        "visits": visits,
    }


STEP = ("offsets", "neighbours", "queue", "count", "level", "distance", "next", "next_count")
COUNTED = ("next", "next_count", "visits", "n", "slots")


def same_neighbour(given: Given, rng: np.random.Generator) -> Given:
    return {"neighbours": np.full_like(given["neighbours"], len(given["distance"]) - 1)}


FIND_THE_DOUBLE_VISIT = KernelExercise(
    source="04_first_kernels/exercises/bfs_step.cu",
    kernel="bfs_step",
    inputs=graph_and_frontier,
    reference=one_level,
    launch=lambda n: (
        Launch((ceil_div(n, 64),), (64,), arguments=STEP),
        Launch((1,), (128,), kernel="count_visits", arguments=COUNTED),
    ),
    probe=VISITS,
    probed={"visits": visited},
    small=(300, 65, 40, 1),
    full=1 << 16,
    exact=True,
    bug=kinds.DATA_RACE,
    worked=Worked(
        size=3,
        derived=lambda given: {
            "offsets": (0, 2, 4, 4, 5),
            "neighbours": (2, 3, 1, 2, 0),
            "queue": (0, 1),
            "count": 2,
            "distance": (2, 2, -1, -1),
            "next": (-1, -1, -1, -1, -1),
            "slots": 5,
        },
    ),
    contract=Domain(
        sizes=domain.lengths(most=2500),
        values=((InputClass("all edges lead to one vertex", same_neighbour),),),
    ),
    method=(
        method.atomics(
            "global", at_least=100, advice="Testing and setting a distance is one atomic."
        ),
        method.reads("neighbours", 4 * 100, advice="All edges of the frontier are followed."),
    ),
)


def heads_of_edges(rng: np.random.Generator, edges: int) -> dict[str, Any]:
    """Twice as many edges as vertices, and a fifth of the vertices found before."""
    vertices = max(edges // 2, 1)
    return {
        "heads": rng.integers(0, vertices, edges).astype(np.int32),
        "edges": np.int32(edges),
        "level": np.int32(3),
        "distance": np.where(rng.random(vertices) < 0.2, 1, -1).astype(np.int32),
        **slots_for(2 * edges, vertices),
    }


def draws(counts: Counts) -> int:
    """Atomics on global memory that always change it: one compare-and-swap is for each edge."""
    return sum(
        n
        for name, n in counts.opcodes.items()
        if name.startswith(("atom.global.", "red.global.")) and ".cas" not in name
    )


ONE_DRAW = KernelExercise(
    inputs=heads_of_edges,
    reference=lambda given: _found(given, given["heads"]),
    launch=lambda n: (
        Launch((ceil_div(n, 256),), (256,), arguments=("heads", "edges", *STEP[4:])),
        Launch((1,), (128,), kernel="count_visits", arguments=COUNTED),
    ),
    probe=VISITS,
    probed={"visits": visited},
    small=(1000, 257, 33, 1),
    full=FULL,
    exact=True,
    worked=Worked(
        size=6,
        values={
            "heads": (2, 0, 2, 1, 0, 2),
            "distance": (-1, 1, -1),
        },
    ),
    contract=Domain(
        sizes=domain.lengths("edges", most=5000),
        values=(
            (
                InputClass(
                    "all vertices new",
                    lambda given, rng: {"distance": np.full_like(given["distance"], -1)},
                ),
                InputClass(
                    "no vertex new",
                    lambda given, rng: {"distance": np.ones_like(given["distance"])},
                ),
                InputClass(
                    "all edges lead to one vertex",
                    lambda given, rng: {"heads": np.zeros_like(given["heads"])},
                ),
            ),
        ),
    ),
    method=(
        method.reads(
            "heads", 4 * 2048, 4 * 2048 * 1.2, advice="Each edge is read once.", size=2048
        ),
        method.balanced_loads(8),
        Requirement(
            "atomics of the step on global memory",
            lambda stats: float(stats.threads[0].atomics.sum()),
            at_most=2048 + 50,
            advice="Each edge needs one compare-and-swap, and each block one draw.",
            size=2048,
        ),
    ),
    target=Target(
        label="draws from the counter",
        measure=draws,
        at_most=8,
        advice="Count the block's new vertices first; then one thread draws.",
        size=2048,
    ),
)


# --- a stencil ---


def heated(given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    u = given["u"].astype(np.float64)
    y = u.copy()
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    y[1:-1, 1:-1] += 0.125 * (around - 4 * u[1:-1, 1:-1])
    return {"y": y}


def plate(rng: np.random.Generator, size: tuple[int, int]) -> dict[str, Any]:
    rows, columns = size
    return {"u": floats(rng, size), "y": empty(size), **int32s(rows=rows, columns=columns)}


HEAT_PLATE = KernelExercise(
    inputs=plate,
    reference=heated,
    launch=lambda size: Launch((ceil_div(size[1], 32), ceil_div(size[0], 8)), (32, 8)),
    small=((20, 70), (8, 32), (9, 33), (3, 3), (1, 1)),
    full=(4096, 4096),
    reduction=lambda size: 8,
    worked=Worked(size=(3, 4), values={"u": (1, 7, 2, 3, 1, 5, 3, 0, 2, 4, 8, 6)}),
    contract=Domain(
        sizes=domain.shapes(rows=domain.extents(40), columns=domain.extents(140)),
        values=(
            domain.data(
                "u",
                domain.ZEROS,
                domain.POSITIVE,
                domain.NEGATIVE,
                domain.EQUAL,
                domain.RISING,
                domain.LARGE,
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.shared_memory(
            4 * 64 * 64, advice="The block's cells go through shared memory.", size=(64, 64)
        ),
        method.balanced_loads(4, size=(64, 64)),
        method.balanced_work(4, size=(64, 64)),
    ),
    target=Target(
        label="cells loaded from global memory for each result",
        measure=lambda counts: counts.global_load_bytes / 4 / (64 * 64),
        at_most=1.5,
        advice="Read all five cells from the tile, and each cell of u once.",
        size=(64, 64),
    ),
)
