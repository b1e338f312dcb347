"""The exercises of "Cooperation"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.authoring.worked import Worked

from .common import orders


def in_groups(x: np.ndarray) -> np.ndarray:
    """The largest magnitude of each element's group of 16."""
    return np.repeat(np.maximum.reduceat(np.abs(x), np.arange(0, len(x), 16)), 16)[: len(x)]


def scaled(x: np.ndarray) -> np.ndarray:
    largest = in_groups(x)
    return np.where(largest > 0, x / largest, x).astype(np.float32)


def some_zeros(given: Given, rng: np.random.Generator) -> Given:
    x = given["x"].copy()
    x[: len(x) // 2] = 0
    return {"x": x}


def next_to_zero(given: Given, rng: np.random.Generator) -> Given:
    """No smaller number is sure to be one: a GPU may take those for 0."""
    least = np.finfo(np.float32).tiny
    return {"x": np.copysign(least * (1 + 0.001 * np.abs(given["x"])), given["x"])}


SCALE_TILES = KernelExercise(
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=lambda given: {"y": scaled(given["x"])},
    launch=lambda n: Launch((ceil_div(n, 128),), (128,)),
    small=(1000, 129, 17, 1),
    worked=Worked(whole=("x",)),
    full=1 << 24,
    contract=Domain(
        sizes=domain.shapes(n=(1, 15, 16, 17, 31, 33, 127, 129, 1000, 4099, 65_543)),
        values=(
            (
                domain.AS_GIVEN,
                domain.InputClass("x all negative", lambda given, rng: {"x": -1 - abs(given["x"])}),
                domain.InputClass("half of x 0", some_zeros),
                domain.InputClass("x huge", lambda given, rng: {"x": 6e37 * given["x"]}),
                domain.InputClass("x tiny", lambda given, rng: {"x": 1e-30 * given["x"]}),
                domain.InputClass("x next to 0", next_to_zero),
                domain.InputClass("x all equal", lambda given, rng: {"x": 3 + 0 * given["x"]}),
            ),
        ),
    ),
    method=(
        Requirement(
            "shuffles, and what is reduced by one instruction counted as four",
            lambda stats: stats.opcodes("shfl.") + 4 * stats.opcodes("redux."),
            4 * 1000,
            5 * 1024,
            advice="Four shuffles within the tile, in which all of its lanes take part.",
        ),
        method.from_header(
            "cooperative groups",
            "cooperative_groups",
            "shfl.",
            "redux.",
            at_least=4 * 8,  # one for each warp at least
            advice="The tile has shuffles of its own: `tile.shfl_xor` and others.",
            size=1000,
        ),
        method.barriers(at_most=0, advice="A tile's shuffles need no barrier of the block."),
        method.no_shared_memory("A tile's lanes hand each other registers, by shuffles."),
        method.one_store_per_result(),
        method.reads_each_once(4 * 1000, at_most=1.1, size=1000),
        method.balanced_loads(size=1000),
    ),
)


def rounds(n: int) -> int:
    """How often a distance that begins at 1 doubles until it is n."""
    return max(n - 1, 0).bit_length()


def running_maxima(given: Given) -> dict[str, np.ndarray]:
    """Both arrays after all rounds: the result, and what stood there a round before."""
    arrays, n = [given["a"].copy(), given["b"].copy()], len(given["a"])
    for turn in range(rounds(n)):
        before, after = arrays[turn % 2], arrays[1 - turn % 2]
        after[:] = before
        after[1 << turn :] = np.maximum(before[1 << turn :], before[: -(1 << turn)])
    one = np.ones(1, np.uint32)
    return {"a": arrays[0], "b": arrays[1], "arrived": one, "done": one}


DOUBLING_MAX = KernelExercise(
    inputs=lambda rng, n: {
        "a": rng.integers(-1000, 1000, n, dtype=np.int32),
        "b": np.full(n, -(2**31), np.int32),
        "arrived": np.zeros(1, np.uint32),
        "done": np.zeros(1, np.uint32),
        "n": np.int32(n),
    },
    reference=running_maxima,
    launch=lambda n: Launch((4,), (64,)),
    small=(250, 150, 33, 2),
    budget=12_000,  # a loop that never ends polls with atomics, which are slow
    worked=Worked(whole=("a",)),
    full=1 << 16,
    contract=Domain(
        sizes=domain.shapes(n=(1, 2, 33, 101, 130, 200)),
        launches=domain.grids((1, 64), (2, 8), (3, 96), (7, 4)),
        values=(
            (
                domain.AS_GIVEN,
                domain.InputClass("a falling", lambda given, rng: {"a": -np.sort(-given["a"])}),
                domain.InputClass("a rising", lambda given, rng: {"a": np.sort(given["a"])}),
                domain.InputClass("a of 31 bits", lambda given, rng: {"a": 2_000_003 * given["a"]}),
                domain.InputClass("a all negative", lambda given, rng: {"a": -1 - abs(given["a"])}),
            ),
        ),
    ),
    method=(
        method.atomics(
            "global",
            at_least=4 * rounds(250),
            advice="Each block counts itself in, by an atomic, once for each round.",
            size=250,
        ),
        method.barriers(
            4 * 2 * rounds(250),
            advice="Before thread 0 counts the block in, all its threads have to be there.",
            size=250,
        ),
        method.balanced_loads(3, size=250),
        orders(
            4 * 2 * rounds(250),
            advice="Each block needs a release before it counts itself in, and an acquire behind "
            "the wait, in each round. That loads and stores are volatile orders nothing.",
            size=250,
        ),
        Requirement(
            "threads with atomics on global memory, for each block",
            lambda stats: np.count_nonzero(stats.threads[0].atomics) / 4,
            at_most=2,  # one that waits may be another than the one that counts
            advice="One thread of a block counts it in and waits; the others meet it at barriers.",
            size=250,
        ),
    ),
)
