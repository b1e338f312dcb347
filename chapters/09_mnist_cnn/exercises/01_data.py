"""The exercises of "The digits"."""

from __future__ import annotations

import math
import struct
import tracemalloc
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
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.promises import Values
from course_utils.exercises.vectors import one_thread_each

TYPES = {8: np.dtype(np.uint8), 13: np.dtype(">f4")}


def file_of(kind: int, *shape: int, elements: bytes = b"", magic: bytes = b"\0\0") -> bytes:
    """An IDX file, which may be a wrong one."""
    return magic + bytes([kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + elements


def idx_array(data: bytes) -> np.ndarray | None:
    """What an IDX file holds, by `struct` and in the machine's own order of bytes."""
    if len(data) < 4 or data[0] or data[1] or data[2] not in TYPES:
        return None
    dtype, axes = TYPES[data[2]], data[3]
    if not 1 <= axes <= 8 or len(data) < 4 + 4 * axes:
        return None
    shape = struct.unpack_from(f">{axes}I", data, 4)
    if len(data) - 4 - 4 * axes != math.prod(shape) * dtype.itemsize:
        return None
    if math.prod(length for length in shape if length) * dtype.itemsize >= 2**63:
        return None  # NumPy makes no such shape, not even without elements
    found = np.frombuffer(data, dtype, offset=4 + 4 * axes).reshape(shape)
    return found.astype(dtype.newbyteorder("="))


def in_little_room(idx_array: Callable, data: bytes) -> Any:
    """What it answers. MemoryError where it asked for far more memory than the file takes."""
    tracemalloc.start()
    try:
        found = idx_array(data)
        room = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if room > 8_000_000 + 64 * len(data):
        raise MemoryError(f"made room for {room:,} bytes, for a file of {len(data):,}")
    return found


def any_file(rng: np.random.Generator) -> tuple[bytes]:
    """A right file of one to eight axes, or one that somebody has damaged."""
    kind = int(rng.choice([8, 13]))
    shape = rng.integers(1, 4, int(rng.integers(1, 9))).tolist()
    if kind == 8:
        elements = rng.integers(0, 256, shape, np.uint8).tobytes()
    else:
        elements = rng.standard_normal(shape).astype(">f4").tobytes()
    whole = file_of(kind, *shape, elements=elements)
    cut = int(rng.integers(0, len(whole)))
    return (rng.choice([whole, whole, whole[:cut], whole + b"\0"]),)


IDX_ARRAY = PythonExercise(
    id="09.idx_array",
    title="an IDX file, read with suspicion",
    task="""
Read an IDX file from its bytes: elements of one byte (type 8) or in fp32 (type 13), and one to
eight axes. A file may be cut, too long, have a header that lies, or lengths beside a 0 that no
array can have: then the answer is `None`, without an exception and without making room for what is
not there.
""",
    source="09_mnist_cnn/exercises/idx_array.py",
    function="idx_array",
    cases=(
        (file_of(8, 2, 3, 4, elements=bytes(range(24))),),
        (file_of(8, 5, elements=bytes([7, 2, 1, 0, 4])),),
        (file_of(13, 2, 2, elements=struct.pack(">4f", 1, -2.5, 3e8, 0.1)),),
        (file_of(8, 1, 300, elements=bytes(k % 251 for k in range(300))),),
        (b"",),
        (b"\0\0\x08",),
        (b"\0\0\x08\x03\0\0\0\x02\0\0\0\x03",),
        (file_of(8, 4, elements=bytes(3)),),
        (file_of(8, 4, elements=bytes(5)),),
        (file_of(8, 4, elements=bytes(4), magic=b"\0\1"),),
        (file_of(8, 4, elements=bytes(4), magic=b"\1\0"),),
        (file_of(8, 4, elements=bytes(4), magic=b"\x1f\x8b"),),
        (file_of(9, 4, elements=bytes(4)),),
        (file_of(13, 4, elements=bytes(4)),),
        (file_of(8, 65536, 65536, 65536, 65536),),
        (file_of(8, 65536, 65536, elements=bytes(16)),),
        (file_of(8, 65536, 65536),),
        (file_of(8, 0xFFFFFFFF, elements=bytes(255)),),
        (file_of(8, 0xFFFFFFFF, 0xFFFFFFFF, elements=b"1"),),
        (file_of(8, 2, 1, 3, 1, 1, elements=bytes(range(6))),),
        (file_of(13, *[1] * 8, elements=struct.pack(">f", 2.5)),),
        (file_of(13, 5, elements=struct.pack(">5f", math.nan, math.inf, -math.inf, -0.0, 1e-40)),),
        (file_of(8, 3, 0, 2),),
        (file_of(8, 0x80000001, 0),),
        (file_of(8, 500, 601, elements=bytes(k % 251 for k in range(300_500))),),
        (file_of(8, 0, *[0xFFFFFFFF] * 3),),
        (file_of(8, elements=b"1"),),
        *((bytes([0, 0, 8, axes, 0, 0, 0, 200, *range(200)]),) for axes in (0x11, 0x41, 0x81)),
        *((file_of(8, *[1] * axes, elements=b"1"),) for axes in (9, 17, 33, 65, 129, 255)),
    ),
    reference=idx_array,
    call=in_little_room,
    exact=True,
    promises=Cases(any_file),
    means="Whatever reads each whole file and refuses every other is a good reader.",
    hints=(
        "First the four bytes that every file has: is `data` that long, are the first two 0, is "
        "the third a key of TYPES?",
        '`int.from_bytes(data[4:8], "big")` is the length of the first axis. Check first that all '
        "of the header is there: 4 + 4 · axes bytes.",
        "`math.prod(lengths)` is exact, however large. NumPy's `prod` has 64 bits and wraps, so "
        "a header can be made whose product is 0.",
        "`np.frombuffer(data, dtype, offset=start).reshape(shape)`, once `len(data)` is exactly "
        "what the header says.",
    ),
    explanation="""
Every number of the header is compared with what is really there before it is used. Nothing is
allocated by the word of a header: `frombuffer` makes no copy, and the lengths only have to agree
with the bytes at hand. Four axes of 65,536 have 2⁶⁴ elements, which is 0 in 64 bits: that is why
the product is taken of Python's own integers. A length of 0 hides the others: there are no
elements then, and still NumPy raises an error for a shape whose other lengths are too large. `>f4`
leaves the bytes as they are, and NumPy swaps them when it reads.
""",
    mutants=(
        mutant(
            "room by the word of a header",
            kinds.EXCEPTION,
            (
                "    if len(data) != start",
                "    try:\n        np.empty(shape, dtype)\n    except (ValueError, MemoryError):\n"
                "        return None\n    if len(data) != start",
            ),
        ),
        mutant("little-endian lengths", kinds.WRONG, ('"big"', '"little"')),
        mutant("little-endian elements", kinds.WRONG, ('">f4"', '"<f4"')),
        mutant("no look at the first bytes", kinds.WRONG_TYPE, (" or data[:2] != bytes(2)", "")),
        mutant("no look at the first byte", kinds.WRONG_TYPE, ("data[:2] != bytes(2)", "data[1]")),
        mutant(
            "2 GiB at most beside a 0",
            kinds.WRONG,
            ("np.iinfo(np.intp).max", "np.iinfo(np.int32).max"),
        ),
        mutant(
            "minus zero lost",
            kinds.WRONG,
            ("offset=start).reshape(shape)", "offset=start).reshape(shape) + dtype.type(0)"),
        ),
        mutant("no look at the type", kinds.EXCEPTION, (" or data[2] not in TYPES", "")),
        mutant("no look at the length", kinds.EXCEPTION, ("len(data) < 4 or ", "")),
        mutant("four axes at most", kinds.WRONG, ("axes <= 8", "axes <= 4")),
        mutant(
            "a length of 0 hides the others",
            kinds.EXCEPTION,
            ("math.prod(filter(None, shape))", "math.prod(shape)"),
        ),
        mutant("nine axes", kinds.WRONG_TYPE, ("axes <= 8", "axes <= 9")),
        mutant("the axes in four bits", kinds.WRONG_TYPE, ("data[3]", "data[3] & 15")),
        mutant("any number of axes", kinds.WRONG_TYPE, ("not 1 <= axes <= 8 or ", "")),
        mutant("too long is taken", kinds.EXCEPTION, ("len(data) != start", "len(data) < start")),
        mutant("elements of one byte", kinds.WRONG, (" * dtype.itemsize:", " * 1:")),
        mutant(
            "a product that wraps",
            kinds.EXCEPTION,
            ("math.prod(shape)", "np.prod(shape)"),
            ("math.prod(filter(None, shape))", "np.prod(shape)"),
        ),
        mutant("never an array", kinds.NOTHING_RETURNED, ("return np.frombuffer", "np.frombuffer")),
        mutant("flat", kinds.WRONG_SHAPE, (".reshape(shape)", ".reshape(-1)")),
    ),
)


def bytes_to_add(rng: np.random.Generator, n: int) -> dict:
    return {
        "x": rng.integers(0, 256, n, np.uint8),
        "sums": np.zeros(2, np.uint64),
        "n": np.int32(n),
    }


def sums_of(given) -> dict:
    x = given["x"].astype(np.uint64)
    return {"sums": np.array([x.sum(), (x * x).sum()], np.uint64)}


EXACT_SUMS = Exercise(
    id="09.exact_sums",
    title="a mean without rounding",
    task="""
Add up all pixels, and their squares, in whole numbers. The mean and the deviation follow from the
two sums and are the same in every run, whichever thread comes first. How large can the second sum
get? Whatever the grid and the block, each of the bytes counts once. Bring the sums of a block
together before they go to global memory.
""",
    source="09_mnist_cnn/exercises/exact_sums.cu",
    kernel="exact_sums",
    inputs=bytes_to_add,
    reference=sums_of,
    # At full size so few threads that a thread's sum does not fit into 32 bits.
    launch=lambda n: Launch((2,), (256,) if n < 1 << 20 else (64,)),
    small=(140_001, 1000, 31, 1),
    full=60_000 * 784,
    budget=100_000,  # a right answer may add each byte in shared memory
    promises=Promises(
        sizes=promises.lengths(most=70_000),
        launches=promises.grids((1, 32), (3, 96), (5, 33), (7, 256), (40, 64), (40, 1)),
        values=(
            promises.data(
                "x",
                ("all 255", lambda x, rng: np.full_like(x, 255)),
                promises.ZEROS,
                ("255 at the end", lambda x, rng: np.where(np.arange(x.size) < x.size - 1, 1, 255)),
                promises.TIES,
            ),
        ),
    ),
    means=(
        means.atomics(
            "global",
            at_most=2 * 2 * 8,
            advice="Two additions to sums for each block are enough: bring the block's sums "
            "together in shared memory first.",
        ),
        means.loads_shared_out(1.6),
        means.reads_each_once(140_001),
    ),
    hints=(
        "A grid-stride loop: begin at `blockIdx.x * blockDim.x + threadIdx.x`, go on by "
        "`gridDim.x * blockDim.x` while there is a byte.",
        "255² is 65,025: some 66,000 white pixels overflow 32 bits. Keep the sums in `Wide`.",
        "`atomicAdd(&of_block[0], sum);` once for each thread, behind its loop; a barrier; then "
        "thread 0 adds of_block to sums.",
    ),
    explanation="""
Whole numbers have no rounding, so the order of the atomics does not show, and two runs agree to the
last bit. The full training set has 47,040,000 pixels: their sum may reach 1.2 · 10¹⁰, and that of
the squares 3.1 · 10¹², both too large for 32 bits; a thread's own share could stay in 32 bits only
while it has fewer than some 66,000 bytes. (The sizes that the emulator tries do not fill a thread's
sum that far, and one in 32 bits passes there; the full size on a GPU does.) The mean is
sums[0] / n, and the variance is sums[1] / n minus the square of the mean. Sums in floating point
would bring their own rounding into that difference.
""",
    mutants=(
        mutant(
            "16 bits for each thread's share",
            kinds.WRONG,
            ("Wide squares = 0;", "unsigned short squares = 0;"),
        ),
        mutant(
            "a block's sums in 32 bits",
            kinds.WRONG,
            ("atomicAdd(&sums[1], of_block[1]);", "atomicAdd(&sums[1], (unsigned)of_block[1]);"),
        ),
        mutant(
            "squares in a byte", kinds.WRONG, ("value * value", "(unsigned char)(value * value)")
        ),
        mutant("no squares", kinds.WRONG, ("squares += value * value", "squares += value")),
        mutant(
            "in floats",
            kinds.WRONG,
            ("Wide squares = 0;", "float squares = 0;"),
            ("atomicAdd(&of_block[1], squares)", "atomicAdd(&of_block[1], (Wide)squares)"),
        ),
        mutant("signed bytes", kinds.WRONG, ("= x[i];", "= (signed char)x[i];")),
        mutant(
            "no barrier before the end",
            kinds.DATA_RACE,
            ("__syncthreads(); // all threads have added", ""),
        ),
        mutant(
            "each thread to global memory",
            kinds.MEANS_MISSING,
            ("atomicAdd(&of_block[0], sum);", "atomicAdd(&sums[0], sum);"),
            ("atomicAdd(&of_block[1], squares);", "atomicAdd(&sums[1], squares);"),
        ),
        mutant(
            "a second thread for the second sum",
            kinds.PARTLY_WRITTEN,
            (
                "if (threadIdx.x == 0) {\n        atomicAdd(&sums[0]",
                "if (threadIdx.x < 2) {\n        atomicAdd(&sums[threadIdx.x]",
            ),
            ("of_block[0]);\n        atomicAdd(&sums[1], of_block[1]);", "of_block[threadIdx.x]);"),
        ),
        mutant("a byte too many", kinds.OUT_OF_BOUNDS, ("i < n;", "i <= n;")),
        mutant("each block does it all", kinds.WRONG, ("i += stride", "i += blockDim.x")),
        mutant(
            "the first block does it all",
            kinds.MEANS_MISSING,
            (
                "(long long)blockIdx.x * blockDim.x + threadIdx.x",
                "blockIdx.x > 0 ? n : threadIdx.x",
            ),
            ("i += stride", "i += blockDim.x"),
        ),
        mutant(
            "one thread does it all",
            kinds.ENDLESS_LOOP,
            (
                "(long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride",
                "blockIdx.x + threadIdx.x == 0 ? 0 : n; i < n; ++i",
            ),
        ),
    ),
)


def images_and_order(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    """n images, B of them chosen in any order, some perhaps twice; the last is among them."""
    n, rows, pixels = size
    order = rng.integers(0, n, rows, np.int32)
    order[rng.integers(rows)] = n - 1
    return {
        "images": rng.integers(0, 256, (n, pixels), np.uint8),
        "order": order,
        "batch": empty((rows, pixels)),
        "B": np.int32(rows),
        "P": np.int32(pixels),
        "mean": np.float32(0.1307),
        "deviation": np.float32(0.3081),
    }


def batch_of(given) -> dict:
    chosen = given["images"][given["order"]].astype(np.float64)
    mean, deviation = (float(given[name]) for name in ("mean", "deviation"))
    return {"batch": (chosen / 255 - mean) / deviation}


GATHER_BATCH = Exercise(
    id="09.gather_batch",
    title="a batch, gathered and normalised",
    task="""
Fetch the images of a batch, in the order given, and normalise them on the way: bytes in, fp32 out.
An image number may occur twice. The task is one kernel with one thread for each pixel of the batch.
""",
    source="09_mnist_cnn/exercises/gather_batch.cu",
    kernel="gather_batch",
    inputs=images_and_order,
    reference=batch_of,
    launch=lambda size: one_thread_each(size[1] * size[2]),
    small=((7, 5, 781), (131, 7, 784), (3, 4, 49), (1, 1, 1)),
    full=(60_000, 1024, 784),
    reduction=lambda size: 100,  # near the mean a difference cancels, by whatever formula
    promises=Promises(
        sizes=promises.shapes(
            n=(1, 2, 31, 131, 1031), B=(1, 2, 31, 65, 129), P=(1, 2, 49, 255, 784)
        ).with_longest(n=65_543, B=1031, P=4099),
        values=(
            promises.data(
                "images",
                promises.ZEROS,
                ("all 255", lambda x, rng: np.full_like(x, 255)),
                promises.RISING,
            ),
            promises.data(
                "order",
                ("of one image alone", lambda x, rng: np.full_like(x, x.max())),
                promises.RISING,
            ),
            promises.together(
                {"mean": 0.0, "deviation": 1.0}, {"mean": 0.2860, "deviation": 0.3530}
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=(9, 16, 784)),
        means.no_extra_work(),
        Means(
            "sectors of global memory for each load instruction of a warp",
            lambda work: work.counts.global_load_sectors / work.counts.global_load_requests,
            at_most=2.5,
            size=(9, 16, 784),
            advice="Neighbouring threads are to read neighbouring bytes: thread i makes element i "
            "of the batch.",
        ),
    ),
    hints=(
        "Thread i makes element i of the batch. Which row of the batch is that, and which pixel?",
        "The row is `i / P`, the pixel `i % P`; the image is number `order[i / P]`.",
        "`images[order[row] * P + pixel]` is a byte; make a float of it before you divide.",
        "`batch[i] = (value / 255.0f - mean) / deviation;` for i below B · P.",
    ),
    explanation="""
The permutation decides where each *image* is read; within an image neighbours still read
neighbours. Not quite as before: an image is 24½ sectors of 32 bytes, and a warp reads 32 bytes. In
order these are one sector; shuffled, half of the images begin in the middle of one, and there a
warp touches two. The bytes cross the memory as bytes: a quarter of what fp32 would
take, both where they are kept and where they are read.
""",
    mutants=(
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i < B * P) {", "{")),
        mutant("images in their own order", kinds.OUT_OF_BOUNDS, ("order[row] * P", "row * P")),
        mutant("always the first of the batch", kinds.WRONG, ("order[row]", "order[0]")),
        mutant("divided as whole numbers", kinds.WRONG, ("value / 255.0f", "(int)value / 255")),
        mutant(
            "a byte kept in a byte",
            kinds.WRONG,
            ("const float value = images", "const signed char value = images"),
        ),
        mutant(
            "mean taken off first",
            kinds.WRONG,
            ("= (value / 255.0f - mean)", "= (value - mean) / 255.0f"),
        ),
        mutant("times the deviation", kinds.SCALED, (" / deviation;", " * deviation;")),
        mutant(
            "numbers written into the kernel",
            kinds.WRONG,
            ("- mean) / deviation;", "- 0.1307f) / 0.3081f;"),
        ),
        mutant(
            "a place in 16 bits",
            kinds.WRONG,
            ("images[order[row] * P + pixel]", "images[(unsigned short)(order[row] * P + pixel)]"),
        ),
        mutant("over 256", kinds.PRECISION, ("255.0f", "256.0f")),
        mutant(
            "columns of the batch",
            kinds.MEANS_MISSING,
            ("i / P;", "i % B;"),
            ("i % P;", "i / B;"),
            ("batch[i]", "batch[row * P + pixel]"),
        ),
    ),
)


def steps(rng: np.random.Generator, n: int, choices: tuple[int, ...]) -> dict:
    """Shifts for n images. One of them stays: not all of the result is 0, however small it is."""
    found = {name: rng.choice(choices, n).astype(np.int32) for name in ("down", "right")}
    stays = rng.integers(n)
    found["down"][stays] = found["right"][stays] = 0
    return found


def images_and_shifts(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    n, h, w = size
    images = {"x": floats(rng, size), "y": empty(size)}
    sizes = {"N": np.int32(n), "H": np.int32(h), "W": np.int32(w)}
    found = steps(rng, n, (-2, -1, 0, 1, 2))
    if max(h, w) > 300:  # a long step along a long side, and only there
        found["down"][:], found["right"][:] = 150 * (h > 300), -150 * (w > 300)
    return images | found | sizes


def shifted(given) -> dict:
    x, y = given["x"], np.zeros_like(given["x"])
    _, h, w = x.shape
    for k, (down, right) in enumerate(
        zip(given["down"].tolist(), given["right"].tolist(), strict=True)
    ):
        rows = slice(max(down, 0), max(min(h, h + down), 0))
        columns = slice(max(right, 0), max(min(w, w + right), 0))
        from_rows = slice(max(-down, 0), max(min(h, h - down), 0))
        from_columns = slice(max(-right, 0), max(min(w, w - right), 0))
        if abs(down) < h and abs(right) < w:
            y[k, rows, columns] = x[k, from_rows, from_columns]
    return {"y": y}


def shifts(label: str, *choices: int, along: str = "") -> Values:
    """Steps of these lengths, in both directions or ``along`` one, "down" or "right", alone."""

    def change(given, rng: np.random.Generator) -> dict:
        found = steps(rng, len(given["down"]), choices)
        return {name: n if along in ("", name) else 0 * n for name, n in found.items()}

    return Values(label, change)


SHIFT_IMAGES = Exercise(
    id="09.shift_images",
    title="each digit shifted by its own step",
    task="""
Shift each image by a step of its own; zeros come in at the sides that it leaves. A step may be
longer than the image: then all of it is 0.
""",
    source="09_mnist_cnn/exercises/shift_images.cu",
    kernel="shift_images",
    inputs=images_and_shifts,
    reference=shifted,
    launch=lambda size: one_thread_each(math.prod(size)),
    small=((5, 28, 28), (97, 28, 28), (3, 7, 13), (2, 1, 5), (1, 1, 1)),
    full=(60_000, 28, 28),
    exact=True,
    promises=Promises(
        sizes=promises.shapes(
            N=(1, 2, 31, 97), H=(1, 2, 3, 28, 61), W=(1, 2, 5, 28, 67)
        ).with_longest(N=1031, H=1031, W=1031),
        values=(
            promises.data("x", *promises.ANY_FLOAT),
            (
                shifts("shifts by many times 256", -65_536, -256, 256, 65_536),
                shifts("shifts down by many times 256", -65_536, 256, 65_536, along="down"),
                shifts(
                    "shifts to the right by many times 256", -65_536, 256, 65_536, along="right"
                ),
                shifts("shifts of 1", -1, 1),
                shifts("no shift", 0),
                shifts("shifts past the image", -1_000_000, -29, -28, 28, 29, 1_000_000),
                shifts("shifts of nearly all", -27, 27),
            ),
        ),
    ),
    means=(means.one_store_each(), means.work_shared_out(), means.no_extra_work()),
    hints=(
        "Ask for each pixel of y where it comes from, not for each pixel of x where it goes: then "
        "every pixel of y is written, the zeros too.",
        "Thread i makes pixel i: image `i / (H * W)`, row `i / W % H`, column `i % W`.",
        "What lies here now came from `row - down[image]` and `column - right[image]`.",
        "`y[i] = inside ? x[(image * H + row) * W + column] : 0.0f;`, with both ends of both axes "
        "in inside.",
    ),
    explanation="""
This is a **gather**: each result looks for its source. The other way round, a scatter, needs the
zeros written beforehand. All four comparisons are needed. Without those of the columns, a pixel
that leaves at the right would come in again at the left, one row further down.
""",
    mutants=(
        mutant("a short step", kinds.FIRST_BLOCK, ("- down[image]", "- (short)down[image]")),
        mutant("other way round", kinds.WRONG, ("- down[image]", "+ down[image]")),
        mutant("left for right", kinds.WRONG, ("- right[image]", "+ right[image]")),
        mutant(
            "down and right swapped",
            kinds.WRONG,
            ("- down[image]", "- right[image] "),
            ("W - right[image];", "W - down[image];"),
        ),
        mutant("one shift for all", kinds.WRONG, ("down[image]", "down[0]")),
        mutant("wraps at the side", kinds.OUT_OF_BOUNDS, (" && column >= 0 && column < W", "")),
        mutant(
            "times 0 outside",
            kinds.WRONG,
            (
                "inside ? x[(image * H + row) * W + column] : 0.0f;",
                "inside * x[(image * H + min(max(row, 0), H - 1)) * W"
                " + min(max(column, 0), W - 1)];",
            ),
        ),
        mutant("not guarded at the top", kinds.OUT_OF_BOUNDS, ("row >= 0 && ", "")),
        mutant("not guarded at the bottom", kinds.OUT_OF_BOUNDS, ("row < H && ", "")),
        mutant(
            "zeros left out",
            kinds.PARTLY_WRITTEN,
            (
                "y[i] = inside ? x[(image * H + row) * W + column] : 0.0f;",
                "if (inside) y[i] = x[(image * H + row) * W + column];",
            ),
        ),
        mutant(
            "edge repeated",
            kinds.WRONG,
            (
                "y[i] = inside ? x[(image * H + row) * W + column] : 0.0f;",
                "int r = min(max(row, 0), H - 1), c = min(max(column, 0), W - 1);\n"
                "        y[i] = inside ? x[(image * H + row) * W + column] "
                ": x[(image * H + r) * W + c];",
            ),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i < N * H * W) {", "{")),
    ),
)
