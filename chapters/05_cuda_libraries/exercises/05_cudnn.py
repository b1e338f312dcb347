"""The exercises of "cuDNN"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

# --- A layout ---


def place_by_numpy(C: int, H: int, W: int, v: int, n: int, c: int, h: int, w: int) -> int:
    """The place in an array whose axes are those of the layout."""
    shape = n + 1, ceil_div(C, v), H, W, v
    return int(np.ravel_multi_index((n, c // v, h, w, c % v), shape))


def any_element(rng: np.random.Generator) -> tuple[int, ...]:
    C, H, W = (int(x) for x in rng.integers(1, (70, 14, 14)))
    v = int(rng.choice((int(rng.integers(1, 14)), 32, 64, C)))
    return C, H, W, v, *(int(rng.integers(0, most)) for most in (50, C, H, W))


VECTOR_PLACE = PythonExercise(
    cases=(
        (4, 2, 3, 1, 1, 3, 1, 2),
        (4, 2, 3, 4, 1, 3, 1, 2),
        (4, 2, 3, 2, 0, 2, 0, 0),
        (8, 3, 5, 4, 1, 6, 2, 1),
        (5, 3, 2, 4, 2, 4, 1, 1),
        (3, 2, 7, 4, 1, 2, 1, 5),
        (64, 7, 7, 32, 3, 40, 6, 2),
        (1, 1, 1, 1, 0, 0, 0, 0),
        (7, 2, 3, 5, 4, 6, 1, 2),
        (100, 3, 2, 64, 9, 99, 2, 1),
        (129, 1, 2, 128, 2, 128, 0, 1),
        (64, 28, 28, 32, 5, 40, 27, 27),
        (64, 28, 28, 32, 70_000, 40, 27, 27),
        (1, 2, 3, 1 << 24, 3, 0, 1, 2),
        ((1 << 24) + 1, 1, 2, 1 << 24, 3, 1 << 24, 0, 1),
    ),
    reference=place_by_numpy,
    contract=DrawnCases(any_element),
)

# --- The extents of a result ---


def shape_by_places(
    x_shape: Any, w_shape: Any, pad: Any, stride: Any, dilation: Any, groups: Any
) -> Any:
    """The places at which a filter can start, counted."""
    (N, C, *image), (K, channels, *taps) = x_shape, w_shape
    if channels * groups != C or K % groups != 0:
        return 0, 0, 0, 0
    sides = []
    for n, r, p, s, d in zip(image, taps, pad, stride, dilation, strict=True):
        starts = [at for at in range(-p, n + p, s) if at + d * (r - 1) < n + p]
        if not starts:
            return 0, 0, 0, 0
        sides.append(len(starts))
    return N, K, *sides


def any_convolution(rng: np.random.Generator) -> tuple[Any, ...]:
    def pair(*values: int) -> tuple[int, int]:
        return tuple(int(x) for x in rng.choice(values, 2))  # type: ignore[return-value]

    groups, channels, filters = (int(x) for x in rng.choice((1, 1, 2, 3, 4), 3))
    C, K = groups * channels, groups * filters
    if rng.random() < 0.15:
        C, K = C + int(rng.integers(0, 2)), K + int(rng.integers(0, 2))
    x_shape = int(rng.integers(1, 70)), C, *pair(1, 2, 5, 8, 13, *range(20, 60))
    w_shape = K, channels, *pair(1, 2, 3, 3, 5, 6, 8)
    return x_shape, w_shape, pair(0, 1, 2, 3, 7), pair(1, 2, 3, 4, 7), pair(1, 1, 2, 4, 6), groups


ONE, TWO, NONE = (1, 1), (2, 2), (0, 0)
CONV_SHAPE = PythonExercise(
    cases=(
        ((2, 3, 8, 9), (5, 3, 3, 3), ONE, ONE, ONE, 1),
        ((2, 3, 8, 9), (5, 3, 3, 3), NONE, TWO, ONE, 1),
        ((1, 4, 10, 7), (6, 2, 3, 5), (0, 2), (1, 2), (2, 1), 2),
        ((1, 8, 12, 12), (8, 1, 3, 3), TWO, ONE, TWO, 8),
        ((1, 4, 5, 5), (4, 4, 3, 3), ONE, ONE, ONE, 2),
        ((1, 4, 5, 5), (3, 2, 3, 3), ONE, ONE, ONE, 2),
        ((1, 1, 2, 9), (1, 1, 3, 3), NONE, ONE, ONE, 1),
        ((1, 1, 2, 9), (1, 1, 3, 3), NONE, TWO, ONE, 1),
        ((1, 1, 4, 4), (1, 1, 3, 3), NONE, ONE, TWO, 1),
        ((1, 1, 5, 5), (1, 1, 3, 3), NONE, (3, 3), TWO, 1),
        ((1, 1, 3, 3), (1, 1, 3, 3), NONE, TWO, ONE, 1),
        ((3, 1, 1, 1), (1, 1, 1, 1), NONE, ONE, ONE, 1),
        ((1, 6, 1, 4), (2, 6, 1, 4), NONE, (5, 5), (9, 1), 1),
        ((1, 2, 28, 2), (2, 2, 5, 2), (1, 0), (3, 1), (3, 3), 1),
        ((1, 5, 5, 5), (4, 2, 3, 3), ONE, ONE, ONE, 2),
        ((1, 1, 1, 2), (1, 1, 2, 3), ONE, ONE, ONE, 1),
        ((2, 6, 224, 301), (32, 3, 11, 7), (5, 21), (4, 9), (5, 12), 2),
    ),
    reference=shape_by_places,
    contract=DrawnCases(any_convolution),
)

# --- What a fused convolution computes ---

TAPS = tuple(product(range(3), repeat=2))


def for_grouped(rng: np.random.Generator, size: tuple[int, ...]) -> Given:
    """``size`` is (N, groups, channels and filters of a group, H, W, stride, dilation)."""
    N, groups, channels, filters, H, W, stride, dilation = size
    C, K = groups * channels, groups * filters
    OH, OW = ((n - 1) // stride + 1 for n in (H, W))
    return {
        "x": floats(rng, (N, H, W, C)),
        "w": floats(rng, (K, 3, 3, channels)),
        "bias": floats(rng, K),
        "z": floats(rng, (N, OH, OW, K)),
        "y": empty((N, OH, OW, K)),
        **int32s(N=N, C=C, H=H, W=W, K=K, groups=groups, stride=stride, dilation=dilation),
    }


def windows(given: Given) -> Iterator[tuple[int, int, np.ndarray]]:
    """(r, s, the pixels under that tap) for each tap, in float64."""
    d, s = int(given["dilation"]), int(given["stride"])
    x = np.pad(given["x"].astype(np.float64), ((0, 0), (d, d), (d, d), (0, 0)))
    H, W = int(given["H"]), int(given["W"])
    for row, column in TAPS:
        yield row, column, x[:, row * d : row * d + H : s, column * d : column * d + W : s]


def grouped(given: Given) -> dict[str, np.ndarray]:
    groups = int(given["groups"])
    inside = windows({**given, "x": np.ones_like(given["x"])})
    w = given["w"].astype(np.float64)
    total = given["z"].astype(np.float64) + given["bias"]
    parts = np.split(np.zeros(total.shape), groups, axis=-1)
    for (row, column, pixels), (_, _, there) in zip(windows(given), inside, strict=True):
        each = zip(
            parts,
            np.split(pixels, groups, axis=-1),
            np.split(w[:, row, column], groups),
            strict=True,
        )
        for part, of_x, of_w in each:
            part += np.where(there[..., :1] > 0, of_x @ of_w.T, 0)
    total += np.concatenate(parts, axis=-1)
    return {"y": np.where(total > 0, total, total / 8)}


def results(size: tuple[int, ...]) -> int:
    N, groups, _, filters, H, W, stride, _ = size
    return N * groups * filters * ceil_div(H, stride) * ceil_div(W, stride)


def infinite_corner(given: Given, rng: np.random.Generator) -> Given:
    """Taps of one filter's first corner are infinite: above and left of the image they meet none
    of its numbers."""
    w = given["w"].copy()
    w[rng.integers(len(w)), 0, 0] = np.inf
    return {"w": w}


COUNTED = (1, 2, 2, 2, 12, 16, 1, 1)
GROUPED_CONV = KernelExercise(
    inputs=for_grouped,
    reference=grouped,
    launch=lambda size: Launch((ceil_div(results(size), 128),), (128,)),
    small=(
        (2, 2, 2, 3, 5, 7, 1, 1),
        (1, 3, 1, 1, 6, 5, 2, 1),
        (1, 1, 3, 4, 7, 6, 1, 2),
        (1, 2, 2, 2, 13, 23, 5, 11),
        (1, 1, 1, 1, 1, 1, 1, 1),
    ),
    worked=Worked(size=(1, 1, 1, 1, 2, 3, 1, 1), whole=("w",), values={"bias": (-24,)}),
    axes={"y": ("image", "row", "column", "channel")},
    full=(64, 4, 16, 16, 56, 56, 1, 1),
    reduction=lambda size: 9 * size[2],
    contract=Domain(
        sizes=domain.shapes(
            N=(1, 2, 3),
            groups=(1, 2, 5),
            channels=(1, 2, 4),
            filters=(1, 3),
            H=(1, 2, 5),
            W=(1, 3, 9),
            stride=(1, 2, 3),
            dilation=(1, 2, 7),
        ).with_outlier(
            N=19, groups=11, channels=131, filters=2003, H=67, W=11_003, stride=11, dilation=25
        ),
        values=(
            domain.data("x", domain.NEGATIVE, domain.POSITIVE, domain.TIES),
            domain.data("z", domain.NEGATIVE, domain.POSITIVE, domain.SMALL),
            (
                domain.AS_GIVEN,
                InputClass("a weight of a corner infinite", infinite_corner),
                domain.zeros_and_infinities("w", "x"),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.a_thread_each(size=COUNTED),
        method.balanced_work(size=COUNTED),
        method.no_redundant_work(2.0, size=COUNTED),
    ),
)

# --- Virtual tensors ---

CONV = [(("x", "w"), "c"), (("c", "bias"), "b"), (("b",), "y")]
BYTES = {"x": 400, "w": 36, "c": 800, "bias": 8, "b": 800, "y": 800, "z": 800}


def bytes_by_kernel(operations: Any, bytes_of: Any, wanted: Any) -> Any:
    """Each kernel's reads and writes listed, then added up."""
    apart, in_one = [], set()
    made: set[str] = set()
    for inputs, output in operations:
        apart += [*dict.fromkeys(inputs), output]
        in_one |= {("read", name) for name in inputs if name not in made}
        made.add(output)
        if output in wanted:
            in_one.add(("write", output))
    return sum(bytes_of[name] for name in apart), sum(bytes_of[name] for _, name in in_one)


def any_graph(rng: np.random.Generator) -> tuple[Any, ...]:
    given, count = int(rng.integers(1, 4)), int(rng.integers(1, 12))
    names = [f"t{i}" for i in rng.permutation(given + count)]
    operations = []
    for known in range(given, given + count):
        inputs = tuple(str(name) for name in rng.choice(names[:known], int(rng.integers(1, 5))))
        operations.append((inputs, names[known]))
    sizes = {name: 4 * int(rng.integers(1, 6)) for name in names}
    return operations, sizes, {name for name in names if rng.random() < 0.4}


GRAPH_BYTES = PythonExercise(
    cases=(
        (CONV, BYTES, {"y"}),
        (CONV, BYTES, {"y", "c"}),
        ([*CONV[:2], (("b", "z"), "y")], BYTES, {"y"}),
        ([(("x", "x"), "c")], BYTES, {"c"}),
        ([(("x",), "b"), (("x", "b"), "y")], BYTES, {"y"}),
        ([(("x",), "b"), (("x", "b"), "y")], BYTES, {"y", "x"}),
        ([(("x",), "b"), (("b", "b"), "c"), (("c", "b"), "y")], BYTES, {"b", "y"}),
        ([(("x",), "b"), (("w",), "y")], BYTES, {"y"}),
        ([*CONV[:2], (("b", "z"), "y")], BYTES, {"b"}),
        ([(("b", "c"), "y"), (("y", "z", "c"), "x")], BYTES, {"x"}),
        (CONV, BYTES, {"c", "b", "y"}),
        (CONV, BYTES, set()),
    ),
    reference=bytes_by_kernel,
    contract=DrawnCases(any_graph),
)

# --- An engine ---

TC, ROUNDED, LOOSE, FFT = "tensor cores", "inputs rounded", "not deterministic", "FFT"
WORDS = TC, ROUNDED, LOOSE, FFT, "FFT of tiles", "compiled at run time"
TIMED = [
    (0.9, 0, {TC, ROUNDED}),
    (1.4, 300, {LOOSE}),
    (1.5, 200, set()),
    (1.5, 100, {FFT}),
    (None, 0, set()),
    (1.5, 100, set()),
    (2.5, 0, set()),
]


def best_engine(engines: Any, workspace_bytes: Any, refused: Any) -> Any:
    best = None
    for place, (ms, needed, notes) in enumerate(engines):
        if ms is None or needed > workspace_bytes or any(note in refused for note in notes):
            continue
        if best is None or (ms, needed) < best[0]:
            best = (ms, needed), place
    return -1 if best is None else best[1]


def any_engines(rng: np.random.Generator) -> tuple[Any, ...]:
    engines = [
        (
            None if rng.random() < 0.15 else float(rng.choice((0.5, 1.0, 1.0004, 40.0))),
            int(rng.choice((0, 64, 128, 400_000_000))),
            {word for word in WORDS if rng.random() < 0.2},
        )
        for _ in range(int(rng.integers(0, 30)))
    ]
    room = int(rng.choice((0, 64, 100, 400_000_000)))
    return engines, room, {word for word in WORDS if rng.random() < 0.3}


PICK_ENGINE = PythonExercise(
    cases=(
        (TIMED, 1000, set()),
        (TIMED, 1000, {TC}),
        (TIMED, 200, {TC}),
        (TIMED, 200, {ROUNDED, LOOSE}),
        (TIMED, 100, {ROUNDED, LOOSE, FFT}),
        (TIMED, 50, {TC, ROUNDED}),
        (TIMED, 0, {TC}),
        (TIMED[:2], 100, {TC}),
        ([], 100, set()),
        ([(0.0, 0, set()), (0.5, 0, set())], 0, set()),  # shorter than the clock's step
        ([(None, 0, set())], 100, set()),
        ([(2.0, 5, set()), (2.0, 5, set())], 5, {TC}),
        ([(None, 0, set()), (3e30, 10**15, set())], 10**15, {TC}),
        ([(0.4824, 64, set()), (0.4821, 10**9, set())], 10**9, {TC}),
        ([(1.5, 0, {"FFT of tiles"}), (1.6, 0, {"strict about NaN"})], 0, {FFT}),
        ([(1.5, 0, {"FFT of tiles"}), (1.6, 0, {"strict about NaN"})], 0, {"FFT of tiles"}),
        ([(1.5, 0, set())] * 20 + [(1.4, 0, set())], 0, set()),
    ),
    reference=best_engine,
    contract=DrawnCases(any_engines),
)
