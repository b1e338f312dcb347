"""The exercises of "A matrix times a vector, and softmax"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Means,
    Promises,
    PythonExercise,
    Target,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.promises import Given, Values

from .common import exact

IN_REGISTERS = (
    "An array whose index is known only at run time lies in local memory, which is global memory: "
    "let the loops have a constant number of turns, and unroll them."
)
COLUMNS = (1, 2, 31, 32, 33, 65, 255, 256, 257, 513, 1025, 2047, 2048)


def matrix_and_vector(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    """A (M x K), x (K) and room for y (M)."""
    m, k = size
    return {
        "A": floats(rng, (m, k)),
        "x": floats(rng, k),
        "y": empty(m),
        "M": np.int32(m),
        "K": np.int32(k),
    }


def zero_at_infinity(given: Given, axis: int) -> Given:
    """An element in the middle of A is infinite, and of x the one that it meets along ``axis`` is
    0. (At an edge a result that is wrong looks like one without a guard.)"""
    a, x = given["A"].copy(), given["x"].copy()
    place = tuple(extent // 2 for extent in a.shape)
    a[place], x[place[axis]] = np.inf, 0
    return {"A": a, "x": x}


def sectors_a_load(counts) -> float:
    """Sectors that a load of a warp touches."""
    return counts.global_load_sectors / max(counts.global_load_requests, 1)


def zero_at_infinite_x(given: Given, axis: int) -> Given:
    """A number of x is infinite, and meets a 0 in the middle of A, of which ``axis`` is summed."""
    a, x = given["A"].copy(), given["x"].copy()
    k = len(x) // 2
    along = np.moveaxis(a, axis, 0)[k]
    along[len(along) // 2], x[k] = 0, np.inf
    return {"A": a, "x": x}


ANY_GEMV = Promises(
    sizes=promises.shapes(M=(1, 3, 7, 8, 9, 33, 300), K=(*COLUMNS, 70_000)).with_longest(M=2053),
    values=(
        promises.data("A", *promises.ORDINARY, promises.LARGE),
        (
            *promises.data("x", *promises.ORDINARY, promises.FAINT),
            Values("x = 0 where A is infinite", lambda given, rng: zero_at_infinity(given, 1)),
            promises.infinite_at_the_ends("A", -1, "x"),
            promises.infinite_at_the_ends("x", -1),
            Values("A = 0 where x is infinite", lambda given, rng: zero_at_infinite_x(given, 1)),
        ),
    ),
)

GEMV_BY_WARPS = Exercise(
    id="06.gemv_by_warps",
    title="a row for 32 lanes",
    task="""
A warp has one row, and one of its lanes does all the work. Share the row among the 32, so that
lanes side by side load neighbours, and let shuffles add up what they have. Any M and any K; an
element may be infinite, and another zero.
""",
    source="06_matmul_and_fft/exercises/gemv_by_warps.cu",
    kernel="gemv_by_warps",
    inputs=matrix_and_vector,
    reference=lambda given: {"y": exact(given["A"], given["x"])},
    launch=lambda size: Launch((-(-size[0] // 8),), (256,)),
    small=((19, 200), (8, 64), (3, 33), (1, 1)),
    full=(8192, 8192),
    reduction=lambda size: size[1],
    promises=ANY_GEMV,
    means=(
        means.one_store_each(),
        means.loads_shared_out(2.0, size=(16, 256)),
        means.loads_shared_out(2.0, size=(16, 31)),
        means.shuffles(5, advice="The lanes combine their sums by shuffles.", size=(16, 256)),
        means.no_shared_memory("Shuffles need no shared memory.", size=(16, 256)),
        Means(
            "bytes of the sectors that loads touch, over the bytes that they load",
            lambda work: 32 * work.counts.global_load_sectors / work.counts.global_load_bytes,
            at_most=1.5,
            advice="What lanes side by side load at once shall lie side by side: a lane's next "
            "element is 32 further on.",
            size=(16, 256),
        ),
    ),
    target=Target(
        label="load requests for each row of 256",
        measure=lambda counts: counts.global_load_requests / 16,
        at_most=16,
        advice="The result is right. 32 neighbours of the row and 32 of x make two requests.",
        size=(16, 256),
    ),
    within=2.0,
    hints=(
        "Lane l takes the elements l, l + 32, l + 64 and so on.",
        "`for (int k = lane; k < K; k += kWarpSize)`: a lane past the end adds nothing.",
        "Five steps: `sum += __shfl_xor_sync(kWholeWarp, sum, distance)` for 16, 8, 4, 2, 1. All "
        "lanes take part, also those that added nothing.",
    ),
    explanation="""
Each request brings 128 neighbouring bytes, and all of them are used. With one lane at work the same
bytes came in 32 requests of one sector each, 4 bytes of which were needed at a time.
""",
    mutants=(
        mutant(
            "zeros of A left out",
            kinds.WRONG,
            ("        sum += values", "        if (values[k] != 0.0f) sum += values"),
        ),
        mutant(
            "one lane does it all",
            kinds.TARGET_MISSED,
            (
                "for (int k = lane; k < K; k += kWarpSize) {\n        sum += values[k] * x[k];",
                "for (int k = 0; k < K; ++k) {\n        sum += values[k] * x[k] / 32;",
            ),
        ),
        mutant(
            "a piece of the row for each lane",
            kinds.MEANS_MISSING,
            (
                "int k = lane; k < K; k += kWarpSize",
                "int k = lane * ((K + 31) / 32); k < min(K, (lane + 1) * ((K + 31) / 32)); ++k",
            ),
        ),
        mutant("zeros left out", kinds.WRONG, ("sum += values", "if (x[k] != 0.0f) sum += values")),
        mutant("last elements missed", kinds.WRONG, ("k < K; k +=", "k + 32 <= K; k +=")),
        mutant(
            "lanes behind the end: the last one times 0",
            kinds.NOT_A_NUMBER,
            (
                "int k = lane; k < K; k += kWarpSize) {\n        sum += values[k] * x[k];",
                "int k = lane; k - lane < K; k += kWarpSize) {\n"
                "        sum += values[min(k, K - 1)] * (k < K ? x[k] : 0.0f);",
            ),
        ),
        mutant("one step short", kinds.WRONG, ("distance > 0", "distance > 1")),
        mutant("past the last row", kinds.OUT_OF_BOUNDS, ("if (row >= M)", "if (row > M)")),
        mutant(
            "every lane stores",
            kinds.MEANS_MISSING,
            ("if (lane == 0) {\n        y", "{\n        y"),
        ),
        mutant(
            "row in 16 bits",
            kinds.OUT_OF_BOUNDS,
            ("A + (long long)row * K", "A + (short)(row * K)"),
        ),
    ),
)

GEMV_OF_COLUMNS = Exercise(
    id="06.gemv_of_columns",
    title="the same matrix, the other way",
    task="""
y = Aᵀx reads the same bytes in the same order of memory, but each result is the sum over a column.
This kernel is right, also where an element is infinite and another zero. Change two lines until a
load touches at most 3 sectors on average.
""",
    source="06_matmul_and_fft/exercises/gemv_of_columns.cu",
    kernel="gemv_of_columns",
    inputs=lambda rng, size: (
        matrix_and_vector(rng, size) | {"x": floats(rng, size[0]), "y": empty(size[1])}
    ),
    reference=lambda given: {"y": exact(given["A"].T, given["x"])},
    launch=lambda size: Launch((-(-size[1] // 32),), (256,)),
    small=((37, 100), (64, 32), (5, 33), (1, 1)),
    full=(8192, 8192),
    reduction=lambda size: size[0],
    promises=Promises(
        sizes=promises.shapes(M=(1, 7, 8, 9, 33, 300), K=COLUMNS).with_longest(M=4099, K=4099),
        values=(
            promises.data("A", *promises.ORDINARY, promises.LARGE),
            (
                *promises.data("x", *promises.ORDINARY, promises.FAINT),
                Values("x = 0 where A is infinite", lambda given, rng: zero_at_infinity(given, 0)),
                promises.infinite_at_the_ends("A", -2, "x"),
                Values(
                    "A = 0 where x is infinite", lambda given, rng: zero_at_infinite_x(given, 0)
                ),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.loads_shared_out(2.0, size=(64, 64)),
        Means(
            "sectors read for each element of A",
            lambda work: work.counts.global_load_sectors / 64**2,
            at_most=0.2,
            advice="The loads of A and x shall touch fewer sectors; other loads are no help.",
            size=(64, 64),
        ),
    ),
    target=Target(
        label="sectors for each load",
        measure=sectors_a_load,
        at_most=3.0,
        advice="Which of column and band should change from one threadIdx.x to the next?",
        size=(64, 64),
    ),
    within=2.0,
    hints=(
        "Write down column and band for threadIdx.x = 0, 1 and 8, as the kernel stands.",
        "The neighbour in memory is the next column of the same row.",
        "`% kColumns` changes from thread to thread, `/ kColumns` from warp to warp.",
    ),
    explanation="""
A warp now reads 32 columns of one row, 4 sectors, and one element of x, 1 sector. Before, it read 4
columns of 8 rows, which are 8 sectors, and 8 neighbours of x. Sums of columns need no shuffles:
each lane has its own. What they need is a second level, here shared memory, where the bands meet.
""",
    mutants=(
        mutant(
            "zeros of A left out",
            kinds.WRONG,
            (
                "            sum += A[",
                "            if (A[(long long)row * K + k] != 0.0f) sum += A[",
            ),
        ),
        mutant(
            "bands first",
            kinds.TARGET_MISSED,
            ("threadIdx.x % kColumns", "threadIdx.x / kBands"),
            ("threadIdx.x / kColumns", "threadIdx.x % kBands"),
        ),
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads(); // all", "    // all")),
        mutant("one band", kinds.WRONG, ("other < kBands", "other < 2")),
        mutant(
            "zeros left out",
            kinds.WRONG,
            ("            sum += A", "            if (x[row] != 0.0f) sum += A"),
        ),
        mutant(
            "bands behind the end: the last row times 0",
            kinds.NOT_A_NUMBER,
            ("row < M; row += kBands", "row - band < M; row += kBands"),
            (
                "sum += A[(long long)row * K + k] * x[row];",
                "sum += A[(long long)min(row, M - 1) * K + k] * (row < M ? x[row] : 0.0f);",
            ),
        ),
        mutant("past the last column", kinds.OUT_OF_BOUNDS, ("if (k < K) {", "if (k <= K) {")),
        mutant("all columns the same", kinds.WRONG, ("+ k] * x[row]", "+ k - k % 2] * x[row]")),
    ),
)


def row_softmax(x: np.ndarray) -> np.ndarray:
    """The softmax of each row, in float64."""
    power = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    return power / power.sum(axis=-1, keepdims=True)


def scattered_rows(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    """Numbers far enough apart that a sum which is not scaled again is plainly wrong. In long rows
    the second has its largest last, and an exponential overflows where that was not looked at."""
    x = (4 * rng.standard_normal(size) - 20).astype(np.float32)
    if size[1] > 2000:
        x[1:2, -1] = 130
    return {
        "x": x,
        "y": empty(size),
        "columns": np.int32(size[1]),
    }


def pieces_of(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(largest, sums) of up to 40 pieces, some of them or all with nothing in them."""
    count = int(rng.integers(1, 41))
    largest = rng.choice([-700.0, 0.0, 800.0]) + 20 * rng.standard_normal(count)
    if rng.random() < 0.25:
        largest *= rng.choice([1e100, 1e305])  # no number is a stand-in for minus infinity
    sums = (1 + rng.random(count)) * 10.0 ** rng.integers(0, rng.choice([1, 20, 250]), count)
    empty_ones = rng.random(count) < rng.choice([0.0, 0.3, 1.0])
    return np.where(empty_ones, -np.inf, largest), np.where(empty_ones, 0.0, sums)


def merged(largest: np.ndarray, sums: np.ndarray) -> tuple[float, float]:
    """The pair of the whole row."""
    top = largest.max()
    shift = 0.0 if top == -np.inf else top
    return float(top), float((sums * np.exp(largest - shift)).sum())


def pair(merge: Callable, largest: np.ndarray, sums: np.ndarray) -> Any:
    """The two numbers apart, each of which is to be right for its own size."""
    found = merge(largest, sums)
    return tuple(found.tolist()) if np.shape(found) == (2,) else found


MERGED_SUMS = PythonExercise(
    id="06.merged_sums",
    title="pairs that merge",
    task="""
Warps, blocks and clusters hand on the same pair: the largest number that they met, and the sum
relative to it. Merge the pairs of one or more pieces in NumPy, whatever finite numbers are in them,
or none.
""",
    source="06_matmul_and_fft/exercises/merged_sums.py",
    function="merged_sums",
    cases=(
        (np.array([1.0, 3.0, 2.0]), np.array([1.5, 1.0, 2.0])),
        (np.array([-np.inf, 3.0]), np.array([0.0, 1.25])),
        (np.array([-np.inf, -np.inf]), np.array([0.0, 0.0])),
        (np.array([1000.0, 999.0]), np.array([1.0, 1.0])),
        (np.array([-2000.0]), np.array([7.0])),
        (np.array([-1e100, -np.inf]), np.array([1.5, 0.0])),
        (np.array([0.0, 14.0]), np.array([1e6, 1.5])),
        (np.array([-1.5e308, -np.inf, -1.5e308]), np.array([1e16, 0.0, 3e16])),
        (np.array([0.0, 40.0]), np.array([1e17, 3.0])),
        (np.array([-500.0, 0.0]), np.array([1e218, 3.0])),
    ),
    reference=merged,
    call=pair,
    promises=Cases(pieces_of),
    means="There are no means to count: any way to the two numbers is right.",
    hints=(
        "exp(v - old) times exp(old - new) is exp(v - new): so a sum moves to a new maximum.",
        "The new maximum is the largest of all. A piece with nothing in it must add 0.",
        "exp of minus infinity is 0, which is right. Minus infinity less minus infinity is NaN: it "
        "comes up only where all pieces are empty.",
    ),
    explanation="""
A pair of two numbers stands for any number of elements, and pairs merge in any order: that is why
lanes, warps, blocks and clusters can all do it. The kernels start from the least finite float
instead of minus infinity, which saves them the test.
""",
    mutants=(
        mutant("not scaled", kinds.WRONG, ("(sums * np.exp(largest - top)).sum()", "sums.sum()")),
        mutant(
            "no guard",
            kinds.WRONG,
            ("    if top == -np.inf:\n        return np.array([top, 0.0])\n", ""),
        ),
        mutant(
            "no maximum",
            kinds.WRONG,
            ("np.exp(largest - top)).sum()", "np.exp(largest)).sum() * np.exp(-top)"),
        ),
        mutant(
            "no word on pieces far below",
            kinds.WRONG,
            ("(sums * np.exp(largest - top)).sum()", "sums[largest > top - 12].sum()"),
        ),
        mutant(
            "no word on pieces very far below",
            kinds.WRONG,
            (
                "(sums * np.exp(largest - top)).sum()",
                "(sums * np.exp(largest - top))[largest > top - 36].sum()",
            ),
        ),
        mutant(
            "-1e308 for nothing",
            kinds.WRONG,
            ("top = largest.max()", "top = max(largest.max(), -1e308)"),
            ("top == -np.inf", "largest.max() == -np.inf"),
            ("[top, 0.0]", "[-np.inf, 0.0]"),
        ),
        mutant(
            "no sum above 1e15",
            kinds.WRONG,
            ("(sums * np.exp", "(np.minimum(sums, 1e15) * np.exp"),
        ),
        mutant(
            "-1e30 for nothing",
            kinds.WRONG,
            ("top = largest.max()", "top = max(largest.max(), -1e30)"),
            ("top == -np.inf", "top == -1e30"),
        ),
        mutant("scaled the wrong way", kinds.WRONG, ("largest - top", "top - largest")),
        mutant(
            "no return", kinds.NOTHING_RETURNED, ("return np.array([top, (", "np.array([top, (")
        ),
    ),
)

KEPT_ROW = Exercise(
    id="06.kept_row",
    title="read it once",
    task="""
Three passes read each number three times and take two exponentials of it. A row of up to 4096
numbers fits into a block, in shared memory or in registers. Keep it there: one read and one
exponential for each number.
""",
    source="06_matmul_and_fft/exercises/kept_row.cu",
    kernel="kept_row",
    inputs=scattered_rows,
    reference=lambda given: {"y": row_softmax(given["x"])},
    launch=lambda size: Launch((size[0],), (256,)),
    small=((3, 300), (2, 1024), (2, 257), (3, 7), (1, 1)),
    full=(1 << 14, 4096),
    reduction=lambda size: size[1],
    promises=Promises(
        sizes=promises.shapes(rows=(1, 3, 7, 40), columns=(*COLUMNS, 4095, 4096)),
        values=(promises.data("x", *promises.ANY_FINITE, promises.HUGE),),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(2.0, size=(2, 1024)),
        Means(
            "exponentials for each number of a row of 4096",
            lambda work: work.opcodes("ex2.") / 4096,
            at_most=1.1,
            advice="Keep the exponential, too: in the place of the number that it is of.",
            size=(1, 4096),  # all sixteen registers of a thread have a number
        ),
        means.no_local_memory(IN_REGISTERS, size=(2, 1024)),
    ),
    target=Target(
        label="loads of each number",
        measure=lambda counts: counts.global_load_bytes / (4 * 2 * 1024),
        at_most=1.0,
        advice="The result is right. The second and the third loop still read global memory.",
        size=(2, 1024),
    ),
    within=2.0,
    hints=(
        "`__shared__ float kept[kMostColumns];`: 16 KB.",
        "A thread reads back only what it has stored itself, so the row itself needs no barrier.",
        "In the second loop: `kept[i] = expf(kept[i] - largest); sum += kept[i];`",
        "Registers do as well: 16 numbers a thread, in loops that are unrolled, each with its `if "
        "(i < columns)`.",
    ),
    explanation="""
This is the rung `shuffle`: a row in shared memory, and warps that combine by shuffles. It moves as
few bytes as a softmax can; what is left to gain is to have enough of them in flight.
""",
    mutants=(
        mutant(
            "two exponentials",
            kinds.MEANS_MISSING,
            ("sum += kept[i];", "sum += expf(kept[i] * 0.5f) * 0.0f + kept[i];"),
        ),
        mutant(
            "reads the row again",
            kinds.TARGET_MISSED,
            ("kept[i] = expf(kept[i] - largest)", "kept[i] = expf(row[i] - largest)"),
        ),
        mutant(
            "in local memory",
            kinds.MEANS_MISSING,
            ("__shared__ float kept[kMostColumns];", "float kept[kMostColumns];"),
        ),
        mutant("not divided", kinds.WRONG, ("kept[i] / sum", "kept[i]")),
        mutant(
            "each thread's own sum",
            kinds.WRONG,
            ("sum = of_block<false>(sum);", ""),
        ),
        mutant("no maximum", kinds.NOT_A_NUMBER, ("expf(kept[i] - largest)", "expf(kept[i])")),
        mutant(
            "the largest of most numbers",
            kinds.NOT_A_NUMBER,
            ("        largest = fmaxf", "        if (i < 4080) largest = fmaxf"),
        ),
        mutant("too small a place", kinds.OUT_OF_BOUNDS, ("kept[kMostColumns]", "kept[1024]")),
    ),
)


ROW_OF_TWO = Exercise(
    id="06.row_of_two",
    title="two blocks, one row",
    task="""
A cluster of two blocks shares a row, and so far each block divides by the sum of its own half. Let
them exchange their pairs through distributed shared memory. Any number of columns.
""",
    source="06_matmul_and_fft/exercises/row_of_two.cu",
    kernel="row_of_two",
    inputs=scattered_rows,
    reference=lambda given: {"y": row_softmax(given["x"])},
    launch=lambda size: Launch((2 * size[0],), (256,)),
    small=((3, 700), (2, 1024), (2, 257), (3, 7), (1, 1)),
    full=(1 << 14, 4096),
    reduction=lambda size: size[1],
    promises=Promises(
        sizes=promises.shapes(rows=(1, 3, 7), columns=(*COLUMNS, 9001)),
        values=(promises.data("x", *promises.ANY_FINITE, promises.HUGE),),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(3.0, size=(2, 1024)),
        means.instructions(
            "addresses in another block",
            "mapa.",
            at_least=1,
            advice="The blocks meet in each other's shared memory: see address_in_block.",
            size=(2, 1024),
        ),
    ),
    target=Target(
        label="loads of each number",
        measure=lambda counts: counts.global_load_bytes / (4 * 2 * 1024),
        at_most=2.0,
        advice="The result is right. A block need not read the other's half: it sends its pair.",
        size=(2, 1024),
    ),
    within=2.0,
    hints=(
        "Block `rank` has place `rank` in both arrays, its own and the other block's. So each "
        "block finds both pairs in its own shared memory.",
        "A block may reach into another only when that has surely started: `cluster_arrive(); "
        "cluster_wait();` before, and once more after.",
        "`store_cluster_2(address_in_block(shared_address(of_block + rank), other), mine.largest, "
        "mine.sum);` for each of the two blocks.",
        "`all = merged(of_block[0], of_block[1]);`",
    ),
    explanation="""
Each block writes into the other and reads only its own shared memory, so that no block has to stay
until the other has read: two barriers are enough. If each read from the other, a third would have
to keep both alive.
""",
    mutants=(
        mutant(
            "does not wait for the start",
            kinds.BARRIER,
            ("    cluster_arrive();\n    cluster_wait(); // the other", "    // the other"),
        ),
        mutant(
            "reads at once",
            kinds.DATA_RACE,
            ("    cluster_arrive();\n    cluster_wait(); // both", "    // both"),
        ),
        mutant(
            "relaxed second arrival",
            kinds.DATA_RACE,
            (
                "cluster_arrive();\n    cluster_wait(); // both",
                "cluster_arrive_relaxed();\n    cluster_wait(); // both",
            ),
        ),
        mutant("both in one place", kinds.DATA_RACE, ("of_block + rank", "of_block")),
        mutant("its own alone", kinds.WRONG, ("all = merged(of_block[0], of_block[1]);", "")),
        mutant(
            "sums just added",
            kinds.WRONG,
            (
                "all = merged(of_block[0], of_block[1]);",
                "all.largest = fmaxf(of_block[0].largest, of_block[1].largest);\n"
                "    all.sum = of_block[0].sum + of_block[1].sum;",
            ),
        ),
    ),
)


def outputs_and_gradients(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    """Parts of rows of a softmax (in a whole row of one number the result would be 0), a gradient
    for each, and room for the result."""
    return {
        "y": 0.75 * row_softmax(rng.standard_normal(size)).astype(np.float32),
        "dy": floats(rng, size),
        "dx": empty(size),
        "columns": np.int32(size[1]),
    }


def gradient(given) -> dict:
    """dx in float64."""
    y, dy = (given[name].astype(np.float64) for name in ("y", "dy"))
    return {"dx": y * (dy - (y * dy).sum(axis=1, keepdims=True))}


def zeros_in_y(given: Given, rng: np.random.Generator) -> Given:
    """What softmax gives numbers far below the largest: 0, here in each second and third column."""
    y = given["y"].copy()
    y[:, 1::3] = y[:, 2::3] = 0
    return {"y": y}


ABOUT_1E36 = "about 1e36", lambda x, rng: x.astype(np.float64) * 1e36

SOFTMAX_GRADIENT = Exercise(
    id="06.softmax_gradient",
    title="the way back",
    task="""
dx = y (dy − Σ dy y), where the sum goes over the row: each element needs it, as in softmax. Read y
and dy once each and keep them in registers. Up to 2048 columns.
""",
    source="06_matmul_and_fft/exercises/softmax_gradient.cu",
    kernel="softmax_gradient",
    inputs=outputs_and_gradients,
    reference=gradient,
    launch=lambda size: Launch((size[0],), (256,)),
    small=((3, 300), (2, 1024), (2, 257), (3, 7), (1, 1)),
    full=(1 << 14, 2048),
    reduction=lambda size: size[1],
    promises=Promises(
        sizes=promises.shapes(rows=(1, 3, 7, 40), columns=COLUMNS),
        values=(
            promises.data("dy", *promises.ORDINARY, promises.FAINT, ABOUT_1E36),
            (promises.AS_GIVEN, Values("y with zeros", zeros_in_y)),
        ),
    ),
    means=(
        means.one_store_each(),
        means.reads_each_once(2 * 4 * 2 * 2048, size=(2, 2048)),
        means.work_shared_out(2.0, size=(2, 1024)),
        means.shared_memory(0, 1024, advice="Registers have room for the row.", size=(2, 1024)),
        means.no_local_memory(IN_REGISTERS, size=(2, 1024)),
    ),
    target=Target(
        label="loads for each result",
        measure=lambda counts: counts.global_load_bytes / (4 * 2 * 1024),
        at_most=2.0,
        advice="The result is right. y and dy are there after the first loop: use the registers.",
        size=(2, 1024),
    ),
    within=2.0,
    hints=(
        "Element k of the thread is number `k * kThreads + threadIdx.x` of the row.",
        "Past the end of the row, zeros add nothing to the sum, and are not stored.",
        "`outputs[k] * (gradients[k] - sum)` with the sum of the whole block.",
    ),
    explanation="""
Two reads and one write for each element, which is the least. A thread keeps two numbers for each
element here, so a row takes twice the registers that it takes on the way forward.
""",
    mutants=(
        mutant("the thread's own sum", kinds.WRONG, ("    sum = sum_of_block(sum);\n", "")),
        mutant(
            "reads again",
            kinds.TARGET_MISSED,
            (
                "= outputs[k] * (gradients[k] - sum)",
                "= outputs[k] * (const_cast<const volatile float *>(dy)[start + i] - sum)",
            ),
        ),
        mutant(
            "in local memory",
            kinds.MEANS_MISSING,
            (
                "#pragma unroll\n    for (int k = 0; k < kEach; ++k) {\n"
                "        int i = k * kThreads + threadIdx.x;\n        outputs",
                "#pragma unroll 1\n    for (int k = 0; k * kThreads < columns; ++k) {\n"
                "        int i = k * kThreads + threadIdx.x;\n        outputs",
            ),
            (
                "#pragma unroll\n    for (int k = 0; k < kEach; ++k) {\n"
                "        int i = k * kThreads + threadIdx.x;\n        if",
                "#pragma unroll 1\n    for (int k = 0; k * kThreads < columns; ++k) {\n"
                "        int i = k * kThreads + threadIdx.x;\n        if",
            ),
        ),
        mutant(
            "nothing stored where y is 0",
            kinds.PARTLY_WRITTEN,
            (
                "        if (i < columns) {\n            dx",
                "        if (i < columns && outputs[k] > 1e-20f) {\n            dx",
            ),
        ),
        mutant(
            "no product above 1e30",
            kinds.WRONG,
            ("outputs[k] * gradients[k];", "fminf(outputs[k] * gradients[k], 1e30f);"),
        ),
        mutant(
            "sum of dy", kinds.WRONG, ("sum += outputs[k] * gradients[k]", "sum += gradients[k]")
        ),
        mutant(
            "not times y", kinds.WRONG, ("outputs[k] * (gradients[k] - sum)", "gradients[k] - sum")
        ),
        mutant(
            "no guard", kinds.OUT_OF_BOUNDS, ("i < columns ? y[start + i] : 0.0f", "y[start + i]")
        ),
        mutant("one row for all", kinds.FIRST_BLOCK, ("(long long)blockIdx.x * columns", "0")),
    ),
)
