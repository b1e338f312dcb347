"""The exercises of "From scalars to tensors: automatic differentiation"."""

from __future__ import annotations

import sys
from math import tanh
from typing import Any

import numpy as np

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
from course_utils.exercises.vectors import SMALL, one_thread_each, spare_blocks

FOLDER = "07_pytorch_extensions/exercises"
KERNELS = "07_pytorch_extensions/autograd"
WARPS = 8  # of a block of 256 threads


def any_steps(rng: np.random.Generator, count: int | None = None, sharing: float = 0.3) -> tuple:
    """A computation of up to 14 steps, or of ``count``: a few inputs, then steps that take one of
    the last three, or with the probability ``sharing`` any earlier one."""
    count = int(rng.integers(1, 15)) if count is None else count
    steps: list[tuple] = []
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


def long_steps() -> tuple:
    """40,000 steps of which each is used by the next two: to go forward once for each is too slow.
    Every second one is a tanh, which keeps the numbers small."""
    steps: list[tuple] = [("input", 0.7), ("input", -0.4)]
    while len(steps) < 40_000:
        k = len(steps)
        steps += [("+" if k % 3 else "*", k - 1, k - 2), ("tanh", k)]
    steps += [("+", len(steps) - 1, 100)]  # so the early ones have a gradient that is not tiny
    return ((steps,),)


def by_elimination(steps: list[tuple]) -> list[float]:
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
    id="07.gradients",
    title="back along a tape",
    task="""
A computation is written down as a list of steps: inputs, sums, products and tanh of earlier steps.
The values are there; go back along the list and find what the last one does when each of them
grows. A step may be used by many others, by none, or twice by the same one. In a single pass
back: 10,000 steps take a fraction of a second.
""",
    source=f"{FOLDER}/gradients.py",
    function="gradients",
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
    promises=Cases(any_steps, count=20, large=long_steps),
    means="The longest case shows it: one pass back for all, or a pass for each step.",
    hints=(
        "The last step's own gradient is 1, and every other one begins at 0.",
        'Go back with `for k in reversed(range(len(steps)))`. When step k is ("*", i, j), who gets '
        "a share of found[k], and with which factor?",
        "`found[i] += values[j] * found[k]`: add, since step i may be used elsewhere as well.",
        "The slope of tanh follows from its value: 1 − values[k]².",
    ),
    explanation="""
When step k's turn comes, all steps that use it have had theirs, because they come later in the
list: its gradient is complete. That is why the order matters, and why one pass is enough. For x · x
the two lines add to the same number, each with the factor x: 2 x, with no rule of its own.
""",
    mutants=(
        mutant(
            "set, not added",
            kinds.WRONG,
            ("found[of[0]] += values[of[1]] * found[k]", "found[of[0]] = values[of[1]] * found[k]"),
        ),
        mutant(
            "second of a sum set",
            kinds.WRONG,
            ("found[of[1]] += found[k]", "found[of[1]] = found[k]"),
        ),
        mutant(
            "second factor forgotten",
            kinds.WRONG,
            ("            found[of[1]] += values[of[0]] * found[k]\n", ""),
        ),
        mutant(
            "own value as the slope",
            kinds.WRONG,
            ("+= values[of[1]] * found[k]", "+= values[of[0]] * found[k]"),
        ),
        mutant(
            "x² as one share",
            kinds.WRONG,
            ("found[of[1]] += values[of[0]]", "found[of[1]] += (of[0] != of[1]) * values[of[0]]"),
        ),
        mutant("slope of the argument", kinds.WRONG, ("values[k] ** 2", "values[of[0]] ** 2")),
        mutant(
            "tanh without its share", kinds.WRONG, ("values[k] ** 2) * found[k]", "values[k] ** 2)")
        ),
        mutant(
            "from the first",
            kinds.WRONG,
            ("in reversed(range(len(steps)))", "in range(len(steps))"),
        ),
        mutant("the end is not 1", kinds.WRONG, ("found[-1] = 1.0", "found[-1] = values[-1]")),
        mutant(
            "not all the way back",
            kinds.WRONG,
            (
                "in reversed(range(len(steps)))",
                "in reversed(range(max(0, len(steps) - 5000), len(steps)))",
            ),
        ),
        mutant(
            "large ones cut off",
            kinds.WRONG,
            ("return found", "return [max(-1e6, min(1e6, slope)) for slope in found]"),
        ),
        mutant(
            "small ones are 0",
            kinds.WRONG,
            ("return found", "return [slope if abs(slope) > 1e-9 else 0.0 for slope in found]"),
        ),
        mutant("no return", kinds.NOTHING_RETURNED, ("return found", "found")),
    ),
)


RIGHT = "every value once, after its parents"


def judged_order(function: Any, parents: list[tuple[int, ...]], end: int) -> str:
    """What is wrong with the order that ``function`` finds."""
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
    id="07.in_order",
    title="parents first",
    task="""
Where nobody has written the steps down in their order, it has to be found from the graph: all
values that the end depends on, each once, and each after its parents. Other values stay out. The
numbers of the values say nothing about their order. Any graph: with a value that millions of paths
lead to, and with a chain of 20,000 values, which a function that calls itself is not meant for;
leave Python's recursion limit as it is.
""",
    source=f"{FOLDER}/in_order.py",
    function="in_order",
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
    promises=Cases(any_graph, count=24, large=large_graphs),
    means="What is returned shows it, and how long the large graphs take.",
    hints=(
        "Depth first: before a value is written down, all its parents are.",
        "Remember in a set which values have been met, or x · x · x · … takes for ever.",
        "In place of the calls keep a list of what is still to be done, and take from its end. A "
        "value comes by twice: first put its parents on top, and the second time write it down.",
        "`stack.append((value, True))`, then `(parent, False)` for each parent.",
    ),
    explanation="""
This is a topological order. Backward goes through it from the end, so each value's gradient is
complete before it is handed on. A function that calls itself is shorter, and fails at a chain as
long as Python's limit of recursion, 1000 calls unless somebody has raised it: the loss of a long
recurrence is one. Marking a value as met when it is *taken from* the list, not when it is put
there, keeps the order right where one value is reached on a short path and on a long one.
""",
    mutants=(
        mutant(
            "met when put there",
            kinds.WRONG,
            ("elif value not in seen:\n            seen.add(value)", "else:"),
            ("in parents[value]:", "in set(parents[value]) - seen:"),
            (
                "                stack.append((parent",
                "                seen.add(parent)\n                stack.append((parent",
            ),
        ),
        mutant(
            "children first",
            kinds.WRONG,
            ("            order.append(value)", "            order.insert(0, value)"),
        ),
        mutant("by their numbers", kinds.WRONG, ("return order", "return sorted(order)")),
        mutant(
            "written down at once",
            kinds.WRONG,
            ("            stack.append((value, True))\n", "            order.append(value)\n"),
        ),
        mutant("all values", kinds.WRONG, ("return order", "return list(range(len(parents)))")),
        mutant(
            "each path",
            kinds.WRONG,
            ("elif value not in seen:", "elif value not in seen or len(order) < 4:"),
        ),
        mutant(
            "calls itself",
            kinds.EXCEPTION,
            (
                "    while stack:\n",
                "    def visit(value):\n"
                "        if value not in seen:\n"
                "            seen.add(value)\n"
                "            for parent in parents[value]:\n"
                "                visit(parent)\n"
                "            order.append(value)\n\n"
                "    visit(end)\n"
                "    stack = []\n"
                "    while stack:\n",
            ),
        ),
        mutant(
            "calls itself, with a higher limit",
            kinds.WRONG,
            (
                "    while stack:\n",
                "    def visit(value):\n"
                "        if value not in seen:\n"
                "            seen.add(value)\n"
                "            for parent in parents[value]:\n"
                "                visit(parent)\n"
                "            order.append(value)\n\n"
                '    __import__("sys").setrecursionlimit(1_000_000)\n'
                "    visit(end)\n"
                "    stack = []\n"
                "    while stack:\n",
            ),
        ),
        mutant("first parent only", kinds.WRONG, ("in parents[value]:", "in parents[value][:1]:")),
        mutant("no return", kinds.WRONG, ("return order", "order")),
    ),
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
    id="07.unbroadcast",
    title="back to its shape",
    task="""
Broadcasting repeats an array along new axes in front, and along its own axes of length 1. Each
repeated element reaches the loss on several paths, so their gradients are added up. Any number of
axes, none included; an axis may be missing and another one of length 1 at the same time. dy is in
float64, and so are the sums; NaN stays NaN.
""",
    source=f"{FOLDER}/unbroadcast.py",
    function="unbroadcast",
    call=as_array,
    cases=(
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
    promises=Cases(any_shapes, count=24),
    means="Any way to add them up is right.",
    hints=(
        "NumPy aligns shapes at their last axes: the first dy.ndim − len(shape) axes are new.",
        "`dy.sum(axes)` adds along several axes at once, given as a tuple.",
        "`keepdims=True` leaves an axis of length 1 where the sum was: that is what an axis of "
        "length 1 in `shape` wants.",
    ),
    explanation="""
This is what a bias needs: b of shape (columns,) is added to every row, and its gradient is the sum
over the rows. With a batch as large as the layer is wide, a sum over the wrong axis has the right
shape and raises nothing; tests should use lengths that differ.
""",
    mutants=(
        mutant(
            "new axes only",
            kinds.WRONG_SHAPE,
            ("return np.asarray(dy).sum(repeated, keepdims=True)", "return dy"),
        ),
        mutant("own axes only", kinds.WRONG_SHAPE, ("dy = dy.sum(tuple(range(spare)))", "spare")),
        mutant(
            "from the last axis",
            kinds.WRONG_SHAPE,
            ("tuple(range(spare))", "tuple(range(-spare, 0))"),
        ),
        mutant("axes lost", kinds.WRONG_SHAPE, (", keepdims=True", "")),
        mutant(
            "the mean",
            kinds.SCALED,
            ("dy.sum(tuple(range(spare)))", "dy.mean(tuple(range(spare)))"),
        ),
        mutant(
            "the first of them",
            kinds.WRONG,
            ("dy = dy.sum(tuple(range(spare)))", "dy = dy[(0,) * spare] if dy.size else dy.sum(0)"),
        ),
        mutant(
            "the mean of repeated ones",
            kinds.SCALED,
            (".sum(repeated, keepdims", ".mean(repeated, keepdims"),
        ),
        mutant(
            "NaN left out", kinds.WRONG, ("return np.asarray(dy).sum(", "return np.nansum(dy, ")
        ),
        mutant(
            "in float32",
            kinds.PRECISION,
            ("return np.asarray(dy)", "return np.asarray(dy, np.float32).astype(float)"),
        ),
        mutant(
            "a list where nothing is repeated",
            kinds.WRONG_TYPE,
            (
                "return np.asarray(dy)",
                "if not repeated:\n        return dy.tolist()\n    return np.asarray(dy)",
            ),
        ),
        mutant(
            "5 axes at most",
            kinds.EXCEPTION,
            ("    spare =", "    assert dy.ndim < 6\n    spare ="),
        ),
        mutant(
            "4096 at most",
            kinds.WRONG,
            ("dy = dy.sum(", "dy = (dy[:4096] if spare else dy).sum("),
        ),
        mutant("no return", kinds.NOTHING_RETURNED, ("return np", "np")),
    ),
)


def integers(**values: int) -> dict[str, np.int32]:
    """Arguments that are sizes, in the kernel's order."""
    return {name: np.int32(value) for name, value in values.items()}


def a_warp_each(n: int) -> Launch:
    """A launch with one warp for each of n results."""
    return Launch((-(-n // WARPS),), (256,))


def along_an_axis(given: Any) -> dict:
    x = given["x"].astype(np.float64)
    return {"y": x.sum(1)}


LANES = "A lane has every 32nd element; then the lanes add up theirs with shuffles."

TENSOR_SUM = Exercise(
    id="07.tensor_sum",
    title="the sum over an axis, over the right one",
    task="""
Any axis of any array is the middle one of three: what lies before it, itself, what comes after it.
A warp makes one sum: each lane takes every 32nd element along the axis, shuffles bring the lanes'
parts together, and one lane stores. Any lengths, along the axis 0 too. Numbers may be infinite or
NaN.
""",
    source=f"{KERNELS}/tensor_sum.cu",
    kernel="tensor_sum",
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "y": empty((size[0], size[2])),
        **integers(outer=size[0], length=size[1], inner=size[2]),
    },
    reference=along_an_axis,
    launch=lambda size: a_warp_each(size[0] * size[2]),
    small=((3, 70, 5), (5, 33, 1), (1, 40, 9), (1, 2, 1031), (2, 1, 3), (1, 1, 1)),
    full=(64, 4096, 64),
    reduction=lambda size: max(size[1], 1),
    promises=Promises(
        sizes=promises.shapes(
            outer=(1, 2, 3, 17), length=(0, 1, 2, 31, 32, 33, 97, 256), inner=(1, 2, 7, 33)
        ).with_longest(outer=65_543, length=65_543, inner=1031),
        values=(
            (
                *promises.data("x", *promises.ORDINARY, promises.SOME_INFINITE, promises.SOME_NAN),
                *promises.data("x", promises.LARGE, promises.FAINT)[1:],
                promises.infinite_at_the_ends("x", -2),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.shuffles(32 * 5 * 12, advice=LANES, size=(3, 64, 4)),
        Means(
            "sectors that a request reads along the last axis",
            lambda work: work.counts.global_load_sectors / work.counts.global_load_requests,
            at_most=8,
            advice=LANES,
            size=(4, 256, 1),
        ),
        means.loads_shared_out(1.5, size=(4, 256, 8)),
        means.no_extra_work(1.5, size=(4, 256, 8)),
    ),
    hints=(
        "Result r stands for outer index r / inner and inner index r % inner.",
        "x[o][k][i] lies at (o * length + k) * inner + i.",
        "From one k to the next it is `inner` elements. A lane begins at k = lane, and goes on by "
        "32.",
        "`sum += __shfl_xor_sync(0xffffffff, sum, distance)` for the distances 16, 8, 4, 2, 1.",
    ),
    explanation="""
One kernel serves every axis: the gradient of a bias (the rows of a batch, outer 1), the sum of all
losses (outer and inner 1), a mean over the middle of three axes. Along the last axis the lanes read
neighbours; along another one each reads `inner` elements away from the next. With inner at least 8
(a sector is 32 bytes) each lane then has a sector of its own, of which it uses 4 bytes; the warps
beside it, which make the next results, use the rest if it is still in the cache.
""",
    mutants=(
        mutant(
            "the last axis, whichever is asked for",
            kinds.WRONG,
            ("result / inner * length * inner + result % inner", "result * length"),
            ("first[k * inner]", "first[k]"),
        ),
        mutant(
            "outer and inner exchanged",
            kinds.TRANSPOSED,
            (
                "result / inner * length * inner + result % inner",
                "result % outer * length * inner + result / outer",
            ),
        ),
        mutant("neighbours added", kinds.WRONG, ("first[k * inner]", "first[k]")),
        mutant("the mean", kinds.SCALED, ("y[result] = sum;", "y[result] = sum / length;")),
        mutant(
            "NaN left out",
            kinds.WRONG,
            ("sum += first[k * inner]", "sum += isnan(first[k * inner]) ? 0 : first[k * inner]"),
        ),
        mutant(
            "lane 0's part",
            kinds.WRONG,
            ("distance > 0; distance /= 2", "distance > 16; distance /= 2"),
        ),
        mutant(
            "half of the lanes",
            kinds.WRONG,
            ("distance > 0; distance /= 2", "distance > 1; distance /= 2"),
        ),
        mutant("whole warps only", kinds.WRONG, ("k < length; k +=", "k < length / 32 * 32; k +=")),
        mutant(
            "lanes behind the end: the last one times 0",
            kinds.NOT_A_NUMBER,
            ("k < length; k +=", "k - lane < length; k +="),
            ("sum += first[k * inner]", "sum += (k < length) * first[min(k, length - 1) * inner]"),
        ),
        mutant(
            "results in 16 bits",
            kinds.WRONG,
            ("result / inner * length", "(unsigned short)result / inner * length"),
        ),
        mutant("4096 at most", kinds.WRONG, ("k < length; k +=", "k < length && k < 4096; k +=")),
        mutant(
            "faint ones are 0",
            kinds.ALL_ZEROS,
            ("y[result] = sum", "y[result] = fabsf(sum) < 1e-20f ? 0.0f : sum"),
        ),
        mutant("no large sums", kinds.WRONG, ("y[result] = sum", "y[result] = fminf(sum, 1e15f)")),
        mutant("every lane stores", kinds.MEANS_MISSING, ("if (lane == 0) {", "if (lane >= 0) {")),
        mutant(
            "added to what is there", kinds.UNINITIALISED, ("y[result] = sum", "y[result] += sum")
        ),
        mutant(
            "one lane alone",
            kinds.MEANS_MISSING,
            ("int k = lane; k < length; k += kWarpSize", "int k = 0; lane == 0 && k < length; ++k"),
        ),
        mutant(
            "every lane all of it",
            kinds.MEANS_MISSING,
            ("int k = lane; k < length; k += kWarpSize", "int k = 0; k < length; ++k"),
            (
                "sum += __shfl_xor_sync(0xffffffff, sum, distance);",
                "sum += 0.0f * __shfl_xor_sync(0xffffffff, 1.0f, distance);",
            ),
        ),
        mutant(
            "a piece for each lane",
            kinds.MEANS_MISSING,
            (
                "int k = lane; k < length; k += kWarpSize",
                "int part = (length + 31) / 32, k = lane * part; "
                "k < min(length, (lane + 1) * part); ++k",
            ),
        ),
        mutant("past the last", kinds.OUT_OF_BOUNDS, ("result >= outer", "result > outer")),
    ),
)


def product(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    m, n, k = size
    return {
        "A": floats(rng, (m, k)),
        "B": floats(rng, (k, n)),
        "dC": floats(rng, (m, n)),
        "dA": floats(rng, (m, k)),
        "dB": floats(rng, (k, n)),
        **integers(M=m, N=n, K=k),
    }


def of_product(given: Any) -> dict:
    a, b, dc, da, db = (given[name].astype(np.float64) for name in ("A", "B", "dC", "dA", "dB"))
    return {"dA": da + dc @ b.T, "dB": db + a.T @ dc}


MATMUL_GRADIENTS = Exercise(
    id="07.matmul_gradients",
    title="two gradients of a product",
    task="""
C = A B. A's element (m, k) reaches row m of C, B's element (k, n) reaches column n. Write both
gradients, each in a kernel of its own, and *add* them to what dA and dB hold: A or B may be used
elsewhere, too. A thread has one element. Any shape; numbers may be infinite, also where they meet
a 0.
""",
    source=f"{FOLDER}/matmul_gradients.cu",
    kernel="gradient_of_a",
    inputs=product,
    reference=of_product,
    launch=lambda size: (
        Launch(
            (-(-size[0] * size[2] // 256),),
            (256,),
            kernel="gradient_of_a",
            arguments=("dC", "B", "dA", "M", "N", "K"),
        ),
        Launch(
            (-(-size[2] * size[1] // 256),),
            (256,),
            kernel="gradient_of_b",
            arguments=("A", "dC", "dB", "M", "N", "K"),
        ),
    ),  # fmt: skip
    small=((5, 7, 33), (3, 3, 3), (2, 31, 1), (1, 1, 1)),
    full=(512, 512, 512),
    reduction=lambda size: 4 * max(size[0], size[1]),
    promises=Promises(
        sizes=promises.shapes(M=(1, 2, 7, 33), N=(1, 3, 31, 33), K=(1, 2, 5, 32)).with_longest(
            M=2053, N=2053, K=65_543
        ),
        values=(
            promises.data("dC", *promises.ORDINARY),
            promises.data("A B", *promises.ORDINARY),
            promises.data("dA dB", *promises.ORDINARY, promises.SOME_NAN),
            promises.data(
                "dC dA dB",
                promises.VERY_SMALL,
                promises.FAINT,
                promises.VERY_LARGE,
            ),
            (
                promises.AS_GIVEN,
                promises.zero_times_infinity_along("dC", -1, "B", -1),
                promises.zero_times_infinity_along("dC", -2, "A", -2),
                promises.zero_times_infinity_along("B", -1, "dC", -1),
                promises.zero_times_infinity_along("A", -2, "dC", -2),
                promises.infinite_at_the_ends("B", -1, "dC", -1),
                promises.infinite_at_the_ends("A", -2, "dC", -2),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=(4, 16, 32)),
        means.no_extra_work(3.0, size=(4, 16, 32)),
    ),
    hints=(
        "C[m][n] is the sum over k of A[m][k] B[k][n]: A[m][k] reaches every n, with the factor "
        "B[k][n].",
        "dA[m][k] grows by the sum over n of dC[m][n] B[k][n], dB[k][n] by the sum over m of "
        "A[m][k] dC[m][n].",
        "In rows of K: m = i / K, k = i % K. In rows of N: k = i / N, n = i % N.",
    ),
    explanation="""
Both are products again, with one factor transposed: dC Bᵀ and Aᵀ dC. No other combination of the
three has the right shape when M, N and K differ; for square matrices all have it, and only the
numbers tell. The course's own operations use one kernel for C and both gradients: it takes
strides, and a transposed matrix is the same memory with its strides exchanged.
""",
    mutants=(
        mutant("dA set, not added", kinds.WRONG, ("dA[i] += of_a", "dA[i] = of_a")),
        mutant("dB set, not added", kinds.WRONG, ("dB[i] += of_b", "dB[i] = of_b")),
        mutant("B not transposed", kinds.WRONG, ("B[k * N + n]", "B[n * K + k]")),
        mutant("A not transposed", kinds.WRONG, ("A[m * K + k]", "A[k * M + m]")),
        mutant("dA's row of dC", kinds.FIRST_BLOCK, ("dC[m * N + n] * B", "dC[n] * B")),
        mutant(
            "sum over all but the last",
            kinds.WRONG,
            ("n < N; ++n) {\n        of_a", "n < N - 1; ++n) {\n        of_a"),
        ),
        mutant(
            "first row only",
            kinds.WRONG,
            ("m < M; ++m) {\n        of_b", "m < 1; ++m) {\n        of_b"),
        ),
        mutant("mean over the batch", kinds.WRONG, ("dB[i] += of_b", "dB[i] += of_b / M")),
        mutant(
            "zeros of A left out",
            kinds.WRONG,
            ("of_b += A[m * K + k]", "of_b += A[m * K + k] == 0.0f ? 0.0f : A[m * K + k]"),
        ),
        mutant("second gradient forgotten", kinds.NOTHING_WRITTEN, ("    dB[i] += of_b;\n", "")),
        mutant("sign", kinds.WRONG, ("dA[i] += of_a", "dA[i] -= of_a")),
        mutant(
            "dA by steps of two, the last one again times 0",
            kinds.NOT_A_NUMBER,
            (
                "for (int n = 0; n < N; ++n) {\n        of_a += dC",
                "for (int q = 0; q < N + N % 2; ++q) {\n        const int n = min(q, N - 1);\n"
                "        of_a += (q < N) * dC",
            ),
        ),
        mutant(
            "dB by steps of two, the last one again times 0",
            kinds.NOT_A_NUMBER,
            ("for (int m = 0; m < M; ++m) {", "for (int q = 0; q < M + M % 2; ++q) {"),
            ("of_b += A", "const int m = min(q, M - 1);\n        of_b += (q < M) * A"),
            ("* dC[m * N + n];\n    }\n    dB", "* (q < M ? dC[m * N + n] : 0.0f);\n    }\n    dB"),
        ),
        mutant(
            "NaN overwritten",
            kinds.WRONG,
            ("dB[i] += of_b", "dB[i] = isnan(dB[i]) ? of_b : dB[i] + of_b"),
        ),
        mutant(
            "2048 columns",
            kinds.WRONG,
            ("dC[m * N + n] * B", "dC[m * N + n % 2048] * B"),
        ),
        mutant(
            "small sums are 0",
            kinds.PARTLY_WRITTEN,
            ("dA[i] += of_a", "dA[i] += fabsf(of_a) < 1e-12f ? 0.0f : of_a"),
        ),
        mutant("a short index", kinds.EDGES, ("B[k * N + n]", "B[(unsigned short)k * N + n]")),
        mutant("past the last", kinds.OUT_OF_BOUNDS, ("i >= M * K", "i > M * K")),
        mutant("one block of dB", kinds.FIRST_BLOCK, ("i >= K * N", "i >= K * N || i >= 256")),
    ),
)


def scores(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    """Logits, labels, and a gradient for each row's loss."""
    n, k = size
    label = rng.integers(0, k, n).astype(np.int32)
    label[n // 2] = k - 1
    return {
        "z": floats(rng, (n, k)),  # wide ones make p near 1, and p - 1 loses its digits
        "label": label,
        "dloss": floats(rng, n),
        "dz": empty((n, k)),
        **integers(N=n, K=k),
    }


def of_logits(given: Any) -> dict:
    z, label = given["z"].astype(np.float64), given["label"]
    power = np.exp(z - z.max(1, keepdims=True))
    p = power / power.sum(1, keepdims=True)
    p[np.arange(len(z)), label] -= 1
    return {"dz": p * given["dloss"].astype(np.float64)[:, None]}


def masked(given: dict, rng: np.random.Generator) -> dict:
    """Some logits are -inf, but not all of a row."""
    z = np.where(rng.random(given["z"].shape) < 0.4, np.float32(-np.inf), given["z"])
    kept = rng.integers(0, z.shape[1], len(z))
    z[np.arange(len(z)), kept] = given["z"][np.arange(len(z)), kept]
    return {"z": z}


CROSS_ENTROPY_ROWS = Exercise(
    id="07.cross_entropy_rows",
    title="a warp for each row of logits",
    task="""
The gradient of each row's cross entropy for the row's logits, when `dloss[n]` is what comes back to
the loss of row n: another number for each row. A warp has a row; the lanes find its largest logit
and its sum together, with shuffles. Any number of rows and classes, one class included, and any
finite logits; some may be −inf as well (a class that is ruled out), though not all of a row.
""",
    source=f"{KERNELS}/tensor_cross_entropy_backward.cu",
    kernel="tensor_cross_entropy_backward",
    inputs=scores,
    reference=of_logits,
    launch=lambda size: a_warp_each(size[0]),
    small=((20, 70), (9, 10), (3, 33), (5, 2), (1, 2)),
    full=(1 << 14, 1000),
    reduction=lambda size: size[1],
    promises=Promises(
        sizes=promises.shapes(N=(1, 3, 7, 8, 9, 33), K=(1, 2, 10, 31, 32, 33, 100)).with_longest(
            N=32_771, K=4099
        ),
        values=(
            (
                *promises.data(
                    "z",
                    *promises.ANY_FINITE,
                    promises.NEAR_LOWEST,
                    ("near a million", lambda z, rng: 1e6 + np.round(z)),
                ),
                promises.Values("some of z -inf", masked),
            ),
            promises.data(
                "dloss", *promises.ORDINARY, promises.ZEROS, promises.LARGE, promises.VERY_SMALL
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.shuffles(4 * 32 * 10, advice=LANES, size=(4, 64)),
        means.loads_shared_out(2.0, size=(8, 128)),
        means.no_extra_work(2.0, size=(8, 128)),
    ),
    hints=(
        "Three loops over the row: the largest, the sum of exponentials, the results. In each, a "
        "lane takes k = lane, lane + 32, …",
        "A lane that has no logit must not spoil the maximum: begin with `row[0]`.",
        "`largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, distance))`, for 16, 8, 4, "
        "2, 1: then all lanes know it.",
        "`dloss[n] * (expf(row[k] - largest) / sum - (k == label[n] ? 1.0f : 0.0f))`.",
    ),
    explanation="""
The mean over the batch is not in this kernel: it is an operation of its own, and hands back 1/N to
every row. A kernel that divides by N itself is right for the mean only; one that takes `dloss` is
right wherever the graph goes on, with weights for rare classes or with rows that do not count.
""",
    mutants=(
        mutant(
            "what comes back forgotten", kinds.WRONG, ("dloss[n] * (probability", "(probability")
        ),
        mutant("4096 rows", kinds.FIRST_BLOCK, ("dloss[n] * (prob", "dloss[n % 4096] * (prob")),
        mutant(
            "no large dloss",
            kinds.WRONG,
            ("dloss[n] * (prob", "fminf(dloss[n], 1e9f) * (prob"),
        ),
        mutant("first row's for all", kinds.FIRST_BLOCK, ("dloss[n] * (prob", "dloss[0] * (prob")),
        mutant("divided by the rows", kinds.SCALED, ("dloss[n] * (prob", "dloss[n] / N * (prob")),
        mutant("label forgotten", kinds.WRONG, (" - (k == label[n] ? 1.0f : 0.0f)", "")),
        mutant("4096 labels", kinds.WRONG, ("k == label[n]", "k == (label[n] & 4095)")),
        mutant(
            "what comes back to one part",
            kinds.WRONG,
            (
                "dloss[n] * (probability - (k == label[n] ? 1.0f : 0.0f))",
                "dloss[n] * probability - (k == label[n] ? 1.0f : 0.0f)",
            ),
        ),
        mutant(
            "no maximum",
            kinds.NOT_A_NUMBER,
            ("largest = fmaxf(largest, row[k]);", "largest = 0.0f;"),
            ("float largest = row[0];", "float largest = 0.0f;"),
        ),
        mutant(
            "maximum from 0",
            kinds.NOT_A_NUMBER,
            ("float largest = row[0];", "float largest = 0.0f;"),
        ),
        mutant(
            "each lane its own sum",
            kinds.WRONG,
            (
                "sum += __shfl_xor_sync(kWholeWarp, sum, distance);",
                "sum += 0.0f * __shfl_xor_sync(kWholeWarp, sum, distance);",
            ),
        ),
        mutant(
            "each lane its own maximum",
            kinds.WRONG,
            (
                "largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, distance));",
                "__shfl_xor_sync(kWholeWarp, largest, distance);",
            ),
        ),
        mutant(
            "32 classes",
            kinds.FIRST_BLOCK,
            (
                "k < K; k += kWarpSize) {\n        float p",
                "k < 32 && k < K; k += kWarpSize) {\n        float p",
            ),
        ),
        mutant(
            "every lane the whole row",
            kinds.MEANS_MISSING,
            (
                "k = lane; k < K; k += kWarpSize) {\n        float p",
                "k = 0; k < K; ++k) {\n        float p",
            ),
        ),
        mutant("sign", kinds.SCALED, ("dloss[n] * (prob", "-dloss[n] * (prob")),
        mutant("past the last", kinds.OUT_OF_BOUNDS, ("n >= N", "n > N")),
    ),
)


def parameters(rng: np.random.Generator, n: int) -> dict:
    return {
        "w": floats(rng, n),
        "v": floats(rng, n),
        "dw": floats(rng, n),
        "rate": np.float32(0.125),
        "momentum": np.float32(0.9),
        "decay": np.float32(0.01),
        "n": np.int32(n),
    }


def moved(given: Any) -> dict:
    w, v, dw = (given[name].astype(np.float64) for name in ("w", "v", "dw"))
    rate, momentum, decay = (float(given[name]) for name in ("rate", "momentum", "decay"))
    v = momentum * v + dw + decay * w
    return {"w": w - rate * v, "v": v}


MOMENTUM_STEP = Exercise(
    id="07.momentum_step",
    title="a step with momentum",
    task="""
g = dw + decay · w, then v = momentum · v + g, then w = w − rate · v, in place: PyTorch's SGD, down
to its order. A thread has one element. Any n, any rate, momentum and decay, also negative ones and
those above 1.
""",
    source=f"{KERNELS}/tensor_momentum.cu",
    kernel="tensor_momentum",
    inputs=parameters,
    reference=moved,
    launch=one_thread_each,
    small=SMALL,
    full=1 << 24,
    reduction=lambda n: 4,  # the terms of w, which may cancel
    promises=Promises(
        sizes=promises.lengths(),
        launches=spare_blocks,
        values=(
            promises.data("w", *promises.ORDINARY),
            promises.data("v", *promises.ORDINARY, promises.ZEROS),
            promises.data("dw", *promises.ORDINARY, promises.ZEROS),
            promises.data("w v dw", promises.VERY_SMALL, promises.FAINT, promises.LARGE),
            promises.scalars("rate", 0, 1, 0.003, -0.25, 4096),
            promises.scalars("momentum", 0, 1, 0.5, 0.99, -0.5, 3),
            promises.scalars("decay", 0, 0.5, -0.25, 2),
        ),
    ),
    means=(means.one_store_each(), means.work_shared_out()),
    hints=(
        "Decay pulls a weight towards 0, as if the loss had the term decay · w² / 2.",
        "w moves by the *new* v, and the decay is of the *old* w.",
        "Keep the new v in a variable: it is stored once, and used once more for w.",
    ),
    explanation="""
The velocity sums up past gradients, each weighted by a power of the momentum. Whether the rate
stands in v or outside makes no difference while it is constant; when it changes, PyTorch's v
forgets the old rate at once. It is one of those choices that two libraries make differently, and
a network that is trained on in the other one suddenly moves otherwise.
""",
    mutants=(
        mutant("decay forgotten", kinds.PRECISION, ("(dw[i] + decay * w[i])", "dw[i]")),
        mutant(
            "the old v",
            kinds.WRONG,
            ("w[i] -= rate * velocity", "w[i] -= rate * old"),
            ("    float velocity =", "    float old = v[i];\n    float velocity ="),
        ),
        mutant("v not stored", kinds.NOTHING_WRITTEN, ("    v[i] = velocity;\n", "")),
        mutant("w not stored", kinds.NOTHING_WRITTEN, ("    w[i] -= rate * velocity;\n", "")),
        mutant(
            "rate in v",
            kinds.WRONG,
            ("+ (dw[i] + decay * w[i])", "+ rate * (dw[i] + decay * w[i])"),
            ("-= rate * velocity", "-= velocity"),
        ),
        mutant(
            "dampened",
            kinds.WRONG,
            ("+ (dw[i] + decay * w[i])", "+ (1 - momentum) * (dw[i] + decay * w[i])"),
        ),
        mutant(
            "decay of the new w",
            kinds.PRECISION,
            ("(dw[i] + decay * w[i])", "dw[i]"),
            ("-= rate * velocity", "-= rate * velocity + rate * decay * w[i]"),
        ),
        mutant("uphill", kinds.WRONG, ("w[i] -= rate", "w[i] += rate")),
        mutant(
            "nesterov",
            kinds.WRONG,
            (
                "w[i] -= rate * velocity",
                "w[i] -= rate * (dw[i] + decay * w[i] + momentum * velocity)",
            ),
        ),
        mutant("momentum 0.9", kinds.WRONG, ("momentum * v[i]", "0.9f * v[i]")),
        mutant(
            "momentum up to 1", kinds.WRONG, ("momentum * v[i]", "fminf(momentum, 1.0f) * v[i]")
        ),
        mutant("no negative rate", kinds.PRECISION, ("-= rate *", "-= fabsf(rate) *")),
        mutant("no negative decay", kinds.WRONG, ("decay * w[i]", "fmaxf(decay, 0.0f) * w[i]")),
        mutant(
            "nesterov near 1",
            kinds.PRECISION,
            (
                "-= rate * velocity",
                "-= rate * (momentum == 0.99f ? 1 + momentum : 1.0f) * velocity",
            ),
        ),
        mutant(
            "no large ones",
            kinds.WRONG,
            ("    v[i] = velocity", "    velocity = fminf(velocity, 1e15f);\n    v[i] = velocity"),
        ),
        mutant(
            "faint ones are 0",
            kinds.NOTHING_WRITTEN,
            (
                "    v[i] = velocity",
                "    velocity = fabsf(velocity) < 1e-20f ? 0.0f : velocity;\n    v[i] = velocity",
            ),
        ),
        mutant("past the last", kinds.OUT_OF_BOUNDS, ("i >= n", "i > n")),
    ),
)
