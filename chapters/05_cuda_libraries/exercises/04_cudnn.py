"""The exercises of "cuDNN"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
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

# --- A layout ---


def place_by_numpy(C: int, H: int, W: int, v: int, n: int, c: int, h: int, w: int) -> int:
    """The place in an array whose axes are those of the layout."""
    shape = n + 1, -(-C // v), H, W, v
    return int(np.ravel_multi_index((n, c // v, h, w, c % v), shape))


def any_element(rng: np.random.Generator) -> tuple[int, ...]:
    C, H, W = (int(x) for x in rng.integers(1, (70, 14, 14)))
    v = int(rng.choice((rng.integers(1, 14), 32, 64, C)))
    return C, H, W, v, *(int(rng.integers(0, most)) for most in (50, C, H, W))


VECTOR_PLACE = PythonExercise(
    id="05.vector_place",
    title="a layout with vectors",
    task="""
cuDNN's kernels for integers want a third layout, NC/vHWv: v neighbouring channels of a pixel lie
side by side, 4 of them or 32, and one load fetches them. Find the place of an element, for any v.
""",
    source=f"{FOLDER}/vector_place.py",
    function="vector_place",
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
    promises=Cases(any_element),
    means="Any way to the right place is a good one.",
    hints=(
        "Channel c is in vector `c // v`, and there it is number `c % v`.",
        "A pixel has `ceil(C / v)` vectors: `-(-C // v)` in Python.",
        "Begin with the slowest axis. Multiply by the extent of the next one, add the index there, "
        "and so on: `(n * vectors + vector) * H + h` is the start.",
    ),
    explanation="""
One formula has all three layouts: v = 1 is NCHW, v = C is NHWC, and what lies between them is a
compromise: one load fetches v channels, and the vectors of neighbouring pixels are neighbours.
""",
    mutants=(
        mutant("no vector filled up", kinds.WRONG, ("-(-C // v)", "C // v")),
        mutant("rounded in a float", kinds.WRONG, ("-(-C // v)", "int(C / v + 0.9999)")),
        mutant("one vector more", kinds.WRONG, ("-(-C // v)", "C // v + 1")),
        mutant("vectors before images", kinds.WRONG, ("n * vectors + vector", "vector * 2 + n")),
        mutant("H and W exchanged", kinds.WRONG, ("* H + h) * W + w", "* W + w) * H + h")),
        mutant(
            "NHWC",
            kinds.WRONG,
            (
                "(((n * vectors + vector) * H + h) * W + w) * v + lane",
                "((n * H + h) * W + w) * C + c",
            ),
        ),
        mutant(
            "NCHW",
            kinds.WRONG,
            (
                "(((n * vectors + vector) * H + h) * W + w) * v + lane",
                "((n * C + c) * H + h) * W + w",
            ),
        ),
        mutant("the vectors' places", kinds.WRONG, ("* v + lane", "+ lane")),
        mutant("every so manieth channel", kinds.WRONG, ("divmod(c, v)", "divmod(c, vectors)")),
        mutant("number and vector exchanged", kinds.WRONG, ("vector, lane =", "lane, vector =")),
        mutant("bytes", kinds.WRONG, ("* v + lane", "* v * 4 + lane * 4")),
        mutant("one image", kinds.WRONG, ("n * vectors + vector", "vector")),
        mutant(
            "a vector no larger than C", kinds.WRONG, ("vectors =", "v = min(v, C)\n    vectors =")
        ),
        mutant("32 at most", kinds.WRONG, ("vectors =", "v = min(v, 32)\n    vectors =")),
        mutant("images in 16 bits", kinds.WRONG, ("(n * vectors", "(n % 65536 * vectors")),
    ),
)

# --- The extents of a result ---


def shape_by_places(x_shape, w_shape, pad, stride, dilation, groups):
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


def any_convolution(rng: np.random.Generator) -> tuple:
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
    id="05.conv_shape",
    title="how large is the result?",
    task="""
A library asks for the shape of y and checks it, so you have to know it first. Write the function,
for any padding, stride and dilation, different ones for rows and columns, and for groups. Where the
channels or the filters cannot be shared out over the groups as the shapes say, or where the filter
is larger than the padded image, there is no convolution, and its shape is `(0, 0, 0, 0)`.
""",
    source=f"{FOLDER}/conv_shape.py",
    function="conv_shape",
    cases=(
        ((2, 3, 8, 9), (5, 3, 3, 3), ONE, ONE, ONE, 1),
        ((2, 3, 8, 9), (5, 3, 3, 3), NONE, TWO, ONE, 1),
        ((1, 4, 10, 7), (6, 2, 3, 5), (0, 2), (1, 2), (2, 1), 2),
        ((1, 8, 12, 12), (8, 1, 3, 3), TWO, ONE, TWO, 8),
        ((1, 4, 5, 5), (4, 4, 3, 3), ONE, ONE, ONE, 2),
        ((1, 4, 5, 5), (3, 2, 3, 3), ONE, ONE, ONE, 2),
        ((1, 1, 2, 9), (1, 1, 3, 3), NONE, ONE, ONE, 1),
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
    promises=Cases(any_convolution),
    means="Any way to the right shape is a good one.",
    hints=(
        "A filter of r taps, d apart, covers `d * (r - 1) + 1` pixels.",
        "It can start at `n + 2 * p - covered + 1` places with a stride of 1, at every s-th of "
        "them with a stride of s: the first place always counts.",
        "`(n + 2 * p - d * (r - 1) - 1) // s + 1`, unless what is divided is below 0. w_shape[1] "
        "times the groups has to be C, and K a multiple of the groups.",
    ),
    explanation="""
The division rounds down: pixels at the end that no filter reaches any more are left out, and
nothing says so. Two convolutions with the same result may read different pixels. Python rounds
down below 0 as well, so that a filter that is too large can look like a result of one pixel.
""",
    mutants=(
        mutant("dilation forgotten", kinds.WRONG, ("(d * (r - 1) + 1)", "r")),
        mutant("dilation times taps", kinds.WRONG, ("(d * (r - 1) + 1)", "d * r")),
        mutant("padding at one side", kinds.WRONG, ("2 * p", "p")),
        mutant("the first place forgotten", kinds.WRONG, ("room // s + 1", "room // s")),
        mutant("rounded up", kinds.WRONG, ("room // s + 1", "-(-room // s) + 1")),
        mutant("stride forgotten", kinds.WRONG, ("room // s + 1", "room + 1")),
        mutant("too large a filter", kinds.WRONG, ("room < 0", "False")),
        mutant("a filter that just fits", kinds.WRONG, ("room < 0", "room <= 0")),
        mutant("groups forgotten", kinds.WRONG, ("channels * groups != C", "channels != C")),
        mutant(
            "a channel of no group",
            kinds.WRONG,
            ("channels * groups != C", "channels != C // groups"),
        ),
        mutant("no zeros around", kinds.WRONG, ("room < 0", "room - 2 * p < 0")),
        mutant("filters of no group", kinds.WRONG, (" or K % groups", "")),
        mutant("channels not compared", kinds.WRONG, ("channels * groups != C or ", "")),
        mutant("rows for columns", kinds.WRONG, ("N, K, *sides", "N, K, *sides[::-1]")),
        mutant("C for K", kinds.WRONG, ("return N, K,", "return N, C,")),
        mutant("a square", kinds.WRONG, ("N, K, *sides", "N, K, sides[0], sides[0]")),
    ),
)

# --- What a fused convolution computes ---

TAPS = tuple(product(range(3), repeat=2))


def for_grouped(rng: np.random.Generator, size: tuple[int, ...]) -> dict:
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
        "N": np.int32(N),
        "C": np.int32(C),
        "H": np.int32(H),
        "W": np.int32(W),
        "K": np.int32(K),
        "groups": np.int32(groups),
        "stride": np.int32(stride),
        "dilation": np.int32(dilation),
    }


def windows(given: Given) -> Iterator[tuple[int, int, np.ndarray]]:
    """(r, s, the pixels under that tap) for each tap, in float64."""
    d, s = int(given["dilation"]), int(given["stride"])
    x = np.pad(given["x"].astype(np.float64), ((0, 0), (d, d), (d, d), (0, 0)))
    H, W = int(given["H"]), int(given["W"])
    for row, column in TAPS:
        yield row, column, x[:, row * d : row * d + H : s, column * d : column * d + W : s]


def grouped(given: Given) -> dict:
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
    return N * groups * filters * -(-H // stride) * -(-W // stride)


def infinite_corner(given: Given, rng: np.random.Generator) -> dict:
    """Taps of one filter's first corner are infinite: above and left of the image they meet none
    of its numbers."""
    w = given["w"].copy()
    w[rng.integers(len(w)), 0, 0] = np.inf
    return {"w": w}


COUNTED = (1, 2, 2, 2, 12, 16, 1, 1)
GROUPED_CONV = Exercise(
    id="05.grouped_conv",
    title="a convolution with all that belongs to it",
    task="""
Write what one call of cuDNN computes: a convolution with groups, stride and dilation, then a bias
for each filter, an earlier result z added (a *skip connection*), and a *leaky* ReLU, which divides
what is below 0 by 8. Channels last, one thread for each element of y, and nothing between the steps
reaches memory. Any extents, any groups that divide the channels and the filters, any stride, any
dilation, also one that is larger than the image. A tap outside of the image adds nothing, not even
where its weight is infinite; one inside adds its product, also of 0 and an infinite number.
""",
    source=f"{FOLDER}/grouped_conv.cu",
    kernel="grouped_conv",
    inputs=for_grouped,
    reference=grouped,
    launch=lambda size: Launch((-(-results(size) // 128),), (128,)),
    small=(
        (2, 2, 2, 3, 5, 7, 1, 1),
        (1, 3, 1, 1, 6, 5, 2, 1),
        (1, 1, 3, 4, 7, 6, 1, 2),
        (1, 2, 2, 2, 13, 23, 5, 11),
        (1, 1, 1, 1, 1, 1, 1, 1),
    ),
    full=(64, 4, 16, 16, 56, 56, 1, 1),
    reduction=lambda size: 9 * size[2],
    promises=Promises(
        sizes=promises.shapes(
            N=(1, 2, 3),
            groups=(1, 2, 5),
            channels=(1, 2, 4),
            filters=(1, 3),
            H=(1, 2, 5),
            W=(1, 3, 9),
            stride=(1, 2, 3),
            dilation=(1, 2, 7),
        ).with_longest(
            N=19, groups=11, channels=131, filters=2003, H=67, W=11_003, stride=11, dilation=25
        ),
        values=(
            promises.data("x", promises.NEGATIVE, promises.POSITIVE, promises.TIES),
            promises.data("z", promises.NEGATIVE, promises.POSITIVE, promises.SMALL),
            (
                promises.AS_GIVEN,
                Values("a weight of a corner infinite", infinite_corner),
                promises.zeros_and_infinities("w", "x"),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.a_thread_each(size=COUNTED),
        means.work_shared_out(size=COUNTED),
        means.no_extra_work(2.0, size=COUNTED),
    ),
    hints=(
        "The channel is the fastest axis of y: `k = i % K`, then the column, the row, the image.",
        "K / groups filters are in a group, so filter k is in group `k / (K / groups)`, and its "
        "first channel is that times C / groups.",
        "Row `oh * stride + (r - 1) * dilation` of x, where that is from 0 to H - 1.",
        "x at `((n * H + row) * W + column) * C + channel`, w at "
        "`((k * 3 + r) * 3 + s) * (C / groups) + c`.",
    ),
    explanation="""
With as many groups as channels it is a *depthwise* convolution: a filter sees one channel. What is
fused costs two loads, of the bias and of z, and no kernel of its own. The ReLU wants one sum, and
its thread has that; a second convolution wants the neighbours as well, which other blocks compute.
""",
    mutants=(
        mutant(
            "no product with a weight of 0",
            kinds.WRONG,
            ("sum += pixel[c] * taps[c]", "if (taps[c] != 0.0f) sum += pixel[c] * taps[c]"),
        ),
        mutant(
            "weights as far as 16 bits",
            kinds.EDGES,
            (
                "w + ((k * 3 + r) * 3 + s) * channels",
                "w + (unsigned short)(((k * 3 + r) * 3 + s) * channels)",
            ),
        ),
        mutant(
            "results as far as 16 bits", kinds.EDGES, ("const int i =", "const unsigned short i =")
        ),
        mutant("groups forgotten", kinds.FIRST_BLOCK, ("+ group * channels;", ";")),
        mutant("groups in turns", kinds.WRONG, ("k / (K / groups)", "k % groups")),
        mutant("a filter for every channel", kinds.OUT_OF_BOUNDS, ("= C / groups;", "= C;")),
        mutant(
            "the filter turned round",
            kinds.WRONG,
            ("(k * 3 + r) * 3 + s)", "(k * 3 + 2 - r) * 3 + 2 - s)"),
        ),
        mutant(
            "dilation forgotten",
            kinds.WRONG,
            ("(r - 1) * dilation", "(r - 1)"),
            ("(s - 1) * dilation", "(s - 1)"),
        ),
        mutant("a stride of rows alone", kinds.FIRST_BLOCK, ("ow * stride +", "ow +")),
        mutant("no padding", kinds.WRONG, ("(s - 1) * dilation", "s * dilation")),
        mutant("no guard below", kinds.OUT_OF_BOUNDS, ("row >= H", "row > H")),
        mutant("no guard at the right", kinds.OUT_OF_BOUNDS, ("column >= W", "column > W")),
        mutant(
            "no last block", kinds.OUT_OF_BOUNDS, ("    if (i >= N * OH * OW * K) return;\n", "")
        ),
        mutant(
            "zeros around the image, times the weights",
            kinds.NOT_A_NUMBER,
            (
                "if (row < 0 || row >= H || column < 0 || column >= W) continue;",
                "const bool in = row >= 0 && row < H && column >= 0 && column < W;",
            ),
            ("sum += pixel[c] * taps[c]", "sum += (in ? pixel[c] : 0.0f) * taps[c]"),
        ),
        mutant(
            "ReLU before z",
            kinds.WRONG,
            ("bias[k] + z[i]", "bias[k]"),
            ("sum > 0.0f ? sum : sum / 8.0f", "(sum > 0.0f ? sum : sum / 8.0f) + z[i]"),
        ),
        mutant("no ReLU", kinds.WRONG, ("sum > 0.0f ? sum : sum / 8.0f", "sum")),
        mutant("no z", kinds.WRONG, ("bias[k] + z[i]", "bias[k]")),
        mutant("a bias for each channel", kinds.FIRST_BLOCK, ("bias[k]", "bias[k % channels]")),
        mutant(
            "channels first",
            kinds.WRONG,
            ("const int k = i % K;", "const int k = i / (OH * OW) % K;"),
            (
                "i / K % OW, oh = i / K / OW % OH, n = i / K / OW / OH",
                "i % OW, oh = i / OW % OH, n = i / (K * OW * OH)",
            ),
        ),
        mutant("all below 0 is 0", kinds.WRONG, ("sum / 8.0f", "0.0f")),
        mutant(
            "the first block does all",
            kinds.MEANS_MISSING,
            (
                "const int i = blockIdx.x * blockDim.x + threadIdx.x; // of y",
                "for (int i = threadIdx.x; blockIdx.x == 0 && i < N * OH * OW * K; i += 128) {",
            ),
            ("sum > 0.0f ? sum : sum / 8.0f;", "sum > 0.0f ? sum : sum / 8.0f; }"),
        ),
        mutant(
            "two results for a thread",
            kinds.MEANS_MISSING,
            (
                "const int i = blockIdx.x * blockDim.x + threadIdx.x; // of y",
                "for (int j = 0; j < 2; ++j) {\n"
                "    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + j;",
            ),
            ("sum > 0.0f ? sum : sum / 8.0f;", "sum > 0.0f ? sum : sum / 8.0f; }"),
        ),
        mutant("eight channels", kinds.WRONG, ("c < channels", "c < min(channels, 8)")),
        mutant("a stride of 3 at most", kinds.FIRST_BLOCK, ("oh * stride", "oh * min(stride, 3)")),
        mutant(
            "a dilation below 8", kinds.WRONG, ("(s - 1) * dilation", "(s - 1) * min(dilation, 7)")
        ),
        mutant(
            "rows rounded down",
            kinds.EDGES,
            ("const int OH = (H - 1) / stride + 1", "const int OH = max(H / stride, 1)"),
        ),
        mutant(
            "stored before the ReLU, too",
            kinds.MEANS_MISSING,
            ("    y[i] = sum >", "    ((volatile float *)y)[i] = sum;\n    y[i] = sum >"),
        ),
        mutant("64 channels", kinds.WRONG, ("c < channels", "c < min(channels, 64)")),
    ),
)

# --- Virtual tensors ---

CONV = [(("x", "w"), "c"), (("c", "bias"), "b"), (("b",), "y")]
BYTES = {"x": 400, "w": 36, "c": 800, "bias": 8, "b": 800, "y": 800, "z": 800}


def bytes_by_kernel(operations, bytes_of, wanted):
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


def any_graph(rng: np.random.Generator) -> tuple:
    given, count = int(rng.integers(1, 4)), int(rng.integers(1, 12))
    names = [f"t{i}" for i in rng.permutation(given + count)]
    operations = []
    for known in range(given, given + count):
        inputs = tuple(str(name) for name in rng.choice(names[:known], int(rng.integers(1, 5))))
        operations.append((inputs, names[known]))
    sizes = {name: 4 * int(rng.integers(1, 6)) for name in names}
    return operations, sizes, {name for name in names if rng.random() < 0.4}


GRAPH_BYTES = PythonExercise(
    id="05.graph_bytes",
    title="what a virtual tensor saves",
    task="""
Count the bytes that a graph moves, with a kernel for each operation and with one kernel for all.
Tensors are read whole. An operation may read a tensor twice, as in x · x: its kernel reads it once.
A result in the middle may be wanted as well; then it is written, and still not read. What is wanted
and was given, not made, costs nothing more. Every operation is computed, whether its result is
wanted or not.
""",
    source=f"{FOLDER}/graph_bytes.py",
    function="graph_bytes",
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
    promises=Cases(any_graph),
    means="Any way to the two numbers is right.",
    hints=(
        "One kernel for each operation: the tensors among its inputs, each once, and its output.",
        "One kernel for all: `made` is the set of all outputs. What is read is every input that is "
        "not in it, each once.",
        "Written is what is in `made` and in `wanted`.",
    ),
    explanation="""
Convolution, bias and ReLU move the result five times if each is a kernel, and once if they are one.
That is all that fusion saves here: the arithmetic is the same. It saves much where the result is
large beside the work, and little behind a convolution with many channels.
""",
    mutants=(
        mutant("inputs twice", kinds.WRONG, ("in set(inputs)", "in inputs")),
        mutant("outputs forgotten", kinds.WRONG, (") + bytes_of[output]", ")")),
        mutant("all that is made is written", kinds.WRONG, ("made & wanted", "made")),
        mutant("all that is wanted is written", kinds.WRONG, ("made & wanted", "wanted")),
        mutant(
            "the last one is written",
            kinds.WRONG,
            ("in made & wanted", "in {output for _, output in operations[-1:]}"),
        ),
        mutant("what is made is read", kinds.WRONG, ("in inputs} - made", "in inputs}")),
        mutant(
            "what is wanted is read",
            kinds.WRONG,
            ("in inputs} - made", "in inputs} - (made - wanted)"),
        ),
        mutant(
            "one kernel reads it again",
            kinds.WRONG,
            (
                "read = {name for inputs, _ in operations for name in inputs} - made",
                "read = [name for inputs, _ in operations for name in inputs if name not in made]",
            ),
        ),
        mutant(
            "one of equal sizes",
            kinds.WRONG,
            ("sum(bytes_of[name] for name in read)", "sum({bytes_of[name] for name in read})"),
        ),
        mutant(
            "the last one is always wanted",
            kinds.WRONG,
            ("made & wanted", "made & wanted | {operations[-1][1]}"),
        ),
        mutant("turned round", kinds.WRONG, ("return apart, together", "return together, apart")),
        mutant(
            "the savings", kinds.WRONG, ("return apart, together", "return apart, apart - together")
        ),
    ),
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


def best_engine(engines, workspace_bytes, refused):
    best = None
    for place, (ms, needed, notes) in enumerate(engines):
        if ms is None or needed > workspace_bytes or any(note in refused for note in notes):
            continue
        if best is None or (ms, needed) < best[0]:
            best = (ms, needed), place
    return -1 if best is None else best[1]


def any_engines(rng: np.random.Generator) -> tuple:
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
    id="05.pick_engine",
    title="which engine?",
    task="""
You have timed all engines of a list. Pick one that needs no more than the workspace that you can
give, and has no note that you refuse. You may have 0 bytes to give, and refuse nothing.
""",
    source=f"{FOLDER}/pick_engine.py",
    function="pick_engine",
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
    promises=Cases(any_engines),
    means="Any way to the right engine is a good one.",
    hints=(
        "First leave out what you may not take, then compare what is left.",
        "`notes & refused` is the set of notes that are refused; an empty set counts as false.",
        "`min` of tuples (milliseconds, workspace, place) decides by the first that differs.",
    ),
    explanation="""
It is what `torch.backends.cudnn.benchmark` does at the first call of each shape, with TF32 and
`torch.use_deterministic_algorithms` as what is refused. The choice holds for one shape, one GPU and
one version of the library.
""",
    mutants=(
        mutant("no time is no engine", kinds.WRONG, ("ms is not None", "ms")),
        mutant("the first that fits", kinds.WRONG, ("min(fit)[2]", "fit[0][2]")),
        mutant("the slowest", kinds.WRONG, ("min(fit)", "max(fit)")),
        mutant("any workspace", kinds.WRONG, (" and needed <= workspace_bytes", "")),
        mutant("not exactly filled", kinds.WRONG, ("needed <= workspace", "needed < workspace")),
        mutant("notes ignored", kinds.WRONG, (" and not notes & refused", "")),
        mutant("every note refused", kinds.WRONG, ("not notes & refused", "not notes")),
        mutant(
            "all refused at once",
            kinds.WRONG,
            ("not notes & refused", "not (refused and refused <= notes)"),
        ),
        mutant("no notes but these", kinds.WRONG, ("not notes & refused", "notes <= refused")),
        mutant("ties by place", kinds.WRONG, ("(ms, needed, place)\n", "(ms, place, place)\n")),
        mutant(
            "ties by more workspace",
            kinds.WRONG,
            ("(ms, needed, place)\n", "(ms, -needed, place)\n"),
        ),
        mutant(
            "those that failed",
            kinds.WRONG,
            ("(ms, needed, place)\n", "(ms or 0, needed, place)\n"),
            ("ms is not None and ", ""),
        ),
        mutant(
            "the place among those that fit",
            kinds.WRONG,
            ("min(fit)[2] if", "fit.index(min(fit)) if"),
        ),
        mutant("the time", kinds.WRONG_TYPE, ("min(fit)[2]", "min(fit)[0]")),
        mutant(
            "to a tenth", kinds.WRONG, ("(ms, needed, place)\n", "(round(ms, 1), needed, place)\n")
        ),
        mutant("none above a second", kinds.WRONG, ("ms is not None", "(ms or 1e3) < 1e3")),
        mutant(
            "parts of words",
            kinds.WRONG,
            ("not notes & refused", "not any(word in str(notes) for word in refused)"),
        ),
    ),
)

EXERCISES = (VECTOR_PLACE, CONV_SHAPE, GROUPED_CONV, GRAPH_BYTES, PICK_ENGINE)
