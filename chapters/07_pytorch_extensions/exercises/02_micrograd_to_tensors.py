"""The exercises of "From micrograd to tensors"."""

from __future__ import annotations

import sys
from dataclasses import replace
from math import tanh
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.exact_formulas import in_float64
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.vectors import SMALL, one_thread_each, spare_blocks

KERNELS = "07_pytorch_extensions/autograd"
WARPS = 8  # of a block of 256 threads


def any_steps(
    rng: np.random.Generator, count: int | None = None, sharing: float = 0.3
) -> tuple[Any, ...]:
    """A computation of up to 14 steps, or of ``count``: a few inputs, then steps that take one of
    the last three, or with the probability ``sharing`` any earlier one."""
    count = int(rng.integers(1, 15)) if count is None else count
    steps: list[tuple[Any, ...]] = []
    for k in range(count):
        if k < 2 or rng.random() < 0.15:
            steps.append(("input", float(rng.uniform(-1.5, 1.5))))
            continue
        first, second = (
            int(rng.integers(0 if rng.random() < sharing else max(k - 3, 0), k)) for _ in range(2)
        )
        name = str(rng.choice(["+", "*", "tanh"]))
        steps.append((name, first) if name == "tanh" else (name, first, second))
    return (steps,)


def long_steps() -> tuple[Any, ...]:
    """16,000 steps of which each is used by the next two: to go forward once for each is too slow.
    Every second one is a tanh, which keeps the numbers small."""
    steps: list[tuple[Any, ...]] = [("input", 0.7), ("input", -0.4)]
    while len(steps) < 16_000:
        k = len(steps)
        steps += [("+" if k % 3 else "*", k - 1, k - 2), ("tanh", k)]
    steps += [("+", len(steps) - 1, 100)]  # so the early ones have a gradient that is not tiny
    return ((steps,),)


def by_elimination(steps: list[tuple[Any, ...]]) -> list[float]:
    """From a matrix of slopes, a row for each step, by elimination from the end."""
    values: list[float] = []
    slopes: list[dict[int, float]] = []
    for name, *of in steps:
        row: dict[int, float] = {}
        if name == "input":
            values.append(of[0])
        elif name == "tanh":
            values.append(tanh(values[of[0]]))
            row[of[0]] = 1 - values[-1] ** 2
        else:
            a, b = of
            values.append(values[a] + values[b] if name == "+" else values[a] * values[b])
            for one, other in ((a, b), (b, a)):
                row[one] = row.get(one, 0.0) + (1.0 if name == "+" else values[other])
        slopes.append(row)
    found = np.zeros(len(steps))
    found[-1] = 1
    for k in range(len(steps) - 1, -1, -1):
        for i, slope in slopes[k].items():
            found[i] += slope * found[k]
    return found.tolist()


GRADIENTS = PythonExercise(
    cases=(
        ([("input", 3.0), ("input", -2.0), ("*", 0, 1)],),
        ([("input", 3.0), ("*", 0, 0)],),
        ([("input", 0.5), ("tanh", 0), ("+", 1, 1), ("*", 2, 0)],),
        ([("input", 2.0), ("input", 5.0), ("*", 0, 1), ("+", 2, 0), ("*", 3, 2)],),
        ([("input", 4.0)],),
        ([("input", 1.0), ("input", 2.0), ("+", 0, 0), ("tanh", 1)],),
        ([("input", -300.0), ("*", 0, 0), ("*", 1, 1), ("*", 2, 0), ("tanh", 0), ("+", 3, 4)],),
        ([("input", 1e-12), ("input", 1e-8), ("*", 0, 1), ("*", 2, 2)],),
    ),
    reference=by_elimination,
    seconds=6.0,
    contract=DrawnCases(any_steps, count=20, large=long_steps),
)


RIGHT = "every value once, after its parents"


def judged_order(function: Any, parents: list[tuple[int, ...]], end: int) -> str:
    """The sentence on the order that ``function`` finds."""
    limit = sys.getrecursionlimit()
    found = function(list(parents), end)
    if sys.getrecursionlimit() != limit:
        return "a list, but Python's recursion limit was changed"
    if not isinstance(found, list):
        return f"a {type(found).__name__}, not a list"
    if found[-1:] != [end]:
        return f"a list that does not end with {end}"
    place: dict[int, int] = {}
    for k, value in enumerate(found):
        if not isinstance(value, int) or not 0 <= value < len(parents):
            return f"{value!r} is no value"
        if value in place:
            return f"{value} twice"
        for parent in parents[value]:
            if place.get(parent, k) >= k:
                return f"{value} before its parent {parent}"
        place[value] = k
    needed, stack = {end}, [end]
    while stack:
        new = set(parents[stack.pop()]) - needed
        needed |= new
        stack += new
    spare = sorted(set(place) - needed)
    return f"{spare[0]}, which {end} does not depend on" if spare else RIGHT


def shuffled(
    rng: np.random.Generator, parents: list[tuple[int, ...]], end: int
) -> tuple[list[tuple[int, ...]], int]:
    """The same graph under other numbers."""
    new = rng.permutation(len(parents)).tolist()
    renamed: list[tuple[int, ...]] = [()] * len(parents)
    for value, of in enumerate(parents):
        renamed[new[value]] = tuple(new[k] for k in of)
    return renamed, new[end]


def any_graph(rng: np.random.Generator) -> tuple[list[tuple[int, ...]], int]:
    n = int(rng.integers(1, 13))
    parents = [
        tuple(int(k) for k in rng.integers(0, value, int(rng.integers(0, 4)))) if value else ()
        for value in range(n)
    ]
    return shuffled(rng, parents, n - 1 if rng.random() < 0.7 else int(rng.integers(n)))


def large_graphs() -> list[tuple[list[tuple[int, ...]], int]]:
    """A chain deeper than Python's stack, and squares of squares: 2^60 paths to the leaf."""
    rng = np.random.default_rng(5)
    squares = [(), *((k, k) for k in range(60))]
    chain: list[tuple[int, ...]] = [(), *((k,) for k in range(20_000))]
    ladder = [(), (0,), *((k - 1, k - 2) for k in range(2, 500))]
    return [
        (squares, 60),
        shuffled(rng, ladder, len(ladder) - 1),
        shuffled(rng, chain, len(chain) - 1),
    ]


IN_ORDER = PythonExercise(
    call=judged_order,
    cases=(
        ([(), (), (0, 1)], 2),
        ([(1,), (2,), ()], 0),
        ([(), (0, 0), (1, 0), ()], 2),
        ([(3, 2), (), (1,), (2, 1)], 0),
        ([()], 0),
        ([(), (0,), (0,), (1, 2)], 1),
    ),
    reference=lambda parents, end: RIGHT,
    seconds=10.0,
    contract=DrawnCases(any_graph, count=24, large=large_graphs),
)


def as_array(function: Any, dy: np.ndarray, shape: tuple[int, ...]) -> Any:
    """The answer as an array: NumPy's sum to shape () is a number."""
    found = function(dy, shape)
    return np.asarray(found) if isinstance(found, np.generic) else found


def element_by_element(dy: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Each element of dy is added to the one that it was made of."""
    found = np.zeros(shape)
    for place in np.ndindex(dy.shape):
        own = place[dy.ndim - len(shape) :]
        found[tuple(0 if n == 1 else k for k, n in zip(own, shape, strict=True))] += dy[place]
    return found


def any_shapes(rng: np.random.Generator) -> tuple[np.ndarray, tuple[int, ...]]:
    """dy of up to four axes, and a shape that broadcasts to its shape."""
    full = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 5))))
    own = full[int(rng.integers(0, len(full) + 1)) :]
    shape = tuple(1 if rng.random() < 0.4 else n for n in own)
    return rng.standard_normal(full), shape


def some(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


UNBROADCAST = PythonExercise(
    call=as_array,
    shows=lambda dy, shape: {"dy": dy, "shape": shape},
    cases=(
        (np.arange(6.0).reshape(2, 3), (3,)),
        (some(1, 3, 4), (4,)),
        (some(2, 3, 4), (3, 1)),
        (some(3, 3, 4), (3, 4)),
        (some(4, 3, 3), (3,)),
        (some(5, 2, 3, 4), (1, 4)),
        (some(6, 3, 4), ()),
        (some(7, 3, 1), (1, 1)),
        (some(8, 2, 3, 2), (2, 1, 2)),
        (some(9), ()),
        (some(10, 0, 3), (3,)),
        (some(11, 0, 3), (1, 3)),
        (some(12, 2, 1, 3, 2, 1, 2, 2), (3, 1, 1, 2, 1)),
        (1e100 * some(13, 9001, 2), (2,)),
        (np.array([[1.0, np.nan, 2.0], [3.0, 4.0, np.inf]]), (2, 1)),
    ),
    reference=element_by_element,
    rtol=1e-11,
    contract=DrawnCases(any_shapes, count=24),
)


def a_warp_each(n: int) -> Launch:
    """A launch with one warp for each of n results."""
    return Launch((ceil_div(n, WARPS),), (256,))


def along_an_axis(given: Any) -> dict[str, np.ndarray]:
    x = given["x"].astype(np.float64)
    return {"y": x.sum(1)}


LANES = "A lane has every 32nd element; then the lanes add up theirs with shuffles."

TENSOR_SUM = KernelExercise(
    source=f"{KERNELS}/tensor_sum.cu",
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "y": empty((size[0], size[2])),
        **int32s(outer=size[0], length=size[1], inner=size[2]),
    },
    reference=along_an_axis,
    launch=lambda size: a_warp_each(size[0] * size[2]),
    small=((3, 70, 5), (5, 33, 1), (1, 40, 9), (1, 2, 1031), (2, 1, 3), (1, 1, 1)),
    axes={"y": ("outer", "inner")},
    full=(64, 4096, 64),
    reduction=lambda size: max(size[1], 1),
    contract=Domain(
        sizes=domain.shapes(
            outer=(1, 2, 3, 17), length=(0, 1, 2, 31, 32, 33, 97, 256), inner=(1, 2, 7, 33)
        ).with_outlier(outer=65_543, length=65_543, inner=1031),
        values=(
            (
                *domain.data("x", *domain.ORDINARY, domain.SOME_INFINITE, domain.SOME_NAN),
                *domain.data("x", domain.LARGE, domain.FAINT)[1:],
                domain.infinite_at_the_ends("x", -2),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.shuffles(32 * 5 * 12, advice=LANES, size=(3, 64, 4)),
        method.coalesced(
            "load",
            at_most=8,
            advice=LANES,
            size=(4, 256, 1),
        ),
        method.balanced_loads(1.5, size=(4, 256, 8)),
        method.no_redundant_work(1.5, size=(4, 256, 8)),
    ),
)


def product(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    m, n, k = size
    return {
        "A": floats(rng, (m, k)),
        "B": floats(rng, (k, n)),
        "dC": floats(rng, (m, n)),
        "dA": floats(rng, (m, k)),
        "dB": floats(rng, (k, n)),
        **int32s(M=m, N=n, K=k),
    }


def of_product(given: Any) -> dict[str, np.ndarray]:
    a, b, dc, da, db = in_float64(given, "A", "B", "dC", "dA", "dB")
    return {"dA": da + dc @ b.T, "dB": db + a.T @ dc}


MATMUL_GRADIENTS = KernelExercise(
    kernel="gradient_of_a",
    inputs=product,
    reference=of_product,
    launch=lambda size: (
        Launch(
            (ceil_div(size[0] * size[2], 256),),
            (256,),
            kernel="gradient_of_a",
            arguments=("dC", "B", "dA", "M", "N", "K"),
        ),
        Launch(
            (ceil_div(size[2] * size[1], 256),),
            (256,),
            kernel="gradient_of_b",
            arguments=("A", "dC", "dB", "M", "N", "K"),
        ),
    ),  # fmt: skip
    small=((5, 7, 33), (3, 3, 3), (2, 31, 1), (1, 1, 1)),
    full=(512, 512, 512),
    reduction=lambda size: 4 * max(size[0], size[1]),
    contract=Domain(
        sizes=domain.shapes(M=(1, 2, 7, 33), N=(1, 3, 31, 33), K=(1, 2, 5, 32)).with_outlier(
            M=2053, N=2053, K=65_543
        ),
        values=(
            domain.data("dC", *domain.ORDINARY),
            domain.data("A B", *domain.ORDINARY),
            domain.data("dA dB", *domain.ORDINARY, domain.SOME_NAN),
            domain.data("dC dA dB", domain.VERY_SMALL, domain.FAINT, domain.VERY_LARGE),
            (
                domain.AS_GIVEN,
                domain.zero_times_infinity_along("dC", -1, "B", -1),
                domain.zero_times_infinity_along("dC", -2, "A", -2),
                domain.zero_times_infinity_along("B", -1, "dC", -1),
                domain.zero_times_infinity_along("A", -2, "dC", -2),
                domain.infinite_at_the_ends("B", -1, "dC", -1),
                domain.infinite_at_the_ends("A", -2, "dC", -2),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=(4, 16, 32)),
        method.no_redundant_work(3.0, size=(4, 16, 32)),
    ),
)


def scores(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """Logits, labels, and a gradient for each row's loss."""
    n, k = size
    label = rng.integers(0, k, n).astype(np.int32)
    label[n // 2] = k - 1
    return {
        "z": floats(rng, (n, k)),  # wide ones make p near 1, and p - 1 loses its digits
        "label": label,
        "dloss": floats(rng, n),
        "dz": empty((n, k)),
        **int32s(N=n, K=k),
    }


def of_logits(given: Any) -> dict[str, np.ndarray]:
    z, label = given["z"].astype(np.float64), given["label"]
    power = np.exp(z - z.max(1, keepdims=True))
    p = power / power.sum(1, keepdims=True)
    p[np.arange(len(z)), label] -= 1
    return {"dz": p * given["dloss"].astype(np.float64)[:, None]}


def unlikely_labels(given: Any) -> np.ndarray:
    """The labels, but the row's least likely class where the label's probability is near 1: there
    p - 1 has lost its digits in fp32, and right answers differ in the few that are left."""
    z = given["z"].astype(np.float64)
    power = np.exp(z - z.max(1, keepdims=True))
    p = power / power.sum(1, keepdims=True)
    rows = np.arange(len(z))
    least = np.where(z.shape[1] > 1, p.argmin(1), 0)
    return np.where(p[rows, given["label"]] > 0.9, least, given["label"]).astype(np.int32)


def with_unlikely_labels(each: domain.InputClass) -> domain.InputClass:
    """``each``, with labels whose gradient has its digits."""

    def change(given: Any, rng: np.random.Generator) -> Given:
        changed = dict(each.change(given, rng))
        return {**changed, "label": unlikely_labels({**given, **changed})}

    return replace(each, change=change)


def masked(given: Given, rng: np.random.Generator) -> Given:
    """Some logits are -inf, but not all of a row."""
    z = np.where(rng.random(given["z"].shape) < 0.4, np.float32(-np.inf), given["z"])
    kept = rng.integers(0, z.shape[1], len(z))
    z[np.arange(len(z)), kept] = given["z"][np.arange(len(z)), kept]
    return {"z": z}


CROSS_ENTROPY_ROWS = KernelExercise(
    source=f"{KERNELS}/tensor_cross_entropy_backward.cu",
    kernel="tensor_cross_entropy_backward",
    inputs=scores,
    reference=of_logits,
    launch=lambda size: a_warp_each(size[0]),
    small=((20, 70), (9, 10), (3, 33), (5, 2), (1, 2)),
    axes={"dz": ("row", "class")},
    full=(1 << 14, 1000),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(N=(1, 3, 7, 8, 9, 33), K=(1, 2, 10, 31, 32, 33, 100)).with_outlier(
            N=8209, K=4099
        ),
        values=(
            tuple(
                with_unlikely_labels(each)
                for each in (
                    *domain.data(
                        "z",
                        *domain.ANY_FINITE,
                        domain.AT_LOWEST,
                        ("near a million", lambda z, rng: 1e6 + np.round(z)),
                    ),
                    domain.InputClass("some of z -inf", masked),
                )
            ),
            domain.data("dloss", *domain.ORDINARY, domain.ZEROS, domain.LARGE, domain.VERY_SMALL),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.shuffles(4 * 32 * 10, advice=LANES, size=(4, 64)),
        method.balanced_loads(2.0, size=(8, 128)),
        method.no_redundant_work(2.0, size=(8, 128)),
    ),
)


def parameters(rng: np.random.Generator, n: int) -> Given:
    return {
        "w": floats(rng, n),
        "v": floats(rng, n),
        "dw": floats(rng, n),
        "rate": np.float32(0.125),
        "momentum": np.float32(0.9),
        "decay": np.float32(0.01),
        "n": np.int32(n),
    }


def moved(given: Any) -> dict[str, np.ndarray]:
    w, v, dw = in_float64(given, "w", "v", "dw")
    rate, momentum, decay = (float(given[name]) for name in ("rate", "momentum", "decay"))
    v = momentum * v + dw + decay * w
    return {"w": w - rate * v, "v": v}


SMALL_RATE = domain.InputClass(
    "rate = 1e-9, v about 1e10",
    lambda given, rng: {"rate": 1e-9, "v": 1e10 * rng.standard_normal(len(given["v"]))},
)

MOMENTUM_STEP = KernelExercise(
    source=f"{KERNELS}/tensor_momentum.cu",
    kernel="tensor_momentum",
    inputs=parameters,
    reference=moved,
    launch=one_thread_each,
    small=SMALL,
    full=1 << 24,
    reduction=lambda n: 4,  # the terms of w, which may cancel
    contract=Domain(
        sizes=domain.lengths(),
        launches=spare_blocks,
        values=(
            domain.data("w", *domain.ORDINARY),
            domain.data("v", *domain.ORDINARY, domain.ZEROS),
            domain.data("dw", *domain.ORDINARY, domain.ZEROS),
            domain.data("w v dw", domain.VERY_SMALL, domain.FAINT, domain.LARGE),
            (*domain.scalars("rate", 0, 1), SMALL_RATE, *domain.scalars("rate", -0.25, 4096)[1:]),
            domain.scalars("momentum", 0, 1, 0.5, 0.99, -0.5, 3),
            domain.scalars("decay", 0, 0.5, -0.25, 2),
        ),
    ),
    method=(method.one_store_per_result(), method.balanced_work()),
)
