"""The exercises of "NCCL and several GPUs"."""

from __future__ import annotations

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
from course_utils.exercises.means import WorkDone

from .ranks import FarMatrix, Wire, all_of, rounds_of

# --- the ring ---


def any_step(rng: np.random.Generator) -> tuple[int, int, int]:
    ranks = int(rng.integers(2, 12))
    return int(rng.integers(ranks)), ranks, int(rng.integers(2 * ranks - 2))


RING_STEP = PythonExercise(
    id="05.ring_step",
    title="a step of the ring",
    task="""
Each buffer is cut into as many chunks as there are ranks. In step 0, rank r sends its chunk r to
the right; in every later step it sends the chunk that it has received in the step before. In the
first `ranks - 1` steps what arrives is added to what is there, in the others it replaces it. Which
chunks are that? (Rank 0 of 3 gives `(0, 2, True)` in step 0.)
""",
    source="05_cuda_libraries/exercises/ring_step.py",
    function="ring_step",
    cases=((0, 3, 0), (1, 3, 0), (1, 3, 1), (1, 3, 2), (2, 3, 3), (0, 2, 1), (3, 8, 13), (7, 8, 6)),
    reference=lambda rank, ranks, step: (
        (rank - step) % ranks,
        (rank - step - 1) % ranks,
        step < ranks - 1,
    ),
    promises=Cases(any_step),
    means="Any way to the three values is right.",
    hints=(
        "Write down the chunk that rank 0 sends in each step, for 3 ranks: 0, then what arrived.",
        "What arrives comes from the left, and the rank there is in the same step: it sends "
        "chunk (rank - 1) in step 0.",
        "`sends = (rank - step) % ranks`, and Python's % is never negative.",
    ),
    explanation="""
One formula serves both halves. After `ranks - 1` steps a rank has received the one chunk to which
everybody has added: chunk `rank + 1`. That is the reduce-scatter; the other steps are the
all-gather, which hands the sums round.
""",
    mutants=(
        mutant("to the left", kinds.WRONG, ("(rank - step)", "(rank + step)")),
        mutant("one chunk on", kinds.WRONG, ("(sends - 1)", "(sends + 1)")),
        mutant("not round", kinds.WRONG, ("(sends - 1) % ranks", "sends - 1")),
        mutant("always the own chunk", kinds.WRONG, ("(rank - step) % ranks", "rank")),
        mutant("adds once too often", kinds.WRONG, ("step < ranks - 1", "step < ranks")),
        mutant("adds always", kinds.WRONG, ("step < ranks - 1", "True")),
        mutant("nothing", kinds.NOTHING_RETURNED, ("return sends", "sends")),
    ),
)


def some_buffers(rng: np.random.Generator) -> tuple[Wire, list[np.ndarray]]:
    ranks, piece = int(rng.integers(1, 8)), int(rng.integers(1, 40))
    return Wire(ranks), list(rng.integers(-50, 50, (ranks, ranks * piece)).astype(float))


def pieces_one_after_the_other(function, wire: Wire, buffers: list[np.ndarray]) -> np.ndarray:
    """What the ranks have, as a row for each. Where that is right, a second run over a wire with
    noise shows whose sum is made of it: in each piece there are ranks - 1 messages."""

    def rows(wire: Wire, buffers: list[np.ndarray]) -> np.ndarray:
        return np.stack([np.asarray(piece, float) for piece in function(wire, buffers)])

    copies, wanted = [buffer.copy() for buffer in buffers], summed_rows(wire, buffers)
    pieces = rows(wire, buffers)
    if np.array_equal(pieces, wanted):
        others = rows(Wire(wire.ranks, more=1000.0), copies)
        heard = np.all(others == pieces + 1000.0 * (wire.ranks - 1), axis=1)
        wire.deaf = [int(rank) for rank in np.flatnonzero(~heard)]
    return pieces


def summed_rows(wire: Wire, buffers: list[np.ndarray]) -> np.ndarray:
    return np.sum(buffers, axis=0).reshape(len(buffers), -1)


def by_wire(wire: Wire, buffers: list[np.ndarray]) -> str:
    fair = (len(buffers) - 1) * (len(buffers[0]) // len(buffers))
    if wire.deaf:
        return (
            f"The sum of rank {wire.deaf[0]} is right, and not made of what has come by the wire. "
            "A rank knows its own buffer alone."
        )
    if wire.left():
        return f"{wire.left()} messages were sent, and nobody has received them."
    for done, counts in {"sent": wire.sent, "received": wire.received}.items():
        if max(counts) > fair:
            rank = int(np.argmax(counts))
            return f"Rank {rank} has {done} {counts[rank]} floats, and {fair} are enough."
        if min(counts) < fair:
            rank = int(np.argmin(counts))
            return (
                f"Rank {rank} has {done} {counts[rank]} floats, and for its part in the sum {fair} "
                "have to pass."
            )
    return ""


REDUCE_SCATTER = PythonExercise(
    id="05.reduce_scatter",
    title="a reduce-scatter",
    task="""
After a reduce-scatter, rank r has piece r of the sum of all buffers. `wire` carries copies of
floats from rank to rank and counts them: each rank may send `ranks - 1` pieces, and receive as
many. All buffers have the same length, a multiple of the number of ranks. (The end of a ring is
one rank off: after it rank r has the piece with which it began last; begin one further to the
left.)
""",
    source="05_cuda_libraries/exercises/reduce_scatter.py",
    function="reduce_scatter",
    cases=tuple(
        (Wire(ranks), [np.arange(ranks * piece) + 100.0 * r for r in range(ranks)])
        for ranks, piece in ((2, 2), (3, 1), (4, 5), (1, 4), (7, 3))
    ),
    reference=summed_rows,
    call=pieces_one_after_the_other,
    promises=Cases(some_buffers),
    means=by_wire,
    hints=(
        "Two ways cost the same here: a ring, in which sums travel and grow, or everybody sends "
        "piece r to rank r at once.",
        "In a loop that runs the ranks in turn, let all of them send before any of them receives.",
        "At once: `wire.send(rank, other, buffers[rank][other * piece : (other + 1) * piece])` for "
        "every other rank; then rank adds what it receives to a copy of its own piece.",
    ),
    explanation="""
Each rank sends (ranks - 1) / ranks of its buffer, and nobody can do with less. Sending to
everybody at once takes one step and needs a link between any two; a ring takes ranks - 1 steps and
needs one link to each side. NCCL chooses by the machine and the size.
""",
    mutants=(
        mutant("one step short", kinds.WRONG, ("range(ranks - 1)", "range(ranks - 2)")),
        mutant("a step too many", kinds.MEANS_MISSING, ("range(ranks - 1)", "range(ranks)")),
        mutant("replaced", kinds.WRONG, ("] += wire", "] = wire")),
        mutant(
            "from the right",
            kinds.EXCEPTION,
            ("receive(rank, (rank - 1)", "receive(rank, (rank + 1)"),
        ),
        mutant(
            "the ring's own end",
            kinds.WRONG,
            ("rank - step - 1", "rank - step"),
            ("rank - step - 2", "rank - step - 1"),
        ),
        mutant(
            "no wire",
            kinds.MEANS_MISSING,
            (
                "    mine = [buffer.copy() for buffer in buffers]\n",
                "    total = sum(buffers)\n"
                "    return [total[r * piece : (r + 1) * piece] for r in range(ranks)]\n"
                "    mine = [buffer.copy() for buffer in buffers]\n",
            ),
        ),
        mutant(
            "nobody listens",
            kinds.MEANS_MISSING,
            (
                "    mine = [buffer.copy() for buffer in buffers]\n",
                "    for a in range(ranks):\n"
                "        for b in range(ranks):\n"
                "            if a != b:\n"
                "                wire.send(a, b, 0 * buffers[a][:piece])\n"
                "                wire.receive(b, a)\n"
                "    total = sum(buffers)\n"
                "    return [total[r * piece : (r + 1) * piece] for r in range(ranks)]\n"
                "    mine = [buffer.copy() for buffer in buffers]\n",
            ),
        ),
        mutant(
            "the last one heard",
            kinds.MEANS_MISSING,
            (
                "    mine = [buffer.copy() for buffer in buffers]\n",
                "    total, found = sum(buffers), []\n"
                "    for a in range(ranks):\n"
                "        for b in range(ranks):\n"
                "            if a != b:\n"
                "                wire.send(a, b, total[b * piece : (b + 1) * piece])\n"
                "    for r in range(ranks):\n"
                "        heard = [wire.receive(r, o) for o in range(ranks) if o != r]\n"
                "        found.append(heard[-1] if heard else total)\n"
                "    return found\n"
                "    mine = [buffer.copy() for buffer in buffers]\n",
            ),
        ),
        mutant(
            "whole buffers",
            kinds.MEANS_MISSING,
            (
                "    mine = [buffer.copy() for buffer in buffers]\n",
                "    for a in range(ranks):\n"
                "        for b in range(ranks):\n"
                "            if a != b:\n"
                "                wire.send(a, b, buffers[a])\n"
                "    sums = [sum((wire.receive(b, a) for a in range(ranks) if a != b), buffers[b])"
                " for b in range(ranks)]\n"
                "    return [sums[r][r * piece : (r + 1) * piece] for r in range(ranks)]\n"
                "    mine = [buffer.copy() for buffer in buffers]\n",
            ),
        ),
    ),
)


def any_link(rng: np.random.Generator) -> tuple[int, int, float, float]:
    ranks, nbytes = int(rng.integers(2, 70)), int(rng.choice([4, 1000, 1 << 20, 1 << 30]))
    return (
        ranks,
        nbytes,
        float(rng.choice([0.7, 3.0, 25.0])),
        float(rng.choice([0.125, 1.25, 25, 400])),
    )


def both_costs(ranks: int, nbytes: int, latency_us: float, rate: float) -> tuple[float, float]:
    per_byte, levels = 1e-3 / rate, int(np.ceil(np.log2(ranks)))
    ring = 2 * (ranks - 1) * latency_us + 2 * (ranks - 1) / ranks * nbytes * per_byte
    return ring, 2 * levels * (latency_us + nbytes * per_byte)


ALL_REDUCE_US = PythonExercise(
    id="05.all_reduce_us",
    title="what a ring and a tree cost",
    task="""
A step costs the latency and its bytes at the rate of the link. A ring takes `2 (ranks - 1)` steps
of `nbytes / ranks` each. The simplest tree adds up whole buffers in pairs, level by level, until
one rank has the sum, and broadcasts it the same way back: with 8 ranks 3 levels up and 3 down,
with 5 to 7 as many. (4 ranks, 4 MB, 2 µs and 100 GB/s: the ring takes 72 µs, the tree 168.)
""",
    source="05_cuda_libraries/exercises/all_reduce_us.py",
    function="all_reduce_us",
    cases=(
        (4, 4_000_000, 2.0, 100.0),
        (2, 1000, 5.0, 10.0),
        (8, 1 << 30, 3.0, 400.0),
        (5, 1024, 3.0, 400.0),
        (64, 1024, 3.0, 400.0),
        (9, 100, 1.0, 1.0),
        (4, 1000, 1.0, 0.5),
        (3, 1 << 20, 0.01, 0.001),
        (100_000, 1 << 20, 1.0, 25.0),
    ),
    reference=both_costs,
    promises=Cases(any_link),
    means="Any formula for it is right.",
    hints=(
        "10⁹ bytes a second are 1,000 bytes in a microsecond.",
        "A tree over 5 ranks has as many levels as one over 8: `math.ceil(math.log2(ranks))`.",
        "`ring = 2 * (ranks - 1) * (latency_us + nbytes / ranks / (1000 * gb_per_s))`",
    ),
    explanation="""
The ring's bytes hardly grow with the number of ranks, and its latency grows with it; with the tree
both grow with the logarithm. Small messages want trees, large ones rings. Real trees cut the buffer
into parts that follow one another, and then cost twice the bytes at most, not twice the levels.
""",
    mutants=(
        mutant("half a ring", kinds.WRONG, ("2 * (ranks - 1)", "(ranks - 1)")),
        mutant("a step too many", kinds.WRONG, ("2 * (ranks - 1)", "2 * ranks")),
        mutant("whole buffers in the ring", kinds.WRONG, ("nbytes / ranks", "nbytes")),
        mutant(
            "levels rounded down",
            kinds.WRONG,
            ("(ranks - 1).bit_length()", "ranks.bit_length() - 1"),
        ),
        mutant("only up", kinds.WRONG, ("2 * levels", "levels")),
        mutant("in seconds", kinds.WRONG, ("1e6 /", "1 /")),
        mutant("1 GB/s at least", kinds.WRONG, ("(gb_per_s * 1e9)", "(max(gb_per_s, 1) * 1e9)")),
        mutant(
            "a latency once",
            kinds.WRONG,
            ("2 * levels * (latency_us + ", "latency_us + 2 * levels * ("),
        ),
        mutant(
            "ten levels at most",
            kinds.WRONG,
            ("levels = (", "levels = min(10, ("),
            (".bit_length()", ".bit_length())"),
        ),
    ),
)


# --- peer memory ---


def chain_of_ranks(given: dict) -> dict:
    """The rows that travel: each begins with the row before, moved by one."""
    x = given["x"].reshape(-1, given["n"])
    y, boxes = x.copy(), np.full_like(x, np.nan)
    for rank in range(1, len(x)):
        boxes[rank] = np.roll(y[rank - 1], 1)
        y[rank] = boxes[rank] + x[rank]
    flags = np.ones(len(x), np.uint32)
    flags[0] = 0
    return {"boxes": boxes.ravel(), "y": y.ravel(), "flags": flags}


def for_this_gpu_alone(work: WorkDone) -> int:
    """Fences and atomics whose scope is a GPU or a block."""
    ordering = "membar.", "fence.", "atom.", "red.", "ld.acquire.", "st.release.", "ld.relaxed."
    names = [name for name in work.counts.opcodes if name.startswith(ordering)]
    return sum(work.counts.opcodes[name] for name in names if ".sys" not in name)


PASS_ON = Exercise(
    id="05.pass_on",
    title="hand a box to another GPU",
    task="""
A chain of ranks, each of which waits for the one before. Write both ends of the handover: `tell`
sets a flag in the other's memory, `wait_for` waits for a flag in memory of its own, both with what
you know of the memory model, and for a reader on another GPU.
""",
    source="05_cuda_libraries/exercises/pass_on.cu",
    kernel="pass_on",
    inputs=lambda rng, size: {
        "x": floats(rng, size[0] * size[1]),
        "boxes": np.full(size[0] * size[1], np.nan, np.float32),
        "flags": np.zeros(size[0], np.uint32),
        "y": empty(size[0] * size[1]),
        "n": np.int32(size[1]),
    },
    reference=chain_of_ranks,
    launch=lambda size: Launch((size[0],), (64,)),
    small=((4, 150), (3, 64), (2, 33), (2, 1)),
    budget=12_000,  # a loop that never ends polls with atomics, which are slow
    full=(8, 1 << 16),
    promises=Promises(
        sizes=promises.shapes(ranks=(2, 3, 5), n=(2, 31, 64, 65, 150)),
        values=(promises.data("x", *promises.ORDINARY),),
    ),
    means=(
        means.barriers(
            at_most=4 * 2 * 2,
            advice="The block's threads meet once before it tells, and once after it has waited.",
            size=(4, 150),
        ),
        Means(
            "fences and atomics for readers on the same GPU",
            for_this_gpu_alone,
            at_most=0,
            advice="The reader is on another GPU: every fence and every atomic of the handover "
            "has the scope of the system, `..._system`.",
            size=(4, 150),
        ),
    ),
    hints=(
        "tell: the block's threads meet, then one of them sets the flag. wait_for: one of them "
        "polls the flag, then the block's threads meet.",
        "Release before the flag is set, acquire after it is seen: `__threadfence_system()`.",
        "`atomicExch_system(flag, 1u);`",
        "`while (atomicAdd_system(flag, 0u) == 0) { }`",
    ),
    explanation="""
The flag lies with the one who waits, so that polling stays at home and one store crosses the link.
Between GPUs the scope must be the system's: `__threadfence()` and `atomicExch()` are for readers on
the same GPU. Here all ranks are blocks of one GPU, or of the emulator, where both give the right
numbers, so the scope is judged by the instructions. `cuda::atomic_ref` with a store that releases
and a load that acquires does the same with less: `meet_ranks` is written so.
""",
    mutants=(
        mutant("no barrier before", kinds.DATA_RACE, ("    __syncthreads();  // the block", "//")),
        mutant("no barrier behind", kinds.DATA_RACE, ("    __syncthreads();  // nobody", "//")),
        mutant(
            "no release", kinds.DATA_RACE, ("        __threadfence_system();  // release", "//")
        ),
        mutant(
            "no acquire", kinds.DATA_RACE, ("        __threadfence_system();  // acquire", "//")
        ),
        mutant(
            "fences for one GPU",
            kinds.MEANS_MISSING,
            ("__threadfence_system();  // release", "__threadfence();"),
            ("__threadfence_system();  // acquire", "__threadfence();"),
        ),
        mutant(
            "atomics for one GPU",
            kinds.MEANS_MISSING,
            ("atomicExch_system(flag", "atomicExch(flag"),
            ("atomicAdd_system(flag", "atomicAdd(flag"),
        ),
        mutant("waits for nobody", kinds.DATA_RACE, ("0u) == 0)", "0u) > 1)")),
        mutant("looks once", kinds.DATA_RACE, ("while (", "if (")),
        mutant("waits for more", kinds.ENDLESS_LOOP, ("0u) == 0)", "0u) < 2)")),
        mutant("never tells", kinds.ENDLESS_LOOP, ("(flag, 1u)", "(flag, 0u)")),
        mutant(
            "within a block",
            kinds.DATA_RACE,
            ("atomicExch_system(flag", "atomicExch_block(flag"),
            ("atomicAdd_system(flag", "atomicAdd_block(flag"),
        ),
    ),
)


# --- one network on several GPUs ---


def some_layer(rng: np.random.Generator) -> tuple[np.ndarray, FarMatrix, FarMatrix, int]:
    rows, width, hidden, out = (int(k) for k in rng.integers(1, 20, 4))
    made = [rng.standard_normal(shape) for shape in ((rows, width), (width, hidden), (hidden, out))]
    return made[0], FarMatrix(made[1]), FarMatrix(made[2]), int(rng.integers(1, 7))


def parts_added(function, x, first: FarMatrix, second: FarMatrix, ranks: int) -> np.ndarray:
    """The sum over all ranks, and what each of them fetched."""
    total, shares = 0.0, []
    for rank in range(ranks):
        first.fetched = second.fetched = 0
        total = total + function(x, first, second, rank, ranks)
        shares.append(first.fetched + second.fetched)
    first.shares = shares
    return np.asarray(total)


def fair_share(x, first: FarMatrix, second: FarMatrix, ranks: int) -> str:
    hidden = first.shape[1]
    unit = first.shape[0] + second.shape[1]
    least, most = hidden // ranks * unit, -(-hidden // ranks) * unit
    for rank, share in enumerate(first.shares):
        if not least <= share <= most:
            return (
                f"Rank {rank} of {ranks} fetched {share} of the numbers of both matrices; with "
                f"{hidden} hidden units shared out evenly, {least} are the least and {most} the "
                "most."
            )
    return ""


PARTIAL_OUTPUT = PythonExercise(
    id="05.partial_output",
    title="two layers, cut for tensor parallelism",
    task="""
Two layers of a network, shared out over ranks: each has some of the hidden units, which are
columns of the first matrix and rows of the second. Which ones? The outputs of all ranks are added
up by one all-reduce. No rank may have more than one hidden unit more than another; some may have
none.
""",
    source="05_cuda_libraries/exercises/partial_output.py",
    function="partial_output",
    cases=tuple(
        (
            np.linspace(-1, 1, rows * width).reshape(rows, width),
            FarMatrix(np.cos(np.arange(width * hidden)).reshape(width, hidden)),
            FarMatrix(np.sin(np.arange(hidden * out)).reshape(hidden, out)),
            ranks,
        )
        for rows, width, hidden, out, ranks in (
            (2, 3, 8, 2, 2),
            (2, 3, 8, 2, 1),
            (1, 4, 7, 3, 3),
            (3, 2, 2, 5, 4),
            (1, 2, 300, 2, 7),
        )
    ),
    reference=lambda x, first, second, ranks: np.tanh(x @ all_of(first)) @ all_of(second),
    call=parts_added,
    promises=Cases(some_layer),
    means=fair_share,
    hints=(
        "Rank r begins where rank r - 1 ends.",
        "With 7 units and 3 ranks: 2, 2 and 3, or 3, 2 and 2.",
        "`begin, end = rank * hidden // ranks, (rank + 1) * hidden // ranks`",
    ),
    explanation="""
The cut goes along the hidden units because tanh acts on each of them alone. Cut the first matrix
by rows instead, and partial sums would have to be added up before tanh: one all-reduce more.
""",
    mutants=(
        mutant(
            "rounded down",
            kinds.WRONG,
            (
                "rank * hidden // ranks, (rank + 1) * hidden // ranks",
                "rank * (hidden // ranks), (rank + 1) * (hidden // ranks)",
            ),
        ),
        mutant(
            "the last takes the rest",
            kinds.MEANS_MISSING,
            (
                "rank * hidden // ranks, (rank + 1) * hidden // ranks",
                "rank * (hidden // ranks), (rank + 1) * (hidden // ranks) if rank < ranks - 1 "
                "else hidden",
            ),
        ),
        mutant(
            "the last has less than all others",
            kinds.MEANS_MISSING,
            (
                "rank * hidden // ranks, (rank + 1) * hidden // ranks",
                "(min(r * -(-hidden // ranks), hidden) for r in (rank, rank + 1))",
            ),
        ),
        mutant(
            "one overlaps",
            kinds.WRONG,
            ("(rank + 1) * hidden // ranks", "(rank + 1) * hidden // ranks + 1"),
        ),
        mutant(
            "rank 0 does it all",
            kinds.MEANS_MISSING,
            (
                "rank * hidden // ranks, (rank + 1) * hidden // ranks",
                "0, hidden if rank == 0 else 0",
            ),
        ),
        mutant(
            "all do it all",
            kinds.SCALED,
            ("rank * hidden // ranks, (rank + 1) * hidden // ranks", "0, hidden"),
        ),
        mutant(
            "whole columns fetched",
            kinds.MEANS_MISSING,
            ("first.columns(begin, end)", "first.columns(0, hidden)[:, begin:end]"),
        ),
        mutant(
            "64 units",
            kinds.WRONG,
            ("rank + 1) * hidden // ranks", "rank + 1) * min(hidden, 64) // ranks"),
        ),
    ),
)


def any_pipeline(rng: np.random.Generator) -> tuple[float, float, int, int]:
    forward = float(rng.uniform(1, 50))
    return forward, 2 * forward, int(rng.integers(1, 17)), int(rng.integers(1, 65))


PIPELINE_MS = PythonExercise(
    id="05.pipeline_ms",
    title="the bubble of a pipeline",
    task="""
A network in stages, one on each GPU; the batch goes through in parts, all forward, then all
backward. How long does a step take? Leave out what messages cost. (A network of 30 + 60 ms, 3
stages: 90 ms with the batch in one part, 40 ms with 6 parts.)
""",
    source="05_cuda_libraries/exercises/pipeline_ms.py",
    function="pipeline_ms",
    cases=(
        (30.0, 60.0, 3, 1),
        (30.0, 60.0, 3, 6),
        (10.0, 20.0, 1, 4),
        (8.0, 16.0, 8, 8),
        (8.0, 16.0, 8, 64),
        (5.0, 5.0, 2, 3),
        (5.0, 5.0, 300, 1000),
    ),
    reference=lambda forward, backward, stages, parts: (
        (forward + backward) * (parts + stages - 1) / (stages * parts)
    ),
    promises=Cases(any_pipeline),
    means="A formula or a simulation of the pipeline: both are good.",
    hints=(
        "A part takes `forward_ms / (stages * parts)` in a stage. When does the last stage begin?",
        "The last stage begins after stages - 1 such times, and then has `parts` of them to do.",
        "`(parts + stages - 1)` times what a part takes in a stage, forward and backward.",
    ),
    explanation="""
Of parts + stages - 1 such turns, a GPU works in `parts`: the rest is the bubble. Four times as many
parts as stages leave a fifth at most. More parts are smaller parts, which fill a GPU less well.
""",
    mutants=(
        mutant("no bubble", kinds.WRONG, ("(parts + stages - 1)", "parts")),
        mutant("one too many", kinds.WRONG, ("(parts + stages - 1)", "(parts + stages)")),
        mutant("whole batches", kinds.WRONG, ("(stages * parts)", "stages")),
        mutant(
            "a bubble each way", kinds.WRONG, ("(parts + stages - 1)", "(parts + 2 * stages - 2)")
        ),
        mutant("forward alone", kinds.WRONG, ("(forward_ms + backward_ms)", "forward_ms")),
        mutant("64 stages", kinds.WRONG, ("(parts + stages - 1)", "(parts + min(stages, 64) - 1)")),
    ),
)


def any_buckets(rng: np.random.Generator) -> tuple[list[float], list[float]]:
    count = int(rng.integers(1, 12))
    ready = np.cumsum(rng.uniform(0, 2, count))
    if rng.integers(2):
        rng.shuffle(ready)
    return [float(k) for k in ready], [float(k) for k in rng.uniform(0, 3, count)]


OVERLAPPED_MS = PythonExercise(
    id="05.overlapped_ms",
    title="buckets that overlap",
    task="""
The backward pass fills one bucket of gradients after the other, the last layer's first, and each
is reduced while the pass goes on. When is the last of them reduced? (Ready at 1, 2 and 3 ms, with
2 ms for each all-reduce: at 7 ms.)
""",
    source="05_cuda_libraries/exercises/overlapped_ms.py",
    function="overlapped_ms",
    cases=(
        ([1.0, 2.0, 3.0], [2.0, 2.0, 2.0]),
        ([1.0, 2.0, 3.0], [0.5, 0.5, 0.5]),
        ([4.0], [3.0]),
        ([1.0, 9.0, 9.5], [4.0, 1.0, 1.0]),
        ([0.0, 0.0, 10.0], [3.0, 4.0, 0.25]),
        ([1.0, 2.0], [0.5, 0.0]),
        ([3.0, 1.0], [1.0, 5.0]),
    ),
    reference=lambda ready, takes: max(start + sum(takes[k:]) for k, start in enumerate(ready)),
    promises=Cases(any_buckets),
    means="Any way to the time is right.",
    hints=(
        "Draw the three all-reduces of the example on a line of time.",
        "A bucket waits for two things: its gradients, and the link.",
        "`end = max(end, ready) + takes`, from bucket to bucket.",
    ),
    explanation="""
Where the link is faster than the backward pass, only the last bucket's all-reduce shows. Where it
is slower, everything after the first bucket waits for the link, and overlapping hides at most the
backward pass.
""",
    mutants=(
        mutant(
            "behind it all",
            kinds.WRONG,
            ("max(end, ready) + takes", "max(ready_ms[-1], end) + takes"),
        ),
        mutant("no link to wait for", kinds.WRONG, ("max(end, ready)", "ready")),
        mutant("no gradients to wait for", kinds.WRONG, ("max(end, ready)", "end")),
        mutant(
            "side by side",
            kinds.WRONG,
            ("end = max(end, ready) + takes", "end = max(end, ready + takes)"),
        ),
        mutant(
            "one short",
            kinds.WRONG,
            ("zip(ready_ms, reduce_ms,", "zip(ready_ms[1:], reduce_ms[1:],"),
        ),
        mutant(
            "the first there goes first",
            kinds.WRONG,
            ("in zip(ready_ms, reduce_ms, strict=True)", "in sorted(zip(ready_ms, reduce_ms))"),
        ),
        mutant("nothing takes no time", kinds.WRONG, ("+ takes", "+ max(takes, 1e-3)")),
    ),
)


# --- who waits for whom ---


def all_arrive(function, ranks: int) -> str:
    """Whether the messages of all ranks arrive, and how fast; what is wrong in words."""
    programs = []
    for rank in range(ranks):
        program = [(str(what), int(other)) for what, other in function(rank, ranks)]
        right, left = (rank + 1) % ranks, (rank - 1) % ranks
        if sorted(program) != sorted([("send", right), ("receive", left)]):
            return f"rank {rank} is to send to rank {right} and to receive from rank {left}, once"
        programs.append(program)
    rounds, stuck = rounds_of(programs)
    if stuck:
        return f"deadlock: {stuck}"
    if rounds > 3:
        return f"{rounds} rounds, where 3 are enough"
    return "all arrive in 3 rounds at most"


EXCHANGE = PythonExercise(
    id="05.exchange",
    title="find the deadlock",
    task="""
Everybody sends a message to the right and gets one from the left. A large message is not buffered:
a send waits until the other side receives, and a receive until the other side sends. So this
program never ends. Mend it, such that all messages arrive in three rounds, in each of which every
pair that waits for each other makes its exchange.
""",
    source="05_cuda_libraries/exercises/exchange.py",
    function="exchange",
    cases=((2,), (3,), (4,), (5,), (8,), (33,), (258,)),
    reference=lambda ranks: "all arrive in 3 rounds at most",
    call=all_arrive,
    promises=Cases(lambda rng: (int(rng.integers(2, 40)),)),
    means="The order of two steps is all that there is, and how long it takes is judged above.",
    hints=(
        "All send at once, and nobody receives. Who could receive first?",
        "If rank 0 alone receives first, all arrive, but one after the other.",
        "Let ranks with an odd number receive first.",
    ),
    explanation="""
With an odd number of ranks the last and the first both send first, and the last waits a round:
still three at most. NCCL and MPI have a better answer, a group: `batch_isend_irecv` starts both at
once and waits for both.
""",
    mutants=(
        mutant(
            "all receive first",
            kinds.WRONG,
            ("steps if rank % 2 == 0 else steps[::-1]", "steps[::-1]"),
        ),
        mutant("one receives first", kinds.WRONG, ("rank % 2 == 0", "rank > 0")),
        mutant("one sends first", kinds.WRONG, ("rank % 2 == 0", "rank == 0")),
        mutant("only for four", kinds.WRONG, ("rank % 2 == 0", "rank in (0, 2)")),
        mutant("halves", kinds.WRONG, ("rank % 2 == 0", "rank < ranks // 2")),
        mutant("one message alone", kinds.WRONG, ("return steps if", "return steps[:1] if")),
    ),
)
