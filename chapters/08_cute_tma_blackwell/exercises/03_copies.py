"""The exercises of "Copies"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Ask,
    Cases,
    Exercise,
    Launch,
    Means,
    NumberExercise,
    Promises,
    PythonExercise,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.means import WorkDone

from .common import bytes_a_copy

FOLDER = "08_cute_tma_blackwell/exercises"

# --- The widest access ---


def any_move(rng: np.random.Generator) -> tuple:
    """Two layouts of one shape, mostly of powers of two, often without gaps."""
    shape = tuple(int(n) for n in rng.choice((1, 2, 2, 4, 4, 8, 3, 16), int(rng.integers(1, 5))))
    order = rng.permutation(len(shape))
    source = compact(rng, shape, order)
    if rng.random() < 0.5:
        order = rng.permutation(len(shape))
    return shape, source, compact(rng, shape, order), int(rng.choice((1, 2, 4, 8, 16)))


def compact(rng: np.random.Generator, shape: tuple, order: np.ndarray) -> tuple:
    """Strides with the modes in this order, fastest first, and perhaps a gap before one. That of a
    mode of one element may be 0."""
    reach, stride = int(rng.choice((1, 1, 1, 1, 2))), [0] * len(shape)
    gaps = (0, 0, 0, 1, 2, 4, 8) if rng.random() < 0.6 else (0,)
    for mode in order:
        if shape[mode] > 1 or rng.random() < 0.5:
            stride[mode] = reach
            reach = reach * shape[mode] + int(rng.choice(gaps))
    return tuple(stride)


def widest(shape: tuple, source: tuple, target: tuple, element: int) -> int:
    """Tried on two arrays of bytes: each piece of the source is found whole in the target."""
    numbers = np.arange(int(np.prod(shape)))
    coordinates = np.unravel_index(numbers, shape)
    start = [np.dot(stride, coordinates) * element for stride in (source, target)]
    memory = [np.full(int(at.max()) + element + 16, -1) for at in start]
    for at, room in zip(start, memory, strict=True):
        for byte in range(element):
            room[at + byte] = numbers * element + byte
    for width in (16, 8, 4, 2, 1):
        whole = [room[: len(room) // width * width].reshape(-1, width) for room in memory]
        pieces = [{tuple(piece) for piece in part if (piece >= 0).any()} for part in whole]
        if width <= element or (pieces[0] == pieces[1] and -1 not in set().union(*pieces[0])):
            return max(width, element)
    raise AssertionError("an element always moves by itself")


WIDEST = PythonExercise(
    id="08.access_bytes",
    title="the widest access",
    task="""
Elements of `element` bytes move from the layout `shape:source` to `shape:target`; the tuples have
a number for each mode. Write `access_bytes(shape, source, target, element)`: the width of the
widest accesses, 16, 8, 4, 2 or 1 bytes, by which **every** element can be moved, the same for
all. What one access moves lies together in both memories, in the same order, and begins in both
at a multiple of its width. Both memories begin at multiples of 16 bytes, nothing else may be
touched, and no two coordinates have one offset. An element is never torn: it has 1 to 16 bytes, a
power of two.
""",
    source=f"{FOLDER}/access_bytes.py",
    function="access_bytes",
    cases=(
        ((8,), (1,), (1,), 4),
        ((4, 8), (1, 4), (8, 1), 4),
        ((4, 8), (8, 1), (8, 1), 4),
        ((4, 8), (9, 1), (8, 1), 4),
        ((6,), (1,), (1,), 4),
        ((2, 4), (1, 2), (1, 4), 2),
        ((4, 8), (1, 4), (1, 4), 2),
        ((3,), (1,), (1,), 16),
        ((4,), (2,), (1,), 4),
        ((1,), (1,), (1,), 1),
        ((2, 2, 2), (1, 2, 4), (1, 4, 2), 4),
        ((2, 2, 2, 2, 2), (1, 2, 4, 8, 16), (1, 2, 4, 16, 8), 2),
        ((2, 4), (1, 2), (4, 1), 1),
        ((16, 2), (1, 16), (1, 24), 1),
        ((1, 16), (0, 1), (7, 1), 1),
    ),
    reference=widest,
    promises=Cases(any_move, count=48),
    means="Trying the widths is as right as reasoning about strides.",
    hints=(
        "Make a table: which offset in the target belongs to which offset in the source?",
        "For a width of `count` elements each element belongs to a group that begins at a multiple "
        "of `count`. The group moves at once if its target offsets go up by one, from a multiple "
        "of `count`, too.",
        "Begin with 16 bytes, and halve while some element is in no such group.",
    ),
    explanation="""
`copy` reasons with strides where this answer tries, since it has to know at compile time: it
takes the elements that are contiguous in both layouts (`max_common_vector`), and the alignment
that the other strides leave. Where a layout is padded, as (4,8):(9,1) is, only one row in four
begins at a multiple of 16 bytes, and one such row decides for all.
""",
    mutants=(
        mutant(
            "the alignment in the target forgotten", kinds.WRONG, ("start % count == 0", "True")
        ),
        mutant(
            "only the first piece",
            kinds.WRONG,
            (
                "all(together(at, width // element) for at in place)",
                "together(0, width // element)",
            ),
        ),
        mutant(
            "the order in the target forgotten",
            kinds.WRONG,
            ("place.get(first + k) == start + k", "first + k in place"),
        ),
        mutant(
            "the ends of a piece alone",
            kinds.WRONG,
            ("for k in range(count)", "for k in (0, count - 1)"),
        ),
        mutant(
            "an alignment of eight elements at most",
            kinds.WRONG,
            ("start % count == 0", "start % min(count, 8) == 0"),
        ),
        mutant("8 bytes at most", kinds.WRONG, ("width = 16", "width = max(8, element)")),
        mutant(
            "elements of 4 bytes", kinds.WRONG, ("width // element) for", "width // 4 or 1) for")
        ),
        mutant(
            "groups that begin anywhere",
            kinds.WRONG,
            ("first = at - at % count", "first = at"),
        ),
    ),
)

# --- Requests and sectors, predicted ---

PREDICT = NumberExercise(
    id="08.predict_pieces",
    title="four neighbours, one by one",
    task="""
One block of this kernel runs; x and y begin at multiples of 128 bytes. The compiler makes a load
of 4 bytes of each `x[...]`, a store of each `y[...]`, and unrolls both loops. Predict.
""",
    source=f"{FOLDER}/move_by_pieces.cu",
    kernel="move_by_pieces",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n)},
    launch=lambda n: Launch((n // 128,), (32,)),
    asks={
        "load_sectors": Ask(
            question="sectors that the loads of the warp touch, all four requests together",
            size=128,
            measure=lambda counts: counts.global_load_sectors,
            traps={
                16: "512 bytes are 16 sectors, and each of the four requests touches all of them: "
                "neighbouring threads are 16 bytes apart.",
                128: "Two threads share a sector: their numbers are 16 bytes apart.",
            },
        ),
        "store_sectors": Ask(
            question="sectors that the stores of the warp touch, all four requests together",
            size=128,
            measure=lambda counts: counts.global_store_sectors,
            traps={
                64: "A store takes 32 neighbours of y: k is the same for all threads.",
                4: "That is one request; there are four.",
            },
        ),
        "wide_load_sectors": Ask(
            question="sectors of the loads, had each thread loaded its four numbers by one float4",
            size=128,
            measure=lambda counts: counts.global_load_sectors / counts.global_load_requests,
            traps={64: "One request now, not four: each of the 16 sectors is touched once."},
        ),
    },
    hints=(
        "A request is 32 addresses. Write down those of k = 0: how far are two neighbours apart?",
        "For loads, 16 bytes apart: two threads a sector. For stores, 4 bytes: eight threads.",
        "Each of the four load requests touches the same 16 sectors.",
    ),
    explanation="""
Both loops move the same 512 bytes. Where a thread's own numbers are neighbours, one by one costs
four times the sectors, and one access of 16 bytes none too many; where a warp's are, 4 bytes are
enough.
""",
    mutants=(
        mutant("one request", kinds.WRONG_NUMBER, ("\nload_sectors = 64", "\nload_sectors = 16")),
        mutant("as the loads", kinds.WRONG_NUMBER, ("store_sectors = 16", "store_sectors = 64")),
        mutant("dots left", kinds.WRONG_TYPE, ("store_sectors = 16", "store_sectors = ...")),
        mutant("renamed", kinds.WRONG_NAME, ("wide_load_sectors = 16", "sectors = 16")),
    ),
)

# --- A copy from a shifted place ---


def shifted_inputs(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    n, shift = size
    return {
        "x": floats(rng, n + shift),
        "y": empty(n),
        "shift": np.int32(shift),
        "n": np.int32(n),
    }


def bytes_a_store(work: WorkDone) -> float:
    return work.counts.global_store_bytes / work.opcodes("st.global")


SHIFTED = Exercise(
    id="08.shifted_copy",
    title="aligned on one side only",
    task="""
Copy n floats from x, beginning at element `shift`, to y, with stores of 16 bytes wherever four
elements exist. Both arrays begin at multiples of 16 bytes; with the shift, the loads need not.
""",
    source=f"{FOLDER}/shifted_copy.cu",
    kernel="shifted_copy",
    inputs=shifted_inputs,
    reference=lambda given: {"y": given["x"][int(given["shift"]) :]},
    launch=lambda size: Launch((-(-size[0] // 1024),), (256,)),
    small=((1027, 3), (64, 0), (6, 1), (1, 1)),
    full=(1 << 26, 3),
    promises=Promises(
        sizes=promises.shapes(
            n=promises.extents(5000), shift=(0, 1, 2, 3, 4, 5, 6, 7, 33)
        ).with_longest(n=65543, shift=131101),
        values=(promises.data("x", *promises.ANY_FLOAT),),
    ),
    exact=True,
    means=(
        means.one_store_each(),
        means.one_store_each(size=(1027, 4)),
        means.work_shared_out(size=(4096, 1)),
        *(
            Means(
                "bytes that a thread stores at once",
                bytes_a_store,
                at_least=15,
                advice="Store four elements by one float4: y begins at a multiple of 16 bytes, and "
                "so does each group of four in it.",
                size=size,
            )
            for size in ((4096, 131101), (4096, 4), (4, 1))
        ),
    ),
    hints=(
        "Which of the two addresses is a multiple of 16 bytes, `&y[first]` or `&x[first + shift]`?",
        "Load four floats one by one, and store them as one `float4`.",
        "`*reinterpret_cast<float4*>(&y[first]) = make_float4(…);` where `first + 3 < n`, "
        "a loop elsewhere.",
    ),
    explanation="""
An address that is no multiple of 16 faults at once, on a GPU with an error that names no line.
CuTe does not help: `copy` on layouts that it knows takes the alignment for granted. To tell it
otherwise there is `AutoVectorizingCopyWithAssumedAlignment<32>{}` as the first argument.
""",
    mutants=(
        mutant(
            "loads of 16 bytes, too",
            kinds.MISALIGNED,
            (
                "make_float4(from[0], from[1], from[2], from[3])",
                "*reinterpret_cast<const float4*>(from)",
            ),
        ),
        mutant(
            "no rest",
            kinds.EDGES,
            ("for (int k = 0; first + k < n; ++k)", "if (n < 0) for (int k = 0;;)"),
        ),
        mutant("16 bytes at the end, too", kinds.OUT_OF_BOUNDS, ("first + 3 < n", "first < n")),
        mutant(
            "one by one",
            kinds.MEANS_MISSING,
            ("first + 3 < n", "n < 0"),
            ("first + k < n;", "k < 4 && first + k < n;"),
        ),
        mutant(
            "one by one behind a large shift",
            kinds.MEANS_MISSING,
            ("first + 3 < n", "first + 3 < n && shift < 100000"),
            ("first + k < n;", "k < 4 && first + k < n;"),
        ),
        mutant(
            "one by one of four elements",
            kinds.MEANS_MISSING,
            ("first + 3 < n", "first + 4 < n"),
        ),
        mutant(
            "one by one where the shift is a multiple of 4",
            kinds.MEANS_MISSING,
            ("first + 3 < n", "first + 3 < n && shift % 4 != 0"),
            ("first + k < n;", "k < 4 && first + k < n;"),
        ),
        mutant("no shift", kinds.WRONG, ("x + shift + first", "x + first")),
        mutant(
            "shifted by groups", kinds.WRONG, ("x + shift + first", "x + shift / 4 * 4 + first")
        ),
        mutant("the rest unguarded", kinds.OUT_OF_BOUNDS, ("first + k < n;", "k < 4;")),
    ),
)

# --- Pixels apart ---


def pixel_inputs(rng: np.random.Generator, n: int) -> dict:
    return {"pixels": floats(rng, 3 * n), "planes": empty(3 * n), "n": np.int32(n)}


PLANES = Exercise(
    id="08.planes_of_pixels",
    title="a picture taken apart",
    task="""
The way back: pixels of three neighbouring floats become three planes. A block of 192 threads has
256 pixels, each thread fetches 16 bytes into shared memory by `cp.async` and stores 16 bytes into
a plane. `SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>::copy(from, to)` takes the two places themselves,
not pointers: `reinterpret_cast<const uint128_t*>(from)[t]`. `cp_async_fence()` commits,
`cp_async_wait<0>()` waits.
""",
    source=f"{FOLDER}/planes_of_pixels.cu",
    kernel="planes_of_pixels",
    inputs=pixel_inputs,
    reference=lambda given: {"planes": given["pixels"].reshape(-1, 3).T.ravel()},
    launch=lambda n: Launch((n // 256,), (192,)),
    small=(1024, 256, 768),
    full=1 << 24,
    promises=Promises(
        sizes=promises.lengths(of=256).with_longest(n=66_048),
        values=(promises.data("pixels", *promises.ANY_FLOAT),),
    ),
    exact=True,
    means=(
        means.one_store_each(),
        means.work_shared_out(),
        Means(
            "bytes that cp.async copies, over those of the pixels",
            lambda work: work.counts.shared_copy_bytes / work.result_bytes,
            at_least=1,
            at_most=1,
            advice="All of the pixels come by `cp.async`, each once.",
        ),
        means.threads_that_start(
            at_least=4 * 192, advice="Each thread fetches 16 bytes, as it stores 16.", size=1024
        ),
        means.instructions(
            "loads from global memory into registers",
            "ld.global",
            at_most=0,
            advice="What a thread stores it reads from the tile.",
        ),
        bytes_a_copy(),
        Means(
            "bytes that a thread stores at once",
            bytes_a_store,
            at_least=16,
            advice="A thread has four neighbours of one plane: store them by one float4. (The "
            "compiler makes one store of it where the pixel is `t % 64 * 4`, and four for "
            "`(t & 63) * 4`.)",
        ),
    ),
    hints=(
        "The tile holds what came, pixel after pixel: number c of pixel i is at 3 i + c. Which "
        "layout of (pixel, plane) is that?",
        "Thread t stores for plane t / 64 the pixels from 4 · (t % 64) on. Between the copy and "
        "the first read: `cp_async_fence()`, `cp_async_wait<0>()`, `__syncthreads()`.",
        "`Layout<Shape<_256, _3>, Stride<_3, _1>>`; to `planes + plane * n + 256 * blockIdx.x + "
        "pixel` goes a float4.",
    ),
    explanation="""
The wait is for the copies of this thread, the barrier for those of the others: leave one out and
a warp reads what has not arrived. In CuTe's words `SM80_CP_ASYNC_CACHEGLOBAL` is the *operation*
of a copy atom; here you called it without the atom.
""",
    mutants=(
        mutant("no wait", kinds.DATA_RACE, ("    cp_async_wait<0>();\n", "")),
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads();\n", "")),
        mutant(
            "waits for all groups but one",
            kinds.DATA_RACE,
            ("cp_async_wait<0>", "cp_async_wait<1>"),
        ),
        mutant("the layout of planes", kinds.WRONG, ("Stride<_3, _1>", "Stride<_1, _256>")),
        mutant(
            "by way of registers",
            kinds.MEANS_MISSING,
            (
                "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>::copy(",
                "auto plainly = [](auto const& from, auto& to) { to = from; };\n    plainly(",
            ),
        ),
        mutant(
            "64 threads fetch",
            kinds.MEANS_MISSING,
            (
                "    SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>::copy(reinterpret_cast<const uint128_t*>"
                "(from)[t],\n                                               reinterpret_cast<"
                "uint128_t*>(tile)[t]);\n",
                "    for (int i = t * 3; t < 64 && i < t * 3 + 3; ++i)\n"
                "        SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>::copy(\n"
                "            reinterpret_cast<const uint128_t*>(from)[i],\n"
                "            reinterpret_cast<uint128_t*>(tile)[i]);\n",
            ),
        ),
        mutant(
            "a tile that nobody reads",
            kinds.MEANS_MISSING,
            ("    const auto", "#define tile from\n    const auto"),
        ),
    ),
)

EXERCISES = (WIDEST, PREDICT, SHIFTED, PLANES)
