"""The exercises of "Divergence and fusion"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import AS_GIVEN, Domain, DrawnCases, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise, Target
from course_utils.exercises.authoring.vectors import FULL, SMALL, one_thread_each, spare_blocks
from course_utils.exercises.authoring.worked import Worked


def after_rounds(given: Given) -> dict[str, np.ndarray]:
    """The two series of 04.one_way, in float64."""
    x, rounds = given["x"].astype(np.float64), int(given["rounds"])
    first, second = x, x
    for _ in range(rounds):
        first = 0.95 * first + 1.0
    for _ in range(rounds + 8):
        second = 0.9 * second - 1.0
    return {"y": np.where(x < 0, second, first)}


def warp_instructions_per_warp(warps: int) -> Callable[[Counts], float]:
    """The cost per warp of a launch of ``warps`` warps."""
    return lambda counts: counts.warp_instructions / warps


ONE_WAY = KernelExercise(
    inputs=lambda rng, n: {"x": 4 * floats(rng, n), "y": empty(n), **int32s(rounds=16, n=n)},
    reference=after_rounds,
    launch=one_thread_each,
    small=SMALL,
    worked=Worked(  # a round makes 96, 39 and 58 of the larger ones, and -10 stays
        size=5, values={"x": (100, -10, 40, 0, 60), "rounds": 1}
    ),
    full=FULL,
    reduction=lambda n: 600,  # up to 308 rounds, each with a factor that is rounded
    contract=Domain(
        sizes=domain.lengths(),
        launches=spare_blocks,
        values=(
            domain.data(
                "x", domain.ZEROS_OF_BOTH_SIGNS, domain.SMALLEST_NORMAL, *domain.ANY_FINITE
            ),
            domain.scalars("rounds", 0, 1, 7, 17, 300),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=1024),
        method.instructions(
            "multiplications with an addition",
            "fma.",
            "mul.",
            at_least=16 * 1024,
            advice="The rounds stay: each is a product and a sum.",
            size=1024,
        ),
    ),
    target=Target(
        label="instructions of a warp",
        measure=warp_instructions_per_warp(32),
        at_most=90,
        advice="Choose rounds, factor and term first, with `?:`; then one loop for all threads.",
        size=1024,
    ),
)


def any_chain(rng: np.random.Generator) -> tuple[int, list[tuple[str, ...]]]:
    """One to twelve links, each of which reads up to three arrays; some names begin alike."""
    names = np.array(["x", "X", "x2", "bias", "bias_2", "scale"])

    def link() -> tuple[str, ...]:
        return tuple(map(str, rng.permutation(names)[: rng.integers(4)]))

    links = [link() for _ in range(rng.integers(1, 13))]
    return int(2 ** rng.uniform(0, 70)), links


CHAIN_BYTES = PythonExercise(
    cases=(
        (1000, [("x",), (), (), ("x",)]),
        (257, [("x",)]),
        (10, [("x", "y")]),
        (1 << 20, [("x",), ("bias",), ("x", "residual"), ("bias",)]),
        (7, [("a", "b"), ("c",), (), (), ()]),
        (100, [(), ("x",)]),
        (3, [("x",), *[(f"bias{k}", "x") for k in range(200)]]),
        (5, [("x",), *[()] * 300]),
        (0, [("x",), ()]),
        (1000, [(), ()]),
    ),
    contract=DrawnCases(any_chain),
    reference=lambda n, links: (
        4 * n * (sum(map(len, links)) + 2 * len(links) - 1),
        4 * n * (len({name for names in links for name in names}) + 1),
    ),
)


WALK_DOWN = KernelExercise(
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "y": empty((size[0] - 2, size[1])),
        **int32s(rows=size[0], columns=size[1]),
    },
    reference=lambda given: {
        "y": (x := given["x"].astype(np.float64))[:-2] + x[1:-1] + x[2:],
    },
    launch=lambda size: Launch((ceil_div(size[1], 64), ceil_div(size[0] - 2, 8)), (64,)),
    small=((21, 70), (10, 64), (4, 3), (3, 1)),
    full=(8192, 8192),
    reduction=lambda size: 3,
    contract=Domain(
        sizes=domain.shapes(rows=(3, 4, 9, 10, 11, 67, 131), columns=(1, 2, 63, 64, 65, 257)),
        launches=lambda size: tuple(
            Launch((ceil_div(size[1], 64) + right, ceil_div(size[0] - 2, 8) + below), (64,))
            for right, below in ((0, 1), (1, 0), (0, 0))
        ),
        values=(domain.data("x", *domain.ORDINARY, domain.SOME_NAN, domain.SOME_INFINITE),),
    ),
    method=(method.one_store_per_result(), method.balanced_work(size=(34, 128))),
    target=Target(
        label="loads for each result",
        measure=lambda counts: counts.global_load_bytes / 4 / (32 * 128),
        at_most=1.4,
        advice="The results are right. The next result needs two of the three elements again: keep "
        "them in variables.",
        size=(34, 128),
    ),
)


def gradient_inputs(rng: np.random.Generator, n: int) -> Given:
    x = 2 * floats(rng, n)
    return {
        "dy": floats(rng, n),
        "x": x,
        "s": (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32),
        "dx": empty(n),
        "n": np.int32(n),
    }


def silu_gradient(given: Given) -> dict[str, np.ndarray]:
    dy, x = given["dy"].astype(np.float64), given["x"].astype(np.float64)
    s = np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x)))  # overflows for no x
    return {"dx": dy * s * (1 + x * (1 - s))}


def far_from_zero(given: Given, rng: np.random.Generator) -> Given:
    """x where s is 1 or 0 as a float, and exp(x) or exp(-x) infinite."""
    x = given["x"]
    return {"x": np.copysign(200 + 1e4 * np.abs(x), x)}


def not_so_far(given: Given, rng: np.random.Generator) -> Given:
    """x where s is hardly less than 1, or more than 0, and that little counts."""
    return {"x": np.copysign(rng.uniform(8, 15, len(given["x"])), given["x"])}


def cancelled_by_dy(given: Given, rng: np.random.Generator) -> Given:
    """x where s is next to nothing, and dy so large that dx is not."""
    x = -rng.uniform(20, 60, len(given["x"]))
    return {"x": x, "dy": np.exp(-x) * rng.uniform(0.5, 1, len(x))}


FAR = "x far from 0, on either side"
NEVER_STORED = InputClass(
    "s never stored", lambda given, rng: {"s": np.full_like(given["s"], np.nan)}
)

SILU_BACKWARD = KernelExercise(
    inputs=gradient_inputs,
    reference=silu_gradient,
    launch=one_thread_each,
    small=SMALL,
    worked=Worked(
        size=5,
        values={
            "x": (-2, 1, 0, -1, 2),
            "s": (0.11920292, 0.73105858, 0.5, 0.26894142, 0.88079708),  # 1 / (1 + exp(-x))
            "dy": (3, 1, -2, 4, 2),
        },
    ),
    full=FULL,
    reduction=lambda n: 16,
    contract=Domain(
        sizes=domain.lengths(),
        launches=spare_blocks,
        values=(
            (
                *domain.data("x", domain.POSITIVE, domain.NEGATIVE, domain.ZEROS),
                *domain.data("x", domain.RISING, domain.SMALL),
                InputClass(FAR, far_from_zero),
                InputClass("x from 8 to 15, on either side", not_so_far),
                InputClass(
                    "x near the largest float", lambda g, rng: {"x": np.copysign(1e38, g["x"])}
                ),
                InputClass("x from -60 to -20, dy about exp(-x)", cancelled_by_dy),
                InputClass(
                    "x from -15 to -8", lambda g, rng: {"x": -rng.uniform(8, 15, len(g["x"]))}
                ),
            ),
            domain.data("dy", domain.NEGATIVE, domain.HUGE, domain.SMALL),
            (AS_GIVEN, NEVER_STORED),
        ),
    ),
    method=(method.one_store_per_result(), method.balanced_work(size=1024)),
    target=Target(
        label="bytes loaded and stored for an element",
        measure=lambda counts: (counts.global_load_bytes + counts.global_store_bytes) / 1024,
        at_most=12.0,
        advice="x and dy have to be read and dx written. s follows from x, which is there already.",
        size=1024,
    ),
)


def any_choice(rng: np.random.Generator) -> tuple[int, int, int, int, int, float, float]:
    """One that is not near a tie."""
    while True:
        given = (
            int(2 ** rng.uniform(0, 33)),
            int(rng.integers(4, 33)),
            int(rng.choice((1, 2, 4, 8))),
            int(rng.choice((0, 0, 4, 16))),
            int(2 ** rng.uniform(0, 10)),
            float(rng.choice((2e11, 1e12, 4e12))),
            float(rng.choice((5e12, 2e13, 6e13))),
        )
        _, stored, again = the_choice(*given)
        if not 0.999 < stored / again < 1.001:
            return given


def the_choice(
    n: int, moved: int, stored: int, extra: int, flops: int, bandwidth: float, peak: float
) -> tuple[str, float, float]:
    """The choice, and the seconds of storing and of recomputing."""
    store = n * (moved + 2 * stored) / bandwidth
    again = max(n * (moved + extra) / bandwidth, n * flops / peak)
    return ("store" if store < again else "recompute"), store, again


STORE_OR_RECOMPUTE = PythonExercise(
    cases=(
        (10**9, 8, 1, 0, 20, 4e12, 6e13),
        (10**9, 8, 1, 0, 200, 4e12, 6e13),
        (1000, 8, 4, 16, 1, 1e12, 2e13),
        (1, 12, 4, 4, 1000, 1e12, 5e12),
        (1 << 20, 8, 2, 4, 2, 2.0**40, 2.0**44),  # a tie
        (1 << 28, 8, 4, 0, 24, 4e12, 6e13),
        (10**7, 4, 8, 4, 600, 1e12, 2e13),
    ),
    reference=the_choice,
    contract=DrawnCases(any_choice),
    start="Which of the two times differs? Follow a stored byte from pass to pass, and ask whether "
    "memory waits for the arithmetic.",
)


def closed(given: Given) -> dict[str, np.ndarray]:
    """The largest of three neighbours, then the smallest of three of those, in a ring."""
    x = given["x"]
    m = np.maximum(np.maximum(np.roll(x, 1), x), np.roll(x, -1))
    return {"y": np.minimum(np.minimum(np.roll(m, 1), m), np.roll(m, -1))}


CLOSING = KernelExercise(
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=closed,
    launch=one_thread_each,
    small=(1000, 257, 31, 5, 2, 1),
    full=FULL,
    contract=Domain(sizes=domain.lengths(), values=(domain.data("x", *domain.ANY_ORDERED),)),
    method=(method.one_store_per_result(), method.balanced_work(size=1024)),
    target=Target(
        label="bytes loaded and stored for an element",
        measure=lambda counts: (counts.global_load_bytes + counts.global_store_bytes) / 1024,
        at_most=24.0,
        advice="Five different x are needed. Load each into a variable of its own, then compute.",
        size=1024,
    ),
)


def few_negative(rng: np.random.Generator, n: int) -> Given:
    """One in sixteen is negative, wherever chance puts it."""
    x = np.abs(floats(rng, n)) + np.float32(0.01)
    x[rng.random(n) < 1 / 16] *= -1
    return {"x": x, "y": empty(n), "n": np.int32(n)}


def long_way(given: Given) -> dict[str, np.ndarray]:
    """After 32 rounds of v = sqrt(v v + 1), v v has grown by 32; or it has overflowed in the
    first."""
    x = given["x"].astype(np.float64)
    square = np.where(x * x > np.finfo(np.float32).max, np.inf, x * x)
    return {"y": np.where(x < 0, np.sqrt(square + 32), x)}


def negative_block(given: Given, rng: np.random.Generator) -> Given:
    """All numbers of the first block are negative."""
    x = given["x"].copy()
    x[:256] = -np.abs(x[:256]) - np.float32(0.01)
    return {"x": x}


GATHER_THE_FEW = KernelExercise(
    inputs=few_negative,
    reference=long_way,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    reduction=lambda n: 32,
    contract=Domain(
        sizes=domain.shapes(n=(*domain.LENGTHS, 70_001)),
        launches=spare_blocks,
        values=(
            (
                *domain.data(
                    "x",
                    domain.ZEROS_OF_BOTH_SIGNS,
                    domain.LARGE_NEGATIVE,
                    domain.SOME_NAN,
                    domain.SMALLEST_NORMAL,
                    domain.SOME_INFINITE,
                    *domain.ORDINARY,
                ),
                InputClass("x with one negative block", negative_block),
            ),
        ),
    ),
    method=(
        method.atomics(
            "shared", at_least=8, advice="An atomic gives out the slots of the list.", size=2048
        ),
        method.shared_memory(
            4 * 64, advice="The indices of the few are in a list in shared memory.", size=2048
        ),
        method.one_store_per_result(),
        method.instructions(
            "square roots",
            "sqrt.",
            at_least=2048,  # 32 for each of about 128
            advice="The rounds of the long computation stay: only who does them changes.",
            size=2048,
        ),
    ),
    target=Target(
        label="instructions of a warp, on average",
        measure=warp_instructions_per_warp(64),
        at_most=70,
        advice="The numbers are right. In the long loop, all lanes of the first warp should work "
        "and no other warp at all.",
        size=2048,
    ),
)
