"""The exercises of "TMA"."""

from __future__ import annotations

import numpy as np

from course_utils.emulator import Box
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
from course_utils.layouts import Layout

FOLDER = "08_cute_tma_blackwell/exercises"
BOX = {"box": (8, 32)}


def boxes(rows: int, columns: int) -> tuple[int, int]:
    """The grid with a block for each box of 8 x 32."""
    return -(-columns // 32), -(-rows // 8)


def copies_by_tma(at_least: float, advice: str, size: tuple | int) -> Means:
    return Means(
        "bytes that TMA fetches from global memory",
        lambda work: work.counts.bulk_global_load_bytes,
        at_least,
        advice=advice,
        size=size,
    )


# --- The fields of a map ---


def any_map(rng: np.random.Generator) -> tuple:
    rank = int(rng.integers(2, 6))
    size = int(rng.choice((1, 2, 4, 8)))
    shape = tuple(int(n) for n in rng.integers(1, 300, rank))
    pitch = shape[-1] * size
    if rng.random() < 0.8:
        pitch = -(-pitch // 16) * 16 + int(rng.choice((0, 0, 16, 48)))
    row = int(rng.choice((8, 16, 32, 64, 128, 256))) // size or 1
    sides = (int(n) for n in rng.choice((1, 2, 8, 64, 256, 257), rank - 1, p=(*[0.19] * 5, 0.05)))
    return shape, pitch, size, (*sides, row), int(rng.choice((0, 32, 64, 128)))


def listed(shape: tuple, pitch: int, element_bytes: int, box: tuple, swizzle: int) -> tuple:
    """By what NumPy makes of such a tensor."""
    padded = Layout(shape[-2::-1], tuple(int(n) for n in np.cumprod((1, *shape[-2:0:-1]))))
    strides = tuple(pitch * step for step in padded.stride)
    row = box[-1] * element_bytes
    wrong = [stride % 16 for stride in strides] + [row % 16, swizzle and row > swizzle]
    wrong += [not 0 < side < 257 for side in box]
    return () if any(wrong) else (shape[::-1], strides, box[::-1])


FIELDS = PythonExercise(
    id="08.map_fields",
    title="the fields of a tensor map",
    task="""
Write `map_fields(shape, pitch, element_bytes, box, swizzle)`: what `tensor_map` has to tell the
driver about a row-major tensor of two to five dimensions whose rows are padded to `pitch` bytes. A
tuple of three tuples, each with the *last* axis first: the sizes in elements, the strides in bytes
of all axes but the last, and the box in elements. Or `()`, where TMA can not copy that box.
""",
    source=f"{FOLDER}/map_fields.py",
    function="map_fields",
    cases=(
        ((100, 60), 240, 4, (8, 32), 0),
        ((100, 60), 240, 4, (8, 32), 128),
        ((100, 60), 240, 4, (8, 32), 64),
        ((100, 61), 244, 4, (8, 32), 0),
        ((100, 61), 256, 4, (8, 32), 0),
        ((16, 9, 24), 48, 2, (1, 8, 8), 0),
        ((16, 9, 24), 64, 2, (1, 8, 4), 0),
        ((3, 4, 5, 6, 8), 32, 4, (1, 1, 2, 3, 8), 32),
        ((300, 64), 64, 1, (256, 64), 64),
        ((300, 64), 64, 1, (257, 64), 64),
        ((300, 64), 64, 1, (0, 64), 64),
        ((300, 512), 512, 1, (4, 272), 0),
        ((300, 512), 512, 2, (4, 256), 0),
    ),
    reference=listed,
    promises=Cases(any_map),
    means="Any way to the tuples is right.",
    hints=(
        "`values[::-1]` turns a tuple round.",
        "The stride of the last axis but one is the pitch; each axis before it has the stride of "
        "the one after it, times that one's size.",
        "Of ((16, 9, 24), pitch 48) the strides are 48 and 9 · 48 = 432: the size of the axis "
        "before the last counts, the size of the first does not.",
    ),
    explanation="""
The map says nothing of threads, and nothing of where a box begins: that comes with each copy. It
knows how far the tensor reaches, so nobody has to test whether a box lies inside.
""",
    mutants=(
        mutant("shape not turned round", kinds.WRONG, ("tuple(shape[::-1])", "tuple(shape)")),
        mutant("box not turned round", kinds.WRONG, ("tuple(box[::-1])", "tuple(box)")),
        mutant("strides without padding", kinds.WRONG, ("[pitch]", "[shape[-1] * element_bytes]")),
        mutant("strides by the axis itself", kinds.WRONG, ("shape[-2:0:-1]", "shape[-3::-1]")),
        mutant("strides in elements", kinds.WRONG, ("[pitch]", "[pitch // element_bytes]")),
        mutant(
            "strides of any length", kinds.WRONG, ("any(stride % 16 for stride in strides) or ", "")
        ),
        mutant("rows of any length", kinds.WRONG, (" or row % 16", "")),
        mutant("boxes of any side", kinds.WRONG, ("1 <= side <= 256", "1 <= side")),
        mutant("boxes of no rows", kinds.WRONG, ("1 <= side <= 256", "side <= 256")),
        mutant("rows of any side", kinds.WRONG, ("for side in box)", "for side in box[:-1])")),
        mutant(
            "128 bytes a row",
            kinds.WRONG,
            ("(swizzle and row > swizzle)", "row > (swizzle or 128)"),
        ),
        mutant("no look at the swizzle", kinds.WRONG, ("swizzle and row > swizzle", "False")),
        mutant("rows shorter than the swizzle", kinds.WRONG, ("row > swizzle", "row >= swizzle")),
    ),
)

# --- Where an element lies ---


def any_element(rng: np.random.Generator) -> tuple:
    size = int(rng.choice((1, 2, 4, 8)))
    swizzle = int(rng.choice((0, 32, 64, 128)))
    row = swizzle or int(rng.choice((16, 48, 256)))
    return (
        128 * int(rng.integers(0, 64)),
        int(rng.integers(0, 64)),
        int(rng.integers(0, row // size)),
        row,
        size,
        swizzle,
    )


def by_the_emulator(
    base: int, row: int, column: int, row_bytes: int, size: int, swizzle: int
) -> int:
    """Where the emulator's TMA puts it."""
    width = row_bytes // size
    kind, ones = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}[size], (1, 1)
    box = Box(0, kind, (width, 64), (size, row_bytes), (width, 64), ones, swizzle, False)
    return base + int(box.shared_offsets(base)[row * width + column])


ADDRESS = PythonExercise(
    id="08.box_address",
    title="where an element of a box lies",
    task="""
Write `box_address(base, row, column, row_bytes, element_bytes, swizzle)`: the address in shared
memory of the first byte of an element of a box that TMA has brought. With a swizzle a row of the
box has as many bytes as the swizzle spans.
""",
    source=f"{FOLDER}/box_address.py",
    function="box_address",
    cases=(
        (0, 1, 0, 128, 4, 128),
        (0, 9, 5, 128, 4, 128),
        (1024, 3, 17, 128, 2, 128),
        (128, 0, 0, 128, 4, 128),
        (0, 2, 0, 64, 4, 64),
        (0, 7, 3, 64, 8, 64),
        (0, 4, 0, 32, 4, 32),
        (0, 5, 31, 32, 1, 32),
        (256, 3, 5, 48, 4, 0),
        (0, 3, 5, 256, 4, 0),
        (200_064, 9, 5, 128, 4, 128),
    ),
    reference=by_the_emulator,
    promises=Cases(any_element, 24),
    means="Any way to the number is right.",
    hints=(
        "Without a swizzle: base + row · row_bytes + column · element_bytes.",
        "Bits 4 and up of an address number the chunks of 16 bytes, bits 7 and up the lines of 128 "
        "bytes. The 128-byte swizzle XORs bits 7 to 9 onto bits 4 to 6; the others take fewer.",
        "`address ^ (address >> 7 & mask) << 4`, with mask 7, 3, 1 or 0.",
    ),
    explanation="""
The swizzle goes by the address and not by the row: with rows of 64 bytes two rows share a line of
128 bytes, and a box that does not begin at a multiple of 1,024 bytes begins in the middle of the
pattern. In CuTe's words, counted in bytes: Swizzle<3, 4, 3>, <2, 4, 3> and <1, 4, 3>.
""",
    mutants=(
        mutant(
            "addresses of 16 bits", kinds.WRONG, ("return address ^", "return address & 0xFFFF ^")
        ),
        mutant("by the row of the box", kinds.WRONG, ("(address >> 7 &", "(row &")),
        mutant("without the base", kinds.WRONG, ("(address >> 7 &", "(address - base >> 7 &")),
        mutant("three bits always", kinds.WRONG, ("chunks - 1)", "7)")),
        mutant("all bits of the span", kinds.WRONG, ("swizzle // 16", "swizzle // 8")),
        mutant("no swizzle", kinds.WRONG, (" ^ (address >> 7 & chunks - 1) << 4", "")),
        mutant("chunks of eight bytes", kinds.WRONG, (") << 4", ") << 3")),
        mutant("lines of 64 bytes", kinds.WRONG, (">> 7", ">> 6")),
        mutant("added", kinds.WRONG, ("address ^ (", "address + (")),
    ),
)

# --- Bytes to expect ---


def any_copies(rng: np.random.Generator) -> tuple:
    copies = []
    for _ in range(int(rng.integers(0, 6))):
        box = tuple(int(n) for n in rng.choice((1, 2, 8, 16, 64), int(rng.integers(1, 4))))
        blocks = tuple(int(b) for b in np.flatnonzero(rng.random(4) < 0.6))
        inside = int(rng.integers(0, np.prod(box) + 1))
        copies.append((box, int(rng.choice((1, 2, 4, 8))), inside, blocks))
    return copies, int(rng.integers(0, 4))


def counted(copies: list, rank: int) -> int:
    arrived = 0
    for box, size, _, blocks in copies:
        arrived += blocks.count(rank) * len(np.empty(box, np.int8).ravel()) * size
    return arrived


ONE_THREAD = mutant(
    "one thread does it all",
    kinds.MEANS_MISSING,
    (
        "i = threadIdx.x; i < 8 * 32; i += blockDim.x",
        "i = threadIdx.x ? 8 * 32 : 0; i < 8 * 32; ++i",
    ),
)
BYTES = PythonExercise(
    id="08.expected_bytes",
    title="count the transaction bytes",
    task="""
Write `expected_bytes(copies, rank)`: how many bytes the mbarrier of block `rank` of a cluster has
to expect. It does not matter which block starts a copy.
""",
    source=f"{FOLDER}/expected_bytes.py",
    function="expected_bytes",
    cases=(
        ([((8, 32), 4, 256, (0,))], 0),
        ([((8, 32), 4, 256, (0,))], 1),
        ([((8, 32), 4, 100, (0,))], 0),
        ([((8, 32), 4, 256, (0,)), ((8, 32), 4, 256, (0,))], 0),
        ([((64, 64), 2, 4096, (0,)), ((128, 64), 2, 8192, (0, 1))], 1),
        ([((64, 64), 2, 4096, (0,)), ((128, 64), 2, 8192, (0, 1))], 0),
        ([((1, 8, 8, 64), 2, 0, (0, 1, 2, 3))], 2),
        ([], 0),
    ),
    reference=counted,
    promises=Cases(any_copies),
    means="Any way to the number is right.",
    hints=(
        "A barrier is told of the bytes that are written to the shared memory of its block.",
        "What lies outside of the tensor is written too, as zeros or NaN: the whole box counts.",
        "`blocks` decides whether a copy counts, the box and the size of an element how much.",
    ),
    explanation="""
The number is the same for a box in the middle and for one at the edge, so it is a constant of the
kernel: that is why TMA counts what it fills.
""",
    mutants=(
        mutant("only what lies inside", kinds.WRONG, ("prod(box) * size for", "inside * size for")),
        mutant("elements", kinds.WRONG, ("prod(box) * size for", "prod(box) for")),
        mutant("every copy", kinds.WRONG, (" if rank in blocks", "")),
        mutant(
            "once for each block",
            kinds.WRONG,
            ("prod(box) * size for", "len(blocks) * prod(box) * size for"),
        ),
        mutant("only its own copies", kinds.WRONG, ("if rank in blocks", "if blocks == (rank,)")),
        mutant("two sides of the box", kinds.WRONG, ("in extents:", "in extents[:2]:")),
    ),
)

# --- The first load ---

LOAD = Exercise(
    id="08.upside_down",
    title="load a box",
    task="""
Turn a picture upside down. The way out is written; write the way in: a block's box of 8 x 32 comes
by one TMA load, and no thread reads `tile` before it is there.
""",
    source=f"{FOLDER}/upside_down.cu",
    kernel="upside_down",
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "y": empty(size),
        "rows": np.int32(size[0]),
        "columns": np.int32(size[1]),
    },
    maps={"x": BOX},
    reference=lambda given: {"y": given["x"][::-1]},
    launch=lambda size: Launch(boxes(*size), (64,)),
    small=((19, 36), (8, 32), (1, 4)),
    full=(8192, 8192),
    exact=True,
    promises=Promises(
        sizes=promises.shapes(rows=(1, 7, 8, 9, 33), columns=(4, 28, 32, 36, 68)).with_longest(
            rows=131, columns=516
        ),
        values=(promises.data("x", *promises.ANY_FLOAT),),
    ),
    means=(
        copies_by_tma(19 * 36 * 4, "The box comes by tma_load.", (19, 36)),
        means.one_store_each(),
        means.work_shared_out(size=(16, 64)),
    ),
    hints=(
        "Five steps: mbarrier_init for one arrival, mbarriers_are_ready, mbarrier_expect and "
        "tma_load, all by one thread; then mbarrier_wait by everybody.",
        "A barrier that thread 0 makes is there for others only after a __syncthreads().",
        "The box has 8 · 32 · 4 bytes, at the edge too. It begins at column first_column, row "
        "first_row; the first phase has parity 0.",
    ),
    explanation="""
256 elements and one instruction of one thread. The guard in the loop keeps the *stores* inside; the
load needs none, since the map knows where x ends.
""",
    mutants=(
        mutant(
            "nothing announced",
            kinds.DATA_RACE,
            (
                "mbarrier_expect(shared_address(&arrived), sizeof(tile))",
                "mbarrier_arrive(shared_address(&arrived))",
            ),
        ),
        mutant(
            "no wait", kinds.DATA_RACE, ("    mbarrier_wait(shared_address(&arrived), 0);\n", "")
        ),
        mutant(
            "the wrong parity",
            kinds.DATA_RACE,
            ("wait(shared_address(&arrived), 0)", "wait(shared_address(&arrived), 1)"),
        ),
        ONE_THREAD,
        mutant(
            "large numbers cut off",
            kinds.WRONG,
            ("= tile[i / 32][i % 32];", "= fminf(tile[i / 32][i % 32], 1e30f);"),
        ),
        mutant("no fence", kinds.DATA_RACE, ("        mbarriers_are_ready();\n", "")),
        mutant("no barrier", kinds.ORDER, ("    __syncthreads();\n", "")),
        mutant("elements announced", kinds.DEADLOCK, ("sizeof(tile))", "8 * 32)")),
        mutant("twice the bytes", kinds.DEADLOCK, ("sizeof(tile))", "2 * sizeof(tile))")),
        mutant(
            "two arrivals",
            kinds.DEADLOCK,
            ("&arrived), 1);\n        mbarriers", "&arrived), 2);\n        mbarriers"),
        ),
        mutant("every thread", kinds.BARRIER, ("if (threadIdx.x == 0)", "if (threadIdx.x < 64)")),
        mutant(
            "row before column",
            kinds.WRONG,
            ("first_column, first_row, shared", "first_row, first_column, shared"),
        ),
        mutant(
            "boxes counted",
            kinds.MISALIGNED,
            ("first_column, first_row, shared", "blockIdx.x, blockIdx.y, shared"),
        ),
        mutant(
            "a box too early",
            kinds.WRONG,
            ("&x, first_column, first_row", "&x, first_column, first_row - 8"),
        ),
    ),
)

# --- Find the deadlock ---

RING = Exercise(
    id="08.stuck_ring",
    title="find the deadlock",
    task="""
The largest of each column comes out right for up to sixteen rows, also where all of it is −∞. With
more rows the kernel stands still. The emulator says who waits, for which barrier, and what it
lacks: mend the line.
""",
    source=f"{FOLDER}/stuck_ring.cu",
    kernel="stuck_ring",
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "largest": empty(size[1]),
        "rows": np.int32(size[0]),
        "columns": np.int32(size[1]),
    },
    maps={"x": {**BOX, "fill": "nan"}},
    reference=lambda given: {"largest": given["x"].max(axis=0)},
    launch=lambda size: Launch((-(-size[1] // 32),), (64,)),
    small=((37, 36), (16, 32), (1, 4)),
    full=(8192, 4096),
    bug=kinds.DEADLOCK,
    exact=True,
    promises=Promises(
        sizes=promises.shapes(rows=(1, 8, 15, 17, 24, 33), columns=(4, 32, 36)).with_longest(
            rows=1031, columns=260
        ),
        values=(
            promises.data(
                "x", *promises.ANY_ORDERED, promises.LAST_INFINITE, promises.FAINT, promises.HUGE
            ),
        ),
    ),
    means=(
        copies_by_tma(37 * 36 * 4, "The boxes come by tma_load.", (37, 36)),
        means.room_in_shared_memory(2 * 1024 + 128, advice="Two stages are enough.", size=(37, 36)),
    ),
    hints=(
        "The report names `empty[0]` and how many arrivals it lacks. Who arrives there?",
        "One lane speaks for its warp: how many arrivals is that a lap?",
        "`mbarrier_init(shared_address(&empty[stage]), 1)`; or let every lane arrive.",
    ),
    explanation="""
For two boxes nobody ever waits for `empty`, since both stages begin free: such a bug passes every
small test. Both repairs are right. One arrival a warp is what large kernels do: 32 arrivals are 32
atomic operations on one word.
""",
    mutants=(
        mutant(
            "two arrivals", kinds.DEADLOCK, ("&empty[stage]), 1); //", "&empty[stage]), 2); //")
        ),
        mutant("nobody arrives", kinds.DEADLOCK, ("if (lane == 0) {", "if (lane == 32) {")),
        mutant("all arrive for one", kinds.BARRIER, ("if (lane == 0) {", "if (lane >= 0) {")),
        mutant("full waits for two", kinds.DEADLOCK, ("&full[stage]), 1);", "&full[stage]), 2);")),
        mutant("the first lap waits", kinds.DEADLOCK, ("lap % 2 ^ 1", "lap % 2")),
        mutant(
            "no wait for empty",
            kinds.BARRIER,
            ("            mbarrier_wait(shared_address(&empty[stage]), lap % 2 ^ 1);\n", ""),
        ),
        mutant(
            "full's parity stays", kinds.BARRIER, ("&full[stage]), lap % 2)", "&full[stage]), 0)")
        ),
        mutant(
            "right for 14 laps",
            kinds.BARRIER,
            ("&full[stage]), lap % 2)", "&full[stage]), lap < 14 && lap % 2)"),
        ),
        mutant(
            "a box less announced",
            kinds.DEADLOCK,
            ("&full[stage]), kBytes)", "&full[stage]), kBytes / 2)"),
        ),
        mutant(
            "lanes not awaited",
            kinds.ORDER,
            ("            __syncwarp(); // all lanes have read the stage\n", ""),
        ),
        mutant(
            "one stage more than there is",
            kinds.OUT_OF_BOUNDS,
            ("ring[stage]), &x", "ring[stage + 1]), &x"),
        ),
    ),
)

# --- Place the fence ---

WIDE = "about 1e17", lambda x, rng: x * np.float32(1e17)


def squares(given: dict) -> dict:
    return {"y": given["x"] * given["x"]}


FENCE = Exercise(
    id="08.unseen_squares",
    title="place the fence",
    task="""
Threads write squares into a tile, and TMA stores the tile. There is a fence, and yet nothing says
that TMA sees the squares. Read the verdict, and put the fence where it belongs.
""",
    source=f"{FOLDER}/unseen_squares.cu",
    kernel="unseen_squares",
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "y": empty(size),
        "rows": np.int32(size[0]),
        "columns": np.int32(size[1]),
    },
    maps={"y": BOX},
    reference=squares,
    launch=lambda size: Launch(boxes(*size), (64,)),
    small=((19, 36), (8, 32), (1, 4)),
    full=(8192, 8192),
    bug=kinds.DATA_RACE,
    promises=Promises(
        sizes=promises.shapes(rows=(1, 7, 8, 9, 33), columns=(4, 28, 32, 36, 68)).with_longest(
            rows=131, columns=516
        ),
        values=(promises.data("x", *promises.ORDINARY, *promises.STRANGE, promises.LARGE, WIDE),),
    ),
    means=(
        Means(
            "bytes that TMA stores",
            lambda work: work.counts.bulk_global_store_bytes,
            at_least=19 * 36 * 4,
            at_most=19 * 36 * 4,
            advice="The tile leaves by tma_store, once.",
            size=(19, 36),
        ),
        means.work_shared_out(size=(16, 64)),
    ),
    hints=(
        "Threads and TMA see shared memory by different ways, the generic and the asynchronous "
        "proxy. A fence orders what its own thread did *before* it.",
        "So it stands after the loop. And one thread starts the store for all: which barrier tells "
        "it that all have fenced?",
        "Loop, `writes_are_ready()`, `__syncthreads()`.",
    ),
    explanation="""
Write, fence, meet, store: in this order. The barrier alone makes the writes visible to threads; the
fence alone says nothing about when others are done.
""",
    mutants=(
        mutant(
            "no fence",
            kinds.DATA_RACE,
            ("    writes_are_ready(); // by every thread that wrote, after it wrote\n", ""),
        ),
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads();\n", "")),
        mutant(
            "one thread fences before the barrier",
            kinds.DATA_RACE,
            (
                "    writes_are_ready(); // by",
                "    if (threadIdx.x == 0) writes_are_ready(); // by",
            ),
        ),
        ONE_THREAD,
        mutant(
            "large squares cut off",
            kinds.WRONG,
            ("= value * value;", "= fminf(value * value, 1e30f);"),
        ),
        mutant("no commit", kinds.IN_FLIGHT, ("        tma_commit();\n", "")),
        mutant("no wait", kinds.IN_FLIGHT, ("        tma_wait_read<0>();\n", "")),
        mutant(
            "one group may be pending", kinds.IN_FLIGHT, ("tma_wait_read<0>", "tma_wait_read<1>")
        ),
        mutant(
            "row before column",
            kinds.DATA_RACE,
            ("&y, first_column, first_row", "&y, first_row, first_column"),
        ),
        mutant("the first box only", kinds.DATA_RACE, ("&y, first_column, first_row", "&y, 0, 0")),
        mutant("not squared", kinds.WRONG, ("value * value", "value")),
    ),
)

# --- Reduce ---


def added(given: dict) -> dict:
    bands = given["x"].reshape(-1, 8, given["x"].shape[1]).astype(np.float64)
    return {"y": given["y"] + bands.sum(axis=0)}


REDUCE = Exercise(
    id="08.bands_added",
    title="add a box where it belongs",
    task="""
Add all bands of 8 rows of x to y. One thread of each block starts two copies, in and out, and waits
for both: no thread touches an element.
""",
    source=f"{FOLDER}/bands_added.cu",
    kernel="bands_added",
    inputs=lambda rng, size: {
        "x": floats(rng, (size[0] * 8, size[1])),
        "y": floats(rng, (8, size[1])),
    },
    maps={"x": BOX, "y": BOX},
    reference=added,
    launch=lambda size: Launch((-(-size[1] // 32), size[0]), (32,)),
    small=((3, 36), (2, 32), (1, 4)),
    full=(1024, 8192),
    reduction=lambda size: size[0] + 1,
    promises=Promises(
        sizes=promises.shapes(bands=(1, 2, 5, 9), columns=(4, 28, 32, 36, 68)).with_longest(
            bands=67, columns=516
        ),
        values=(
            promises.data("x", *promises.ORDINARY, *promises.STRANGE, promises.LARGE),
            promises.data("y", *promises.ORDINARY, promises.LARGE, promises.SOME_INFINITE),
        ),
    ),
    means=(
        Means(
            "loads and stores of threads, in bytes",
            lambda work: (
                work.counts.global_load_bytes
                + work.counts.global_store_bytes
                + work.counts.global_atomic_bytes
                + work.counts.shared_load_bytes
                + work.counts.shared_store_bytes
            ),
            at_most=0,
            advice="No thread touches an element: tma_load in, tma_add out.",
            size=(3, 36),
        ),
        means.threads_that_start(
            at_most=6, advice="One thread of each block starts both copies.", size=(3, 36)
        ),
    ),
    hints=(
        "In: mbarrier_expect, tma_load, mbarrier_wait. Out: tma_add, tma_commit, and a wait.",
        "The band of the block begins at row band * 8 of x, and is added at row 0 of y.",
        "No fence: what TMA wrote, TMA reads, and the mbarrier says when it is there. The block's "
        "memory is needed until `tma_wait_read<0>()` has let you go.",
    ),
    explanation="""
Blocks add to one place at the same time, and nothing is lost: the addition is atomic for each
element. In which order it is done is open, so the last bits may differ from run to run.
""",
    mutants=(
        mutant("stored, not added", kinds.DATA_RACE, ("tma_add", "tma_store")),
        mutant("not waited for", kinds.DATA_RACE, ("        mbarrier_wait(barrier, 0);\n", "")),
        mutant("no commit", kinds.IN_FLIGHT, ("        tma_commit();\n", "")),
        mutant("left behind", kinds.IN_FLIGHT, ("        tma_wait_read<0>();\n", "")),
        mutant(
            "nothing announced",
            kinds.DATA_RACE,
            ("mbarrier_expect(barrier, sizeof(tile))", "mbarrier_arrive(barrier)"),
        ),
        mutant("a row announced", kinds.DEADLOCK, ("sizeof(tile))", "sizeof(tile[0]))")),
        mutant("bands counted as rows", kinds.WRONG, ("band * 8,", "band,")),
        mutant("below each other", kinds.WRONG, ("&y, column, 0,", "&y, column, band * 8,")),
        mutant("the first columns", kinds.PARTLY_WRITTEN, ("&y, column, 0,", "&y, 0, 0,")),
        mutant(
            "added twice",
            kinds.WRONG,
            (
                "        tma_commit();\n",
                "        tma_add(&y, column, 0, shared_address(tile));\n        tma_commit();\n",
            ),
        ),
        mutant(
            "another thread stores",
            kinds.MEANS_MISSING,
            (
                "        tma_add(&y,",
                "    }\n    __syncwarp();\n    if (threadIdx.x == 1) {\n"
                "        mbarrier_wait(barrier, 0);\n        tma_add(&y,",
            ),
        ),
        mutant(
            "a thread adds, too",
            kinds.MEANS_MISSING,
            (
                "        tma_add(&y, column, 0, shared_address(tile));\n",
                "        tile[0][0] += 0.0f;\n        writes_are_ready();\n"
                "        tma_add(&y, column, 0, shared_address(tile));\n",
            ),
        ),
    ),
)

# --- Distributed shared memory ---

ROUND = Exercise(
    id="08.handed_round",
    title="hand it to the next block",
    task="""
Each block of a cluster of four gives its piece of x to the next one, the last to the first: through
shared memory, with no barrier after the stores. `store_async` counts its 4 bytes towards an
mbarrier of the block that gets them.
""",
    source=f"{FOLDER}/handed_round.cu",
    kernel="handed_round",
    inputs=lambda rng, clusters: {
        "x": floats(rng, clusters * 128),
        "y": empty(clusters * 128),
    },
    reference=lambda given: {"y": np.roll(given["x"].reshape(-1, 4, 32), 1, axis=1).ravel()},
    launch=lambda clusters: Launch((clusters * 4,), (32,)),
    small=(2, 1),
    full=1 << 14,
    exact=True,
    promises=Promises(
        sizes=promises.lengths(most=3).with_longest(n=5),
        values=(promises.data("x", promises.NEGATIVE, *promises.STRANGE),),
    ),
    means=(
        means.instructions(
            "numbers stored into another block",
            "st.async",
            at_least=2 * 128,
            advice="Each thread sends one number by store_async.",
            size=2,
        ),
        means.instructions(
            "arrivals at barriers of the cluster",
            "barrier.cluster.arrive",
            at_most=2 * 128,
            advice="One barrier, before the stores. Behind them each block's mbarrier is enough.",
            size=2,
        ),
        means.reads_each_once(2 * 128 * 4, size=2),
        means.loads_shared_out(at_most=2, size=2),
    ),
    hints=(
        "32 threads send 4 bytes each: that is what `arrived` expects, in one arrival.",
        "`address_in_block(shared_address(&got[t]), next)` is where the next block has got[t]; its "
        "barrier is found in the same way.",
        "Before the first store a barrier of the cluster: all have made their mbarriers. After the "
        "wait a block may end: all that is ever sent to it has come.",
    ),
    explanation="""
The wait is for the very bytes that this block needs, and for nobody else: a barrier of the cluster
would wait for all four. And a block whose mbarrier has completed has got everything that it is ever
sent, so it may end while its neighbours are still at work.
""",
    mutants=(
        mutant(
            "one thread sends all",
            kinds.MEANS_MISSING,
            ("    store_async(", "    for (int i = 0; t == 0 && i < 32; ++i) store_async("),
            ("got[t]), next)", "got[i]), next)"),
            ("x[blockIdx.x * 32 + t]", "x[blockIdx.x * 32 + i]"),
        ),
        mutant(
            "nothing expected",
            kinds.DEADLOCK,
            ("        mbarrier_expect(shared_address(&arrived), sizeof(got));\n", ""),
        ),
        mutant("elements expected", kinds.DATA_RACE, ("sizeof(got))", "32)")),
        mutant(
            "no barrier of the cluster",
            kinds.BARRIER,
            ("    cluster_arrive();\n    cluster_wait();\n", "    __syncthreads();\n"),
        ),
        mutant(
            "no wait", kinds.DATA_RACE, ("    mbarrier_wait(shared_address(&arrived), 0);\n", "")
        ),
        mutant(
            "a barrier behind the stores, too",
            kinds.MEANS_MISSING,
            (
                "    mbarrier_wait(shared_address(&arrived), 0);\n",
                "    mbarrier_wait(shared_address(&arrived), 0);\n    cluster_arrive();\n"
                "    cluster_wait();\n",
            ),
        ),
        mutant("the block before", kinds.WRONG, ("(rank + 1) % 4", "(rank + 3) % 4")),
        mutant("the last to nobody", kinds.OUT_OF_BOUNDS, ("(rank + 1) % 4", "rank + 1")),
        mutant("to itself", kinds.WRONG, ("(rank + 1) % 4", "rank")),
        mutant(
            "all to one place",
            kinds.DATA_RACE,
            ("shared_address(&got[t])", "shared_address(&got[0])"),
        ),
    ),
)

# --- Multicast ---


def multiplied(given: dict) -> dict:
    return {"y": given["x"] * given["table"]}


MULTICAST = Exercise(
    id="08.table_for_both",
    title="one load for two blocks",
    task="""
Two blocks of a cluster multiply by the same table. Fetch it once for both: each block loads half of
it by a multicast. The last barrier of the cluster is written already.
""",
    source=f"{FOLDER}/table_for_both.cu",
    kernel="table_for_both",
    inputs=lambda rng, blocks: {
        "x": floats(rng, (blocks, 16, 32)),
        "table": floats(rng, (16, 32)),
        "y": empty((blocks, 16, 32)),
    },
    maps={"table": BOX},
    reference=multiplied,
    launch=lambda blocks: Launch((blocks,), (128,)),
    small=(6, 2),
    full=1 << 16,
    promises=Promises(
        sizes=promises.lengths(most=14, of=2).with_longest(n=34),
        values=(
            (
                *promises.data("x", *promises.ORDINARY, *promises.STRANGE, promises.LARGE),
                promises.zero_times_infinity_along("table", 0, "x", 1),
                promises.zero_times_infinity_along("x", 1, "table", 0),
            ),
            promises.data("table", *promises.ORDINARY),
        ),
    ),
    means=(
        Means(
            "bytes that TMA fetches from global memory",
            lambda work: work.counts.bulk_global_load_bytes,
            at_least=3 * 16 * 32 * 4,
            at_most=3 * 16 * 32 * 4,
            advice="A cluster of two blocks fetches the table once: half by each block, for both.",
            size=6,
        ),
        means.threads_that_start(
            6, 6, advice="Each block loads half of the table, by one of its threads.", size=6
        ),
        means.one_store_each(),
        means.work_shared_out(),
    ),
    hints=(
        "Both halves come to each block, whoever sent them: how many bytes is that?",
        "A copy that arrives before the other block has made its barrier has nobody to tell: a "
        "barrier of the cluster stands before the first load.",
        "`tma_load_multicast(shared_address(factor + rank * 8 * 32), &table, 0, rank * 8, barrier, "
        "0b11)`: to the same place, and to the same barrier, in both.",
    ),
    explanation="""
The table is fetched once for two blocks. In a product of matrices, the blocks of a cluster that
share rows of A, or columns of B, fetch them so: half of the loads, and every stage now waits for
another block as well.
""",
    mutants=(
        mutant("half announced", kinds.DATA_RACE, ("sizeof(factor))", "sizeof(factor) / 2)")),
        mutant("twice announced", kinds.DEADLOCK, ("sizeof(factor))", "2 * sizeof(factor))")),
        mutant(
            "no barrier of the cluster",
            kinds.BARRIER,
            ("    cluster_arrive();\n    cluster_wait();\n    if", "    __syncthreads();\n    if"),
        ),
        mutant(
            "for itself alone",
            kinds.DEADLOCK,
            (
                "barrier,\n                           0b11)",
                "barrier,\n                           1 << rank)",
            ),
        ),
        mutant(
            "for the other alone",
            kinds.DEADLOCK,
            (
                "barrier,\n                           0b11)",
                "barrier,\n                           2 >> rank)",
            ),
        ),
        mutant(
            "both load the same half",
            kinds.DATA_RACE,
            ("factor + rank * 8 * 32), &table, 0, rank * 8", "factor), &table, 0, 0"),
        ),
        mutant("halves exchanged", kinds.WRONG, ("&table, 0, rank * 8", "&table, 0, 8 - rank * 8")),
        mutant(
            "everything by each",
            kinds.MEANS_MISSING,
            (
                "        tma_load_multicast(shared_address(factor + rank * 8 * 32), &table, 0, "
                "rank * 8, barrier,\n                           0b11);\n",
                "        tma_load(shared_address(factor), &table, 0, 0, barrier);\n"
                "        tma_load(shared_address(factor + 8 * 32), &table, 0, 8, barrier);\n",
            ),
        ),
        mutant(
            "one thread does it all",
            kinds.MEANS_MISSING,
            (
                "i = threadIdx.x; i < 16 * 32; i += blockDim.x",
                "i = threadIdx.x ? 16 * 32 : 0; i < 16 * 32; ++i",
            ),
        ),
        mutant(
            "a factor of 0 makes 0 of infinity, too",
            kinds.WRONG,
            ("= x[first + i]", "= factor[i] == 0.0f ? 0.0f : x[first + i]"),
        ),
        mutant("not waited for", kinds.DATA_RACE, ("    mbarrier_wait(barrier, 0);\n", "")),
        mutant(
            "both halves by the first block",
            kinds.MEANS_MISSING,
            (
                "if (threadIdx.x == 0) {\n        tma_load_multicast(shared_address(factor + rank "
                "* 8 * 32), &table, 0, rank * 8, barrier,\n                           0b11);",
                "for (int half = 0; threadIdx.x == 0 && rank == 0 && half < 2; ++half) {\n"
                "        tma_load_multicast(shared_address(factor + half * 8 * 32), &table, 0,\n"
                "                           half * 8, barrier, 0b11);",
            ),
        ),
    ),
)

EXERCISES = (FIELDS, ADDRESS, BYTES, LOAD, RING, FENCE, REDUCE, ROUND, MULTICAST)
