"""The exercises of "NCCL and several GPUs"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.method import LaunchStats, Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise

from .ranks import FarMatrix, Wire, all_of, rounds_of

# --- the ring ---


def any_step(rng: np.random.Generator) -> tuple[int, int, int]:
    ranks = int(rng.integers(2, 12))
    return int(rng.integers(ranks)), ranks, int(rng.integers(2 * ranks - 2))


RING_STEP = PythonExercise(
    cases=((0, 3, 0), (1, 3, 0), (1, 3, 1), (1, 3, 2), (2, 3, 3), (0, 2, 1), (3, 8, 13), (7, 8, 6)),
    reference=lambda rank, ranks, step: (
        (rank - step) % ranks,
        (rank - step - 1) % ranks,
        step < ranks - 1,
    ),
    contract=DrawnCases(any_step),
)


def some_buffers(rng: np.random.Generator) -> tuple[Wire, list[np.ndarray]]:
    ranks, piece = int(rng.integers(1, 8)), int(rng.integers(1, 40))
    return Wire(ranks), list(rng.integers(-50, 50, (ranks, ranks * piece)).astype(float))


def pieces_one_after_the_other(
    function: Callable[..., Any], wire: Wire, buffers: list[np.ndarray]
) -> np.ndarray:
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
        return f"{wire.left()} messages were sent and not received."
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
    cases=tuple(
        (Wire(ranks), [np.arange(ranks * piece) + 100.0 * r for r in range(ranks)])
        for ranks, piece in ((2, 2), (3, 1), (4, 5), (1, 4), (7, 3))
    ),
    reference=summed_rows,
    call=pieces_one_after_the_other,
    contract=DrawnCases(some_buffers),
    method=by_wire,
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
    cases=(
        (4, 4_000_000, 2.0, 100.0),
        (2, 1000, 5.0, 10.0),
        (8, 1 << 30, 3.0, 400.0),
        (5, 1024, 3.0, 400.0),
        (64, 1024, 3.0, 400.0),
        (9, 100, 1.0, 1.0),
        (4, 1000, 1.0, 0.5),
        (1, 1000, 2.0, 100.0),
        (2049, 4, 1.0, 25.0),
        (3, 1 << 20, 0.01, 0.001),
        (100_000, 1 << 20, 1.0, 25.0),
    ),
    reference=both_costs,
    contract=DrawnCases(any_link),
)


# --- peer memory ---


def chain_of_ranks(given: Given) -> dict[str, np.ndarray]:
    """The rows that travel: each begins with the row before, moved by one."""
    x = given["x"].reshape(-1, given["n"])
    y, boxes = x.copy(), np.full_like(x, np.nan)
    for rank in range(1, len(x)):
        boxes[rank] = np.roll(y[rank - 1], 1)
        y[rank] = boxes[rank] + x[rank]
    flags = np.ones(len(x), np.uint32)
    flags[0] = 0
    return {"boxes": boxes.ravel(), "y": y.ravel(), "flags": flags}


def for_this_gpu_alone(stats: LaunchStats) -> int:
    """Fences and atomics whose scope is a GPU or a block."""
    ordering = "membar.", "fence.", "atom.", "red.", "ld.acquire.", "st.release.", "ld.relaxed."
    names = [name for name in stats.counts.opcodes if name.startswith(ordering)]
    return sum(stats.counts.opcodes[name] for name in names if ".sys" not in name)


PASS_ON = KernelExercise(
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
    contract=Domain(
        sizes=domain.shapes(ranks=(2, 3, 5), n=(2, 31, 64, 65, 150)),
        values=(domain.data("x", *domain.ORDINARY),),
    ),
    method=(
        method.barriers(
            at_most=4 * 2 * 2,
            advice="The block's threads meet once before it tells, and once after it has waited.",
            size=(4, 150),
        ),
        Requirement(
            "fences and atomics for readers on the same GPU",
            for_this_gpu_alone,
            at_most=0,
            advice="The reader is on another GPU: every fence and every atomic of the handover "
            "has the scope of the system, `..._system`.",
            size=(4, 150),
        ),
    ),
)


# --- all-to-all ---


def received(experts: list[list[int]], rank: int, per_rank: int) -> list[tuple[int, int]]:
    """Expert by expert, and for each all tokens of all ranks."""
    mine = range(rank * per_rank, (rank + 1) * per_rank)
    return [
        (sender, index)
        for expert in mine
        for sender, tokens in enumerate(experts)
        for index, wanted in enumerate(tokens)
        if wanted == expert
    ]


def pairs_of(answer: Any) -> str | None:
    """A list of pairs in words, so that verdicts show it in its order."""
    if answer is None:
        return None
    return str([(int(sender), int(index)) for sender, index in answer])


def any_tokens(rng: np.random.Generator) -> tuple[list[list[int]], int, int]:
    ranks, per_rank = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    counts = rng.integers(0, 12, ranks)
    experts = [rng.integers(0, ranks * per_rank, count).tolist() for count in counts]
    return experts, int(rng.integers(ranks)), per_rank


DISPATCH = PythonExercise(
    cases=(
        ([[2, 0], [0, 3]], 0, 2),
        ([[2, 0], [0, 3]], 1, 2),
        ([[1, 0, 1], [0, 1, 0]], 0, 2),
        ([[1, 0, 1], [0, 1, 0]], 1, 1),
        ([[], [0], [5, 4]], 2, 2),
        ([[0, 0], [0, 0]], 1, 1),
    ),
    reference=lambda *case: pairs_of(received(*case)),
    call=lambda answer, *case: pairs_of(answer(*case)),
    shows=lambda experts, rank, per_rank: {
        "experts": experts,
        "rank": rank,
        "per_rank": per_rank,
    },
    contract=DrawnCases(any_tokens),
)

# --- one network on several GPUs ---


def some_layer(rng: np.random.Generator) -> tuple[np.ndarray, FarMatrix, FarMatrix, int]:
    rows, width, hidden, out = (int(k) for k in rng.integers(1, 20, 4))
    made = [rng.standard_normal(shape) for shape in ((rows, width), (width, hidden), (hidden, out))]
    return made[0], FarMatrix(made[1]), FarMatrix(made[2]), int(rng.integers(1, 7))


def parts_added(
    function: Callable[..., Any], x: np.ndarray, first: FarMatrix, second: FarMatrix, ranks: int
) -> np.ndarray:
    """The sum over all ranks, and what each of them fetched."""
    total, shares = 0.0, []
    for rank in range(ranks):
        first.fetched = second.fetched = 0
        total = total + function(x, first, second, rank, ranks)
        shares.append(first.fetched + second.fetched)
    first.shares = shares
    return np.asarray(total)


def fair_share(x: np.ndarray, first: FarMatrix, second: FarMatrix, ranks: int) -> str:
    hidden = first.shape[1]
    unit = first.shape[0] + second.shape[1]
    least, most = hidden // ranks * unit, ceil_div(hidden, ranks) * unit
    for rank, share in enumerate(first.shares):
        if not least <= share <= most:
            return (
                f"Rank {rank} of {ranks} fetched {share} of the numbers of both matrices; with "
                f"{hidden} hidden units shared out evenly, {least} are the least and {most} the "
                "most."
            )
    return ""


# Three hidden units, of which tanh makes 1, -1 or 0: a result is a sum of numbers of `second`.
BY_HAND = (
    np.array([[1, 0], [0, 1]]),
    FarMatrix(np.array([[20, -20, 0], [0, 20, -20]])),
    FarMatrix(np.array([[1, 2], [3, 4], [5, -6]])),
    2,
)
PARTIAL_OUTPUT = PythonExercise(
    cases=(BY_HAND,)
    + tuple(
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
    shows=lambda x, first, second, ranks: {
        "x": x,
        "first": all_of(first),
        "second": all_of(second),
        "ranks": ranks,
    },
    contract=DrawnCases(some_layer),
    method=fair_share,
)


def any_pipeline(rng: np.random.Generator) -> tuple[float, float, int, int]:
    forward = float(rng.uniform(1, 50))
    return forward, 2 * forward, int(rng.integers(1, 17)), int(rng.integers(1, 65))


PIPELINE_MS = PythonExercise(
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
    contract=DrawnCases(any_pipeline),
)


def any_buckets(rng: np.random.Generator) -> tuple[list[float], list[float]]:
    count = int(rng.integers(1, 12))
    ready = np.cumsum(rng.uniform(0, 2, count))
    if rng.integers(2):
        rng.shuffle(ready)
    return [float(k) for k in ready], [float(k) for k in rng.uniform(0, 3, count)]


OVERLAPPED_MS = PythonExercise(
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
    contract=DrawnCases(any_buckets),
)


# --- who waits for whom ---


def all_arrive(function: Callable[..., Any], ranks: int) -> str:
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
    cases=((2,), (3,), (4,), (5,), (8,), (33,), (258,)),
    reference=lambda ranks: "all arrive in 3 rounds at most",
    call=all_arrive,
    contract=DrawnCases(lambda rng: (int(rng.integers(2, 40)),)),
)
