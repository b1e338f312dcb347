"""The exercises of "Moving data"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import Cases, PythonExercise, kinds, mutant
from course_utils.exercises.late_gpu import ORDERS, LateGPU


def late_gpu_and_numbers(rng: np.random.Generator) -> tuple:
    """A GPU of any order, and a few numbers or some hundreds."""
    count = rng.integers(1, 10 ** rng.integers(1, 5))
    return LateGPU(str(rng.choice(ORDERS))), rng.uniform(-9, 9, count).tolist()


def copies_beside_the_kernel(gpu: LateGPU, numbers: list[float]) -> str:
    """What is missing where one stream does everything, or the host helps out."""
    used = sum(stream.added > 0 for stream in gpu.streams)
    if used == 0:
        return "Nothing was put into any stream: the device copies and squares, not the host."
    if used == 1:
        return "Everything went into one stream: the copy shall have a stream of its own."
    if [value * value for value in numbers] not in gpu.delivered:
        return (
            "These numbers did not come from the device: it had not delivered the squares when the "
            "function returned."
        )
    if gpu.overwritten():
        return "The host wrote into what the device had delivered: the device does the squaring."
    return ""


FIND_THE_HOST_BUG = PythonExercise(
    id="04.find_the_host_bug",
    title="it worked on a fast GPU",
    task="""
This host program lacks two lines. On a fast GPU it may well pass all its tests. Here `gpu` is a
stand-in that obeys CUDA's rules and does everything **as late as they allow**: nothing that you put
into a stream happens before something waits for it. (Your answer is then tried in other orders,
too: everything at once, and the other streams first.) Run the cell as it is, then add the two
lines. Uninitialised memory holds `nan` on the host, and `inf` on the device.
""",
    source="04_first_kernels/exercises/squares_on_device.py",
    function="squares",
    cases=((LateGPU(), [3.0, 1.0, 0.5]), (LateGPU(), [2.0])),
    reference=lambda gpu, numbers: tuple(value * value for value in numbers),
    promises=Cases(late_gpu_and_numbers),
    means=copies_beside_the_kernel,
    bug=kinds.WRONG,
    hints=(
        "Two readers come too early: the host, which then sees `nan`, and the kernel, which "
        "squares `inf`.",
        "Two streams know nothing of each other: the kernel may run before the copy in.",
        "`computing.wait_event(arrived)` holds the kernel back until the copy has arrived.",
        "`get` returns at once: before `return result`, the host must wait. "
        "`computing.synchronize()`",
    ),
    explanation="""
Two orders were missing: between the two streams (an event) and between the device and the host (a
synchronisation). Waiting with `copying.synchronize()` in place of the event gives the right numbers
too, but then the host stands still while the copy runs.
""",
    mutants=(
        mutant(
            "both waits at the end",
            kinds.WRONG,
            ("    computing.wait_event(arrived)\n", ""),
            (
                "    computing.synchronize()\n",
                "    copying.synchronize()\n    computing.synchronize()\n",
            ),
        ),
        mutant(
            "one stream",
            kinds.MEANS_MISSING,
            ("gpu.Stream(), gpu.Stream()", "(gpu.Stream(),) * 2"),
        ),
        mutant(
            "squared on the host alone",
            kinds.MEANS_MISSING,
            ("    return result", "    return [v * v for v in numbers]"),
            ("    x.set(numbers, stream=copying)\n", ""),
            ("    gpu.square(x, stream=computing)\n", ""),
            ("    x.get(out=result, stream=computing)\n", ""),
            ("    computing.wait_event(arrived)\n", ""),
        ),
        mutant(
            "squared on the host, too",
            kinds.MEANS_MISSING,
            ("    computing.wait_event(arrived)\n", ""),
            ("    return result", "    result[:] = [v * v for v in numbers]\n    return result"),
        ),
        mutant(
            "waits for a few numbers alone",
            kinds.WRONG,
            ("    computing.sync", "    if len(numbers) < 65:\n        computing.sync"),
        ),
        mutant(
            "the host's squares over the device's",
            kinds.MEANS_MISSING,
            ("    return result", "    result[:] = [v * v for v in numbers]\n    return result"),
        ),
        mutant("no event", kinds.WRONG, ("    computing.wait_event(arrived)\n", "")),
        mutant("no wait at the end", kinds.WRONG, ("    computing.synchronize()\n", "")),
        mutant("waits for the wrong stream", kinds.WRONG, ("computing.sync", "copying.sync")),
        mutant(
            "the wrong stream waits", kinds.WRONG, ("computing.wait_event", "copying.wait_event")
        ),
        mutant(
            "recorded too early",
            kinds.WRONG,
            (
                "    x.set(numbers, stream=copying)\n    arrived.record(copying)\n",
                "    arrived.record(copying)\n    x.set(numbers, stream=copying)\n",
            ),
        ),
        mutant(
            "waited too early",
            kinds.WRONG,
            ("    computing.synchronize()\n", ""),
            ("    gpu.square(x", "    computing.synchronize()\n    gpu.square(x"),
        ),
    ),
)


def elements_and_threads(rng: np.random.Generator) -> tuple[int, int]:
    """Often as many elements as fill some blocks, or one more or fewer. So few blocks that they may
    be counted one by one."""
    threads = int(rng.integers(1, 1025))
    blocks = int(rng.integers(0, 10 ** rng.integers(1, 7)))
    over = int(rng.choice([-1, 0, 1, rng.integers(threads)]))
    return max(blocks * threads + over, 0), threads


BLOCKS_FOR = PythonExercise(
    id="04.blocks_for",
    title="how many blocks?",
    task="""
Write the Python function that every launch needs: how many blocks of `threads` threads give each of
`n` elements, 0 or more, a thread of its own? Try n = 256, 257 and 512 with 256 threads on paper
first.
""",
    source="04_first_kernels/exercises/blocks_for.py",
    function="blocks_for",
    cases=(
        (1000, 256),
        (256, 256),
        (257, 256),
        (1, 32),
        (0, 256),
        (2**31 + 1, 1024),
        (2**53 + 1, 2**52),
        (10**40 + 1, 10**37),
    ),
    reference=lambda n, threads: -(-n // threads),
    promises=Cases(elements_and_threads),
    means="Any formula that is right is a good one.",
    hints=(
        "`n // threads` counts the full blocks. What is left over needs one more.",
        "There is something left over unless `n` is a multiple of `threads`.",
        "`return (n + threads - 1) // threads` adds just enough to reach the next whole block.",
    ),
    explanation="""
Adding `threads - 1` before the division rounds up. It stays in whole numbers: `math.ceil(n /
threads)` goes through a float, which cannot tell apart all integers above 2^53.
""",
    mutants=(
        mutant("rounds down", kinds.WRONG, ("(n + threads - 1) // threads", "n // threads")),
        mutant("one too many", kinds.WRONG, ("(n + threads - 1) // threads", "n // threads + 1")),
        mutant("a block for nobody", kinds.WRONG, ("return (", "return int(n == 0) + (")),
        mutant("a float", kinds.WRONG_TYPE, ("// threads", "/ threads")),
        mutant(
            "by way of a float",
            kinds.WRONG,
            ("(n + threads - 1) // threads", "-int(-n / threads // 1)"),
        ),
        mutant(
            "one too many from a million on",
            kinds.WRONG,
            ("n + threads - 1", "n + threads - (n < 1_000_000)"),
        ),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
        mutant("typo", kinds.EXCEPTION, ("(n + threads", "(n + thread")),
        mutant("no colon", kinds.SYNTAX_ERROR, ("(n, threads):", "(n, threads)")),
    ),
)


def elements_and_chunks(rng: np.random.Generator) -> tuple[int, int]:
    """Few elements and many, more chunks than elements, and chunks that are all full."""
    chunks = int(10 ** rng.uniform(0, 3.5))
    if rng.random() < 0.25:
        return chunks * int(rng.integers(1, 100)), chunks
    return int(rng.integers(1, 10 ** rng.integers(1, 10))), chunks


PIECES = PythonExercise(
    id="04.pieces",
    title="cut a copy into chunks",
    task="""
Write the function that cuts `n` elements into at most `chunks` pieces. It returns a list of pairs
`(first, count)`: where a piece begins, and how many elements it has. All pieces but the last have
`per_chunk` elements; of no elements there are no pieces. Try n = 10 with 4 chunks on paper first,
and then n = 9.
""",
    source="04_first_kernels/exercises/pieces.py",
    function="pieces",
    cases=(
        (1000, 4),
        (10, 4),
        (9, 4),
        (7, 1),
        (1, 8),
        (12345, 8),
        (57, 8),
        (0, 4),
    ),  # 57: one is left over
    reference=lambda n, chunks: [
        (first, min(-(-n // chunks), n - first)) for first in range(0, n, -(-n // chunks) or 1)
    ],
    promises=Cases(elements_and_chunks),
    means="Any way to the right list of pieces is a good one.",
    hints=(
        "For n = 10 and 4 chunks, per_chunk is 3: the pieces begin at 0, 3, 6 and 9.",
        "`range(0, n, per_chunk)` gives just those beginnings, and none that lies past the end. It "
        "takes no step of 0.",
        "The last piece has only what is left: `n - first`, where that is less than `per_chunk`.",
        "`[(first, min(per_chunk, n - first)) for first in range(0, n, max(per_chunk, 1))]`",
    ),
    explanation="""
It is the grid of a kernel once more: round up, and mind the end. With n = 9 and 4 chunks the pieces
are 3 long and there are only three of them: a fourth would be empty, and a kernel cannot be
launched with a grid of no blocks.
""",
    mutants=(
        mutant("the last one too long", kinds.WRONG, ("min(per_chunk, n - first)", "per_chunk")),
        mutant("rounds down", kinds.WRONG, ("(n + chunks - 1) // chunks", "n // chunks")),
        mutant("end for count", kinds.WRONG, ("n - first)", "n - first) + first")),
        mutant("one step for all", kinds.WRONG, ("range(0, n, max(per_chunk, 1))", "range(0, n)")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
        mutant("eight pieces and no more", kinds.WRONG, ("1))]", "1))][:8]")),
        mutant(
            "a short rest left out",
            kinds.WRONG,
            ("per_chunk, 1))]", "per_chunk, 1)) if n - first > per_chunk // 4]"),
        ),
        mutant("no pieces, no step", kinds.EXCEPTION, ("max(per_chunk, 1)", "per_chunk")),
        mutant("an empty piece", kinds.WRONG, ("1))]", "1))] or [(0, 0)]")),
        mutant("counts as floats", kinds.WRONG_TYPE, ("(first, min", "(first, 1.0 * min")),
        mutant("floats", kinds.EXCEPTION, ("chunks - 1) // chunks", "chunks - 1) / chunks")),
    ),
)


def stages_and_chunks(rng: np.random.Generator) -> tuple[float, float, float, int]:
    """Stages of 0 to 20 ms, any of them the slowest, and up to a thousand chunks."""
    times = [float(rng.integers(0, 20_000)) / 1000 for _ in range(3)]
    times[rng.integers(3)] += 20.0 * (rng.random() < 0.5)
    return times[0], times[1], times[2], int(10 ** rng.uniform(0, 3))


OVERLAP_MS = PythonExercise(
    id="04.overlap_ms",
    title="predict the overlap",
    task="""
Copy in, kernel, copy out: each takes a known time for the whole data. Cut into equal chunks, the
three stages work side by side, each on a chunk of its own. How long does the whole take? Leave out
what a launch or the start of a copy costs. Draw 3 chunks first, with stages of 1, 2 and 1 ms each.
""",
    source="04_first_kernels/exercises/overlap_ms.py",
    function="overlap_ms",
    cases=(
        (3.0, 6.0, 3.0, 3),
        (4.0, 4.0, 4.0, 1),
        (4.0, 4.0, 4.0, 8),
        (10.0, 1.0, 5.0, 10),
        (1.0, 2.0, 9.0, 4),
        (5.0, 8.0, 3.0, 2),
        (0.0, 4.0, 2.0, 4),
        (8.0, 12.0, 5.0, 70_001),
    ),
    reference=lambda copy_in, kernel, copy_out, chunks: (
        (copy_in + kernel + copy_out + (chunks - 1) * max(copy_in, kernel, copy_out)) / chunks
    ),
    promises=Cases(stages_and_chunks),
    means="A formula or a simulation of the pipeline: both are good.",
    hints=(
        "One chunk takes a `chunks`-th of each of the three times.",
        "When the first chunk is back, the second is not far behind: what does it wait for?",
        "The slowest stage never pauses once it has begun: it is the bottleneck.",
        "First chunk: `(copy_in + kernel + copy_out) / chunks`; each further one: "
        "`max(copy_in, kernel, copy_out) / chunks`.",
    ),
    explanation="""
With many chunks the first term fades, and the time tends to that of the slowest stage alone. No
number of chunks or streams makes it shorter than that; only less work in the slowest stage does.
""",
    mutants=(
        mutant(
            "no overlap",
            kinds.WRONG,
            ("max(copy_in, kernel, copy_out)", "(copy_in + kernel + copy_out)"),
        ),
        mutant(
            "the slowest alone", kinds.WRONG, ("return first_chunk + ", "return each_further + ")
        ),
        mutant("one chunk too many", kinds.WRONG, ("(chunks - 1) *", "chunks *")),
        mutant(
            "rounded to 0.01 ms",
            kinds.WRONG,
            (
                "first_chunk + (chunks - 1) * each_further",
                "round(first_chunk + (chunks - 1) * each_further, 2)",
            ),
        ),
        mutant(
            "the kernel sets the pace", kinds.WRONG, ("max(copy_in, kernel, copy_out)", "kernel")
        ),
        mutant("a thousand chunks at most", kinds.WRONG, ("(chunks - 1)", "min(chunks - 1, 1000)")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)
