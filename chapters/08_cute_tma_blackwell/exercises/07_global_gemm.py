"""The exercises of "A product in three levels of tiles"."""

from __future__ import annotations

from fractions import Fraction
from math import prod

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

FOLDER = "08_cute_tma_blackwell/exercises"

# --- The order of stages ---


def played(steps: int, stages: int) -> list[tuple[int, int, int]]:
    """By a queue of the steps whose copies have begun."""
    queue = list(range(min(stages - 1, steps)))
    plan, held = [], {step: step for step in queue}
    free = set(range(stages)) - set(queue)
    for step in range(steps):
        fetched = step + stages - 1 if step + stages - 1 < steps else -1
        if fetched >= 0:
            queue.append(fetched)
            held[fetched] = free.pop()  # there is one
        queue.pop(0)
        plan.append((held.pop(step), fetched, len(queue)))
        free.add(plan[-1][0])
    return plan


PLAN = PythonExercise(
    id="08.stage_plan",
    title="which stage, and what is in flight?",
    task="""
Write `stage_plan(steps, stages)`: a list with a tuple for each step: the stage that is multiplied,
the step whose copy begins (-1 where there is none), and how many *later* steps are in flight or
there while this one is multiplied. `stages` is at least 2.
""",
    source=f"{FOLDER}/stage_plan.py",
    function="stage_plan",
    cases=((6, 3), (6, 2), (3, 4), (1, 2), (0, 3), (9, 5), (5, 6), (40, 17), (300, 4)),
    reference=played,
    promises=Cases(
        lambda rng: (int(rng.integers(0, 24)), int(rng.integers(2, 9))),
        large=lambda: ((2100, 1024), (1500, 2000), (5000, 300)),
    ),
    means="Any way to the list is right.",
    hints=(
        "Step s lies in stage s % stages.",
        "The step that is fetched is s + stages - 1, as long as it is less than steps.",
        "After that fetch min(s + stages, steps) copies have begun, of which s + 1 are behind us "
        "or in use.",
    ),
    explanation="""
While a step is multiplied, stages - 1 later ones are under way, until the end comes in sight. More
stages hide a longer latency, and cost shared memory; one stage fewer than that and the copy would
have to wait for the product.
""",
    mutants=(
        mutant(
            "stages are taken in turn from 1", kinds.WRONG, ("step % stages", "(step + 1) % stages")
        ),
        mutant("one step early", kinds.WRONG, ("step + stages - 1", "step + stages")),
        mutant("no end", kinds.WRONG, ("fetched if fetched < steps else -1", "fetched")),
        mutant("always as many", kinds.WRONG, ("begun - step - 1", "stages - 1")),
        mutant("its own step too", kinds.WRONG, ("begun - step - 1", "begun - step")),
        mutant("100 steps at most", kinds.WRONG, ("range(steps)", "range(min(steps, 100))")),
        mutant(
            "999 stages at most",
            kinds.WRONG,
            ("(step % stages,", "(step % stages if stages < 1000 else step,"),
        ),
        mutant("three stages", kinds.WRONG, ("step % stages", "step % 3")),
    ),
)

# --- The tile that fits ---


def any_tiles(rng: np.random.Generator) -> tuple:
    sides = range(16, 272, 16)
    tiles = [
        (int(rng.choice(sides)), int(rng.choice(sides))) for _ in range(int(rng.integers(1, 7)))
    ]
    return (
        tiles,
        int(rng.integers(2, 6)),
        int(rng.integers(1, 4)),
        int(rng.choice((49152, 65536, 101376, 166912, 232448))),
    )


def compared(tiles: list, stages: int, blocks: int, room: int) -> tuple | None:
    """By exact fractions, one tile after the other."""
    best, most = None, Fraction(0)
    for m, n in tiles:
        rate = Fraction(2 * m * n * 64, (m + n) * 64 * 2)
        if stages * (m + n) * 128 * blocks <= room and rate > most:
            best, most = (m, n), rate
    return best


TILE = PythonExercise(
    id="08.best_tile",
    title="the best tile that fits",
    task="""
Write `best_tile(tiles, stages, blocks, room)`: of the tiles (BM, BN) in the list, the one with the
most FLOPs for each byte it fetches, among those of which `stages` stages fit `blocks` times into
`room` bytes of shared memory. Of equals take the first; None where none fits.
""",
    source=f"{FOLDER}/best_tile.py",
    function="best_tile",
    cases=(
        ([(128, 128), (128, 256), (256, 256)], 3, 2, 232448),
        ([(128, 128), (128, 256), (256, 256)], 4, 1, 232448),
        ([(256, 128), (128, 256)], 4, 1, 232448),
        ([(128, 256), (256, 128)], 4, 1, 232448),
        ([(144, 176), (128, 208)], 3, 1, 232448),
        ([(64, 64), (32, 256)], 3, 1, 232448),
        ([(256, 256)], 4, 1, 232448),
        ([(128, 128), (64, 64)], 4, 1, 65536),
        ([(128, 128)], 2, 1, 65536),
        ([(48, 48), (32, 112)], 4, 1, 232448),
        ([(32, 32)] * 20 + [(64, 32)], 2, 3, 232448),
    ),
    reference=compared,
    promises=Cases(any_tiles),
    means="Any way to the tile is right.",
    hints=(
        "A stage has (BM + BN) * 64 elements of 2 bytes.",
        "FLOPs over bytes: 2 BM BN 64 / ((BM + BN) 64 * 2), which is BM BN / (BM + BN).",
        "`max(…, key=…)` takes the first of equals, and has a `default`.",
    ),
    explanation="""
At the same number of bytes a square tile has the most FLOPs: 128 x 128 has 64 for each byte, 64 x
192 only 48. A larger tile is better for the traffic, until its sums do not fit the registers any
more or one block is all that a multiprocessor can hold, and nobody works while that one waits at a
barrier.
""",
    mutants=(
        mutant("the largest tile", kinds.WRONG, ("tile[0] * tile[1] / sum(tile)", "sum(tile)")),
        mutant("one stage", kinds.WRONG, ("blocks * stages *", "blocks *")),
        mutant("one block", kinds.WRONG, ("blocks * stages *", "stages *")),
        mutant("elements for bytes", kinds.WRONG, (" * 64 * 2 <=", " * 64 <=")),
        mutant("less than the room", kinds.WRONG, ("<= room", "< room")),
        mutant("whole FLOPs a byte", kinds.WRONG, ("tile[1] / sum", "tile[1] // sum")),
        mutant("the last of equals", kinds.WRONG, ("max(fits,", "max(reversed(fits),")),
        mutant(
            "rates rounded",
            kinds.WRONG,
            ("tile[0] * tile[1] / sum(tile)", "round(tile[0] * tile[1] / sum(tile), 1)"),
        ),
        mutant(
            "of equals the one with more rows",
            kinds.WRONG,
            ("tile[0] * tile[1] / sum(tile)", "(tile[0] * tile[1] / sum(tile), tile[0])"),
        ),
    ),
)

# --- What follows the product ---


def operands(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    m, n, k = size

    def halves(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32).astype(np.float16)

    sizes = {"M": np.int32(m), "N": np.int32(n), "K": np.int32(k)}
    return {
        "A": halves(m, k),
        "B": halves(n, k),
        "bias": floats(rng, n),
        "C": empty((m, n)),
    } | sizes


def biased(given: dict) -> dict:
    product = given["A"].astype(np.float64) @ given["B"].astype(np.float64).T
    return {"C": np.maximum(product + given["bias"], 0)}


EPILOGUE = Exercise(
    id="08.bias_and_relu",
    title="what follows the product",
    task="""
The sums are in registers, shared as a `TiledMMA` of 2 x 2 warps shares them. Finish the kernel: to
each result add the bias of its column, take the larger of that and 0, and store it. All by index
formulas, once, so that you know what `partition_C` computes.
""",
    source=f"{FOLDER}/bias_and_relu.cu",
    kernel="bias_and_relu",
    inputs=operands,
    reference=biased,
    launch=lambda size: Launch((size[1] // 32, size[0] // 32), (128,)),
    small=((64, 96, 48), (32, 32, 16)),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2] + 1,
    promises=Promises(
        sizes=promises.shapes(M=(32, 64), N=(32, 96, 160), K=(16, 48)).with_longest(
            M=1056, N=1056, K=1040
        ),
        values=(
            promises.data("A", *promises.ORDINARY),
            promises.data("B", *promises.ORDINARY),
            (
                *promises.data("bias", *promises.ORDINARY, promises.LARGE, promises.SOME_INFINITE),
                *promises.data("A bias", promises.VERY_SMALL)[1:],
            ),
        ),
    ),
    means=(
        Means(
            "part of the products that the tensor cores make",
            lambda work: (
                work.counts.flops_by_type.get("f16 (tensor cores)", 0) / (2 * prod((64, 96, 48)))
            ),
            at_least=1.0,
            at_most=2.0,
            advice="The products are made already: only what follows them is missing.",
            size=(64, 96, 48),
        ),
        means.one_store_each(),
        means.work_shared_out(2.0),
    ),
    hints=(
        "sum[half][i]: which row and which column of the warp's 16 x 8 results is i?",
        "Row group, for i = 2 and 3 eight further down; column pair + i % 2. The right half is 16 "
        "columns on.",
        "`fmaxf(sum[half][i] + bias[x], 0.0f)`, with x = column + half * 16 + pair + i % 2.",
    ),
    explanation="""
A fused epilogue: C is written once, and nobody reads it again to add a bias. With layouts it needs
the column of each value as well: the same `partition_C`, of a tensor that holds coordinates in
place of numbers (notebook 02's identity tensor).
""",
    mutants=(
        mutant("the bias of the row", kinds.WRONG, ("bias[x]", "bias[y % N]")),
        mutant(
            "halves side by side",
            kinds.DATA_RACE,
            ("const int x = column + half * 16", "const int x = column + half * 8"),
        ),
        mutant(
            "one warp does it all",
            kinds.MEANS_MISSING,
            (
                "    const int row = blockIdx.y * 32 + warp % 2 * 16;\n"
                "    const int column = blockIdx.x * 32 + warp / 2 * 8;\n",
                "    for (int part = warp ? 4 : 0; part < 4; ++part) {\n"
                "    const int row = blockIdx.y * 32 + part % 2 * 16;\n"
                "    const int column = blockIdx.x * 32 + part / 2 * 8;\n",
            ),
            ("0.0f);\n        }\n", "0.0f);\n        }\n    }\n"),
        ),
        mutant(
            "large results cut off",
            kinds.WRONG,
            (
                "fmaxf(sum[half][i] + bias[x], 0.0f)",
                "fminf(fmaxf(sum[half][i] + bias[x], 0.0f), 1e6f)",
            ),
        ),
        mutant(
            "results below 1e-6 left out",
            kinds.ALL_ZEROS,
            (
                "fmaxf(sum[half][i] + bias[x], 0.0f)",
                "sum[half][i] + bias[x] > 1e-6f ? sum[half][i] + bias[x] : 0.0f",
            ),
        ),
        mutant(
            "no maximum",
            kinds.WRONG,
            ("fmaxf(sum[half][i] + bias[x], 0.0f)", "sum[half][i] + bias[x]"),
        ),
        mutant(
            "bias after the maximum",
            kinds.WRONG,
            ("fmaxf(sum[half][i] + bias[x], 0.0f)", "fmaxf(sum[half][i], 0.0f) + bias[x]"),
        ),
        mutant(
            "down before right",
            kinds.WRONG,
            ("pair + i % 2;", "pair + i / 2;"),
            ("group + i / 2 * 8;", "group + i % 2 * 8;"),
        ),
        mutant(
            "the left half alone",
            kinds.PARTLY_WRITTEN,
            (
                "half < 2; ++half) {\n        for (int i = 0; i < 4; ++i) {\n            const",
                "half < 1; ++half) {\n        for (int i = 0; i < 4; ++i) {\n            const",
            ),
        ),
    ),
)

# --- A stage too early ---


def ring_inputs(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    steps, n = size
    return {
        "x": floats(rng, (steps, n)),
        "y": empty(n),
        "n": np.int32(n),
        "steps": np.int32(steps),
    }


def summed_up(given: dict) -> dict:
    return {"y": given["x"].astype(np.float64).sum(axis=0)}


RING = Exercise(
    id="08.ring_of_stages",
    title="find the bug: a ring of stages",
    task="""
Rows come through a ring of three stages. On most days the sums are right. The emulator says that
they need not be: read its verdict, and mend the loop, so that a copy is under way while the
threads add.
""",
    source=f"{FOLDER}/ring_of_stages.cu",
    kernel="ring_of_stages",
    inputs=ring_inputs,
    reference=summed_up,
    launch=lambda size: Launch((size[1] // 128,), (128,)),
    small=((7, 256), (1, 128), (2, 128)),
    full=(4096, 1 << 14),
    reduction=lambda size: size[0],
    bug=kinds.DATA_RACE,
    promises=Promises(
        sizes=promises.shapes(steps=(1, 2, 3, 4, 9, 31), n=(128, 256, 640)).with_longest(
            steps=259, n=16512
        ),
        values=(
            promises.data(
                "x", *promises.ORDINARY, promises.FAINT, promises.SOME_INFINITE, promises.SOME_NAN
            ),
        ),
    ),
    means=(
        means.instructions(
            "threads that begin a copy",
            "cp.async.c",
            at_least=7 * 2 * 32,
            advice="The rows come by cp.async, as in the starter.",
            size=(7, 256),
        ),
        means.room_in_shared_memory(3 * 128 * 4, advice="Three stages are enough.", size=(7, 256)),
        means.instructions(
            "loads from global memory into registers",
            "ld.global",
            at_most=0,
            advice="What a thread adds it reads from the ring.",
            size=(7, 256),
        ),
        means.overlap(
            0.1,  # one warp of four copies, and adds while its copies are in flight
            advice="The next row is to be on its way while this one is added: begin its copy "
            "before, and wait for no more than you need.",
            size=(7, 256),
        ),
    ),
    hints=(
        "The copy that begins in a step goes into the stage of the step before. Who may still read "
        "it?",
        "Whoever waits for a barrier has finished the row before. So: wait, barrier, then fetch.",
        "The fetch now follows the wait, so one group fewer may be pending: `kStages - 2`.",
    ),
    explanation="""
Two rules in one place. A stage may be filled again only when *all* have read it: the barrier has
to lie between the last read and the copy. And a thread's wait speaks for its own copies: the
barrier after it makes it everybody's. One barrier a step serves both, if the copy begins behind
it. The kernel of this notebook has the same order: wait, barrier, and only in the next step the
copy.
""",
    mutants=(
        mutant(
            "no barrier",
            kinds.DATA_RACE,
            (
                "        __syncthreads();              // for everybody, and all have added the "
                "row before\n",
                "",
            ),
        ),
        mutant(
            "waits too little",
            kinds.DATA_RACE,
            ("cp_async_wait<kStages - 2>", "cp_async_wait<kStages - 1>"),
        ),
        mutant(
            "one row after the other",
            kinds.MEANS_MISSING,
            ("cp_async_wait<kStages - 2>", "cp_async_wait<0>"),
            ("        fetch(step + kStages - 1);    // into the stage of that row\n", ""),
            (
                "sum += ring[step % kStages][t];",
                "sum += ring[step % kStages][t];\n        __syncthreads();\n"
                "        fetch(step + kStages - 1);",
            ),
        ),
        mutant(
            "a ring that nobody reads",
            kinds.MEANS_MISSING,
            ("ring[step % kStages][t];", "from[(size_t)step * n + t];"),
        ),
        mutant("two stages", kinds.DATA_RACE, ("% kStages][t * 4]", "% 2][t * 4]")),
        mutant(
            "fetches the same row",
            kinds.DATA_RACE,
            ("fetch(step + kStages - 1);    //", "fetch(step + 1);    //"),
        ),
        mutant(
            "the first row is skipped",
            kinds.DATA_RACE,
            (
                "for (int step = 0; step < steps; ++step)",
                "for (int step = 1; step < steps; ++step)",
            ),
        ),
        mutant(
            "reads the next stage",
            kinds.DATA_RACE,
            ("ring[step % kStages][t];", "ring[(step + 1) % kStages][t];"),
        ),
        mutant(
            "NaN and infinity cut off",
            kinds.WRONG,
            ("sum += ring[step % kStages][t];", "sum += fminf(ring[step % kStages][t], 1e30f);"),
        ),
        mutant("every block the first columns", kinds.FIRST_BLOCK, ("x + blockIdx.x * 128;", "x;")),
    ),
)

EXERCISES = (PLAN, TILE, EPILOGUE, RING)
