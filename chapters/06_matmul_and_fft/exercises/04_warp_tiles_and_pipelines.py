"""The exercises of "Warp tiles and pipelines"."""

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
    Target,
    empty,
    kinds,
    means,
    mutant,
)

from .common import (
    FEW_OPERANDS,
    chosen,
    matrices,
    no_more_arithmetic,
    product,
    tiles_read_once,
)
from .in_flight import prefetched, steps_in_flight

# One step along K, several, and a part of one.
ANY_STEPS = (
    (1, 1, 1),
    (64, 64, 8),
    (65, 3, 9),
    (4, 70, 8),
    (3, 130, 24),
    (33, 65, 17),
    (7, 5, 25),
    (2, 3, 137),
    (5, 67, 32),
    (2, 5, 0),
)
ONE_BLOCK = 64, 64, 32
PAIR = 2 * 64 * 8 * 4  # bytes of two tiles; rows may be padded


def barriers_a_step(size: tuple[int, int, int]):
    """Barriers for each of the steps along K of a block of two warps, at 64 x 64 x K."""
    return lambda counts: counts.barriers / (2 * size[2] // 8)


BUFFERS = Exercise(
    id="06.two_buffers",
    title="prefetch, with one barrier",
    task="""
In each iteration the rung before loads, stores, waits, multiplies, waits. Make it a software
pipeline with two buffers: an iteration begins the loads of the next tiles, multiplies the ones it
has, and then stores the next ones into the *other* buffer. One barrier an iteration is enough; at
most 1.2 are allowed, since the first tiles need one before the loop.
""",
    source="06_matmul_and_fft/exercises/two_buffers.cu",
    kernel="two_buffers",
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((-(-size[1] // 64), -(-size[0] // 64)), (64,)),
    small=((69, 70, 19), (33, 5, 16), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="barriers an iteration",
        measure=barriers_a_step((64, 64, 96)),
        at_most=1.2,
        advice="With two buffers nobody overwrites what others still read: the store goes into the "
        "buffer that was finished with one iteration ago. One barrier at the end of the iteration "
        "does.",
        size=(64, 64, 96),
    ),
    within=2.0,
    promises=Promises(sizes=chosen(*ANY_STEPS).with_longest(M=32771, N=32771), values=FEW_OPERANDS),
    means=(
        tiles_read_once(ONE_BLOCK),
        means.room_in_shared_memory(
            PAIR * 5 // 2,
            advice="Two buffers, a pair of tiles in each: no more is read or written at a time.",
            size=ONE_BLOCK,
        ),
        Means(
            "part of the loads that are in flight while products are made",
            prefetched,
            at_least=0.4,
            advice="Load the next tiles before you multiply these, and store them after: what is "
            "stored at once has to be waited for at once.",
            size=ONE_BLOCK,
        ),
        means.one_store_each(),
        means.work_shared_out(2.0, size=ONE_BLOCK),
        no_more_arithmetic(ONE_BLOCK),
    ),
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
    hints=(
        "Before the loop: `load(0)`, `store(0)`, and a barrier, since the tiles must be complete "
        "before anybody multiplies.",
        "In the loop there are four steps: `load(start + BK)`, `multiply(buffer)`, "
        "`store(buffer ^ 1)`, `__syncthreads()`. `buffer ^ 1` turns 0 into 1 and 1 into 0.",
        "At the end of an iteration the two buffers swap roles: `buffer ^= 1;`",
        "The last iteration has nothing to load or store: `const bool more = start + BK < K;`",
    ),
    explanation="""
The one barrier says two things: the next tiles are complete, and nobody reads these any more. A
warp that is ahead may store into the buffer that was read in the iteration before: all have reached
the barrier since. Whether `load` stands before `multiply` or behind it, the result is the same; but
a load that is begun first has the time of the products to arrive. On a GPU, compare your bar with
the starter's. The price is registers: what is in flight needs some, and where that costs a block on
each multiprocessor, a pipeline can lose more than it gains.
""",
    mutants=(
        mutant(
            "no barrier in the loop",
            kinds.DATA_RACE,
            ("__syncthreads();  // the next tiles", "// the next tiles"),
        ),
        mutant(
            "no barrier before the loop",
            kinds.DATA_RACE,
            ("__syncthreads();  // the first tiles", "// the first tiles"),
        ),
        mutant(
            "a barrier a step, but no prefetch",
            kinds.MEANS_MISSING,
            ("    load(0);\n    store(0);\n    __syncthreads();  //", "    //"),
            ("        if (more) load(start + BK);\n", ""),
            (
                "multiply(buffer);\n        if (more) store(buffer ^ 1);",
                "load(start), store(buffer);",
            ),
            ("the next tiles are complete, and nobody", "\n        multiply(buffer);  // nobody"),
        ),
        mutant(
            "room for four buffers",
            kinds.MEANS_MISSING,
            ("float tile_a[2]", "float tile_a[4]"),
            ("float tile_b[2]", "float tile_b[4]"),
            ("buffer ^= 1", "buffer = (buffer + 1) % 4"),
            ("store(buffer ^ 1)", "store((buffer + 1) % 4)"),
        ),
        mutant(
            "no tiles at all",
            kinds.MEANS_MISSING,
            ("    load(0);\n    store(0);\n", ""),
            ("        if (more) load(start + BK);\n", ""),
            ("        if (more) store(buffer ^ 1);\n", ""),
            (
                "multiply(buffer);",
                "for (int k = start; k < min(start + BK, K); ++k)\n"
                "            for (int i = 0; i < TM; ++i)\n"
                "                for (int j = 0; j < TN; ++j) {\n"
                "                    int y = first_row + row + i, x = first_column + column + j;\n"
                "                    if (y < M && x < N)\n"
                "                        sum[i][j] += A[y * K + k] * B[k * N + x];\n"
                "                }",
            ),
        ),
        mutant(
            "stores into the buffer that is read",
            kinds.DATA_RACE,
            ("store(buffer ^ 1)", "store(buffer)"),
        ),
        mutant("buffers never swap", kinds.WRONG, ("        buffer ^= 1;\n", "")),
        mutant("loads these tiles again", kinds.WRONG, ("load(start + BK)", "load(start)")),
        mutant(
            "two barriers a round",
            kinds.TARGET_MISSED,
            ("multiply(buffer);", "multiply(buffer);\n        __syncthreads();"),
        ),
        mutant(
            "a round too few",
            kinds.WRONG,
            ("for (int start = 0; start < K", "for (int start = 0; start + BK < K"),
        ),
    ),
)


STAGES = Exercise(
    id="06.async_stages",
    title="asynchronous copies, waited for late",
    task="""
Here `cp.async` copies one pair of tiles, waits until it is complete, and multiplies. Keep the
copies of **two** steps in flight, with three stages (pairs of tiles) and one barrier a step.
""",
    source="06_matmul_and_fft/exercises/async_stages.cu",
    kernel="async_stages",
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((-(-size[1] // 64), -(-size[0] // 64)), (64,)),
    small=((69, 70, 27), (33, 5, 16), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="barriers a step",
        measure=barriers_a_step(ONE_BLOCK),
        at_most=1.3,  # five in four steps, and no more
        advice="One barrier, right after the wait, is enough: behind it everybody's copies are "
        "complete, and nobody reads the tiles of the step before any more.",
        size=ONE_BLOCK,
    ),
    within=2.0,
    promises=Promises(
        sizes=chosen(*ANY_STEPS, (4099, 16, 8), (16, 4099, 8)),
        values=FEW_OPERANDS,
    ),
    means=(
        tiles_read_once(ONE_BLOCK),
        means.room_in_shared_memory(
            PAIR * 7 // 2,
            advice="Three stages, a pair of tiles in each: one is multiplied, two are in flight.",
            size=ONE_BLOCK,
        ),
        Means(
            "bytes that cp.async copies, over those of A and B",
            lambda work: work.counts.shared_copy_bytes / (8 * 64 * 32),
            at_least=1.0,
            advice="Both tiles come by `cp.async`, that of A and that of B: what a thread loads "
            "and stores itself, it waits for.",
            size=ONE_BLOCK,
        ),
        Means(
            "steps whose copies are in flight during a product, on average",
            steps_in_flight(ONE_BLOCK[2] // 8),
            at_least=1.0,
            advice="At the products the copies of two later steps are under way: wait for the "
            "oldest group alone, and leave the younger one in flight.",
            size=ONE_BLOCK,
        ),
        means.one_store_each(),
        means.work_shared_out(2.0, size=ONE_BLOCK),
        no_more_arithmetic(ONE_BLOCK),
    ),
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
    hints=(
        "Before the loop: for stage 0 and 1, `copy_tiles(stage, stage * BK);` and "
        "`cp_async_commit();`.",
        "At the top of a step two groups are in flight. The older one must be complete, the "
        "younger need not: `cp_async_wait<1>()`, and then the barrier.",
        "The pair that is free now is the one of the step before: `(stage + 2) % kStages`. It gets "
        "the tiles of `start + 2 * BK`.",
        "Commit a group in every step, with copies in it or without: then the number of groups in "
        "flight is always the same. After the loop, `cp_async_wait<0>();`.",
    ),
    explanation="""
A wait counts groups, and counts only the thread's own. So it takes two things before a tile may be
read: the wait (my copies are complete) and then the barrier (every thread has come to this point,
so everybody's are). The same barrier frees the pair of the step before for the next copies. Past
the end of K the copies fill with zeros, and nobody multiplies them.
""",
    mutants=(
        mutant("no wait", kinds.DATA_RACE, ("cp_async_wait<kStages - 2>();", "")),
        mutant(
            "waits for one group too few",
            kinds.DATA_RACE,
            ("cp_async_wait<kStages - 2>", "cp_async_wait<kStages - 1>"),
        ),
        mutant("no barrier", kinds.DATA_RACE, ("__syncthreads();               //", "//")),
        mutant("waits for all", kinds.MEANS_MISSING, ("<kStages - 2>", "<0>")),
        mutant("four stages", kinds.MEANS_MISSING, ("kStages = 3", "kStages = 4")),
        mutant(
            "half of the copies by hand",
            kinds.MEANS_MISSING,
            (
                "cp_async_4(shared_address(&tile_b[stage][element / BN][element % BN]),\n"
                "                       in_b ? B + kb * N + x : B, in_b);",
                "tile_b[stage][element / BN][element % BN] = in_b ? B[kb * N + x] : 0.0f;",
            ),
        ),
        mutant(
            "an empty group, and the wait for all",
            kinds.MEANS_MISSING,
            ("cp_async_wait<kStages - 2>();", "cp_async_commit(), cp_async_wait<1>();"),
        ),
        mutant(
            "waits behind the barrier",
            kinds.DATA_RACE,
            ("cp_async_wait<kStages - 2>();", "__syncthreads();"),
            ("__syncthreads();               //", "cp_async_wait<kStages - 2>();  //"),
        ),
        mutant(
            "copies into the pair that is read",
            kinds.DATA_RACE,
            ("(stage + kStages - 1) % kStages", "stage"),
        ),
        mutant(
            "no group in the loop",
            kinds.DATA_RACE,
            ("        cp_async_commit();\n        multiply", "        multiply"),
        ),
        mutant(
            "no wait at the end",
            kinds.IN_FLIGHT,
            ("    cp_async_wait<0>();  // the last", "    // the last"),
        ),
        mutant(
            "the step after the next but one",
            kinds.WRONG,
            ("start + (kStages - 1) * BK", "start + kStages * BK"),
        ),
        mutant(
            "two barriers a step",
            kinds.TARGET_MISSED,
            ("multiply(stage);", "multiply(stage);\n        __syncthreads();"),
        ),
    ),
)


def why_not(
    BM: int, BN: int, BK: int, stages: int, threads: int, registers: int, spilled: int
) -> str:
    """What rules a candidate out."""
    return (
        "threads"
        if threads > 1024
        else "shared memory"
        if stages * BK * (BM + 4 + BN) * 4 > 232_448
        else "registers"
        if threads // 32 * (-(-registers * 32 // 256) * 256) > 65_536
        else "spills"
        if spilled > 0
        else ""
    )


def candidate(rng: np.random.Generator) -> tuple[int, ...]:
    """A candidate; each of the five answers is as likely as another."""
    wanted = rng.choice(["threads", "shared memory", "registers", "spills", ""])
    while True:
        BM, BN = (4 * rng.integers(8, 80, 2)).tolist()
        BK, stages = int(rng.choice([1, 2, 8, 16, 32])), int(rng.integers(1, 9))
        threads, registers = 32 * int(rng.integers(1, 48)), int(rng.integers(16, 256))
        spilled = int(rng.choice([0, 1, 8, 1088]))
        found = BM, BN, BK, stages, threads, registers, spilled
        if why_not(*found) == wanted:
            return found


WHY_NOT = PythonExercise(
    id="06.why_not",
    title="prune the grid",
    task="""
Write the function that spares the GPU a candidate: it returns the first thing that rules the
candidate out, or `""` if nothing does. `why_not(128, 256, 8, 3, 256, 209, 0)` is `""`.
""",
    source="06_matmul_and_fft/exercises/why_not.py",
    function="why_not",
    cases=(
        (128, 256, 8, 3, 256, 209, 0),
        (256, 256, 32, 4, 512, 128, 0),
        (256, 256, 8, 3, 1088, 32, 0),
        (256, 256, 32, 4, 2048, 255, 64),
        (128, 256, 32, 5, 256, 209, 0),
        (52, 64, 32, 15, 128, 100, 0),
        (108, 116, 32, 8, 128, 100, 0),
        (108, 115, 32, 8, 128, 100, 0),
        (128, 256, 8, 3, 512, 128, 0),
        (128, 256, 8, 3, 512, 129, 0),
        (128, 192, 8, 3, 384, 168, 0),
        (128, 192, 8, 3, 384, 170, 0),
        (128, 256, 8, 3, 256, 255, 1088),
        (128, 256, 8, 3, 512, 129, 8),
        (64, 64, 8, 2, 64, 255, 0),
        (64, 64, 8, 2, 1024, 64, 0),
        (256, 256, 32, 4, 1024, 255, 0),
        (256, 256, 64, 1, 256, 128, 0),
        (128, 256, 8, 3, 416, 160, 0),
        (128, 256, 1, 149, 256, 128, 0),
        (128, 256, 1, 150, 256, 128, 0),
    ),
    reference=why_not,
    promises=Cases(candidate),
    means="Any order of the questions that gives the first answer is a good one.",
    hints=(
        "Four questions, each an `if` with a `return`, in the order of the TODO.",
        "A tile of A has BK rows of BM + 4 floats, one of B has BK rows of BN. There are `stages` "
        "of each.",
        "A warp needs `registers * 32`, rounded up to a multiple of 256: "
        "`-(-registers * 32 // 256) * 256`. A block has `threads // 32` warps.",
        'The last line: `return "spills" if spilled > 0 else ""`.',
    ),
    explanation="""
The cheap questions come first: the first two need no compiler. 170 registers and 384 threads show
why rounding matters: 170 · 32 = 5440 registers for each of 12 warps would just fit, but a warp gets
5632. (The compiler knows the block's size from `__launch_bounds__`, and would rather spill than
exceed that; so in practice the last question catches what the third would.)
""",
    mutants=(
        mutant("rows not padded", kinds.WRONG, ("BM + 4 + BN", "BM + BN")),
        mutant(
            "one row not padded", kinds.WRONG, ("BM + 4 + BN", "BM + BN + (4 if BK > 1 else 0)")
        ),
        mutant("one stage", kinds.WRONG, ("stages * BK *", "BK *")),
        mutant("two stages at least", kinds.WRONG, ("stages * BK *", "max(stages, 2) * BK *")),
        mutant("elements for bytes", kinds.WRONG, ("BN) * 4 >", "BN) >")),
        mutant(
            "registers not rounded",
            kinds.WRONG,
            ("-(-registers * 32 // 256) * 256", "registers * 32"),
        ),
        mutant("exactly full refused", kinds.WRONG, ("> 65_536", ">= 65_536")),
        mutant("1024 threads refused", kinds.WRONG, ("> 1024", ">= 1024")),
        mutant("spills forgotten", kinds.WRONG, ('"spills" if spilled > 0 else ""', '""')),
        mutant(
            "None for the good ones",
            kinds.NOTHING_RETURNED,
            ('return "spills" if spilled > 0 else ""', "pass"),
        ),
    ),
)


ROUNDS = NumberExercise(
    id="06.predict_rounds",
    title="predict the last wave",
    task="""
A GPU of 132 multiprocessors computes C in tiles; each slot for a block takes a tile, then the next.
The kernel below simulates it, one small block for each slot. Predict:
""",
    source="06_matmul_and_fft/exercises/rounds.cu",
    kernel="rounds",
    inputs=lambda rng, size: {
        "tiles": np.int32(size[0]),
        "owner": empty(size[0], np.int32),
        "idle": np.zeros(1, np.int32),
    },
    launch=lambda size: Launch((size[1],), (32,)),
    asks={
        "waves": Ask(
            "4096 x 4096 in tiles of 128 x 256, one block for each multiprocessor: waves",
            (512, 132),
            lambda counts: counts.barriers / 132,
            {
                512: "That is the number of tiles. How many are computed at the same time?",
                3: "Three waves are 396 tiles. What of the rest?",
            },
        ),
        "idle": Ask(
            "Of the same: multiprocessors that are idle in the last wave",
            (512, 132),
            lambda counts: counts.global_atomic_requests,
            {116: "That many have a tile in the last wave. The others are idle."},
        ),
        "gain": Ask(
            "Of the same: the largest gain, as a factor, if none were idle",
            (512, 132),
            lambda counts: counts.barriers / counts.global_store_requests,
            {
                1.1379310344827587: "132 / 116 is the gain in the last wave alone, one of four.",
                0.9696969696969697: "That is the part of the GPU that is busy. The gain is its "
                "inverse.",
            },
        ),
        "idle_small": Ask(
            "1024 x 1024 in tiles of 128 x 256: idle multiprocessors in the last wave",
            (32, 132),
            lambda counts: counts.global_atomic_requests,
            {32: "There are 32 tiles, each busies one. The others are idle."},
        ),
        "waves_pairs": Ask(
            "4096 x 4096 in tiles of 128 x 128, two blocks on a multiprocessor: waves",
            (1024, 264),
            lambda counts: counts.barriers / 264,
            {8: "Two blocks on each multiprocessor are 264 slots."},
        ),
    },
    hints=(
        "Count the tiles first: rows of C over rows of a tile, times columns over columns.",
        "Waves are tiles over slots, rounded up: `-(-512 // 132)`.",
        "All waves together offer waves * slots; what no tile takes is idle. The gain is what "
        "they offer over what is taken.",
    ),
    explanation="""
512 tiles are 3.88 waves of 132, so four are needed, and 528 slots are offered for 512 tiles: 3 %
more than it takes. With few tiles it is worse: at 1024 × 1024 three quarters of the GPU stand idle.
Smaller tiles make finer waves, but need more loads for each product.
""",
    mutants=(
        mutant("rounds down", kinds.WRONG_NUMBER, ("waves = 4", "waves = 3")),
        mutant("busy for idle", kinds.WRONG_NUMBER, ("idle = 16", "idle = 116")),
        mutant("the last wave alone", kinds.WRONG_NUMBER, ("gain = 1.03125", "gain = 132 / 116")),
        mutant("one block on each", kinds.WRONG_NUMBER, ("waves_pairs = 4", "waves_pairs = 8")),
        mutant("dots left", kinds.WRONG_TYPE, ("idle_small = 100", "idle_small = ...")),
    ),
)


BEAT = Exercise(
    id="06.beat_cublas",
    title="beat the record",
    task="""
Write the fastest product you can. M is a multiple of 128, N of 256 and K of 8; a block has 256
threads for 128 × 256 of C, and 64 KB of shared memory. The starter is right; it passes once it
needs at most 0.2 wavefronts of shared loads for each warp of FMAs. On a GPU your time at 4096 ×
4096 then stands beside our solution and cuBLAS, and a later cell puts your kernel on the ladder.
There is no end to this one: the course's best rung beats cuBLAS on an H200, in bursts.
""",
    source="06_matmul_and_fft/exercises/beat_cublas.cu",
    kernel="beat_cublas",
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((size[1] // 256, size[0] // 128), (256,), shared=65536),
    small=((128, 256, 24), (256, 512, 16), (128, 256, 8)),
    full=(4096, 4096, 4096),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="wavefronts of shared loads for 32 FMAs",
        measure=lambda counts: counts.shared_load_wavefronts * 64 / max(counts.flops, 1),
        at_most=0.2,
        advice="Load 16 bytes at a time, and cut a thread's tile into sub-tiles of 4 x 4 so that "
        "neighbouring lanes read neighbouring float4, as sgemm_conflict_free does.",
        size=(128, 256, 32),
    ),
    promises=Promises(
        sizes=chosen(
            (128, 256, 8),
            (128, 256, 16),
            (128, 256, 24),
            (128, 256, 72),
            (128, 256, 40),
            (128, 512, 16),
            (256, 256, 8),
            (128, 768, 8),
            (384, 256, 8),
            (256, 512, 8),
            (128, 1024, 72),  # more than 65,535 elements of B
        ).with_longest(M=1024),
        values=FEW_OPERANDS,
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=(128, 256, 32)),
        tiles_read_once((128, 256, 32)),
        no_more_arithmetic((128, 256, 32)),
    ),
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
    hints=(
        "First pass: sub-tiles of 4 x 4 and `float4` loads. That is the step from vector to "
        "conflict_free, with 8 x 16 results a thread.",
        "Then prefetch: `sgemm_double_buffer` with registers, or `sgemm_cp_async` with "
        "stages. `ptx.cuh` has `cp_async_4`, `cp_async_16`, `cp_async_commit`, `cp_async_wait`.",
        "Then read the operands of the next k before you multiply those of this one: "
        "`float a[2][TM], b[2][TN]`, as in `sgemm_autotuned`.",
        "Then the order of the products: down one column and up the next. And then ideas of your "
        "own: measure each alone, and keep what helps.",
    ),
    explanation="""
This is the autotuned rung with its sizes written out, a fourth stage, and products that go down one
column and up the next. What it leaves to you: the order of rows and columns (`sgemm_ordered`)
and the last wave (`sgemm_stream_k`; with this grid, too: the first 132 blocks share the work, the
others return at once, and partial sums and counts lie in `__device__` arrays).
""",
    mutants=(
        mutant(
            "sub-tiles not split",
            kinds.TARGET_MISSED,
            ("lane / 4 * 4;  // warps", "lane / 4 * 8;  // warps"),
            ("lane % 4 * 4;", "lane % 4 * 16;"),
            ("in_a + i * 8", "in_a + i"),
            ("in_b + j * 4", "in_b + j"),
            ("size_t(i / 4 * 32 + i % 4) * N + j * 4)", "size_t(i) * N + j)"),
        ),
        mutant(
            "no wait in the loop",
            kinds.DATA_RACE,
            ("                cp_async_wait<kStages - 2>();\n", ""),
        ),
        mutant(
            "no barrier in the loop",
            kinds.DATA_RACE,
            ("__syncthreads();  // they are complete", "// they are complete"),
        ),
        mutant(
            "no barrier before the loop",
            kinds.DATA_RACE,
            ("__syncthreads();  // the first", "// the first"),
        ),
        mutant(
            "the old operands again",
            kinds.UNINITIALISED,
            ("(k + 1) % BK, (k + 1) % 2)", "(k + 1) % BK, k % 2)"),
        ),
        mutant(
            "copies past the end",
            kinds.OUT_OF_BOUNDS,
            ("if (step + kStages - 1 < steps) copy", "copy"),
        ),
        mutant(
            "the last columns of a wide C",
            kinds.EDGES,
            ("blockIdx.x * BN + b_column", "blockIdx.x % 2 * BN + b_column"),
        ),
        mutant(
            "rows of the sub-tiles", kinds.DATA_RACE, ("i / 4 * 32 + i % 4", "i / 4 * 4 + i % 4")
        ),
    ),
)
