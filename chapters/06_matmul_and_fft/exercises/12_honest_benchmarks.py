"""The exercises of "Honest benchmarks"."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

import numpy as np

from course_utils.benchmarks.harness.simulated_gpu import DIRTY, WARM, SimulatedGPU
from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.spec import PythonExercise

from .suspects import Suspect, near, tried, truth

FLOPS, BANDWIDTH, L2 = 66.9e12, 4.8e12, 60 * 2**20  # of an H200


def limits(rng: np.random.Generator) -> tuple[Any, ...]:
    """Work that is near one of the limits, on one side or the other."""
    cache = int(rng.choice([4e6, 40e6, L2]))
    moved = int(rng.choice([cache, cache + 1, cache / 10, 8 * cache, 200 * cache]))
    flops = int(rng.choice([1, moved // 4, 100 * moved, 10**13]))
    least = max(flops / FLOPS, moved / BANDWIDTH)
    ms = 1e3 * least * float(rng.choice([0.02, 0.5, 0.95, 1.05, 3.0]))
    return flops, moved, ms, FLOPS, BANDWIDTH, cache


def broken_limit(
    flops: float, moved: float, ms: float, peak_flops: float, bandwidth: float, cache: float
) -> str:
    if flops > peak_flops * ms / 1e3:
        return "arithmetic"
    if moved <= bandwidth * ms / 1e3:
        return ""
    return "cache" if moved <= cache else "memory"


TOO_FAST = PythonExercise(
    cases=(
        (2e9, 1e9, 0.1, FLOPS, BANDWIDTH, L2),
        (2e9, 1e9, 0.3, FLOPS, BANDWIDTH, L2),
        (2e9, 40e6, 0.005, FLOPS, BANDWIDTH, L2),
        (2e9, 1e6, 0.1, FLOPS, BANDWIDTH, L2),
        (1.4e11, 1e6, 2.0, FLOPS, BANDWIDTH, L2),
        (1.4e11, 1e10, 2.0, FLOPS, BANDWIDTH, L2),
        (0, L2, 0.01, FLOPS, BANDWIDTH, L2),
        (0, L2 + 1, 0.01, FLOPS, BANDWIDTH, L2),
        (1000, 8000, 1000.0, 1000.0, 8000.0, 10),
    ),
    reference=broken_limit,
    contract=DrawnCases(limits),
)


# --- the clock ---

OTHERS_WORK = "others'"


def scan_of(ms: float, compile_ms: float = 180.0, before_ms: float = 0.0, seed: int = 0) -> Suspect:
    """A kernel of ``ms``, its input in L2, on a GPU that has ``before_ms`` of work of others."""

    def given(gpu: SimulatedGPU) -> Any:
        if before_ms:
            gpu.kernel(before_ms, OTHERS_WORK)()
        from_memory = 1.25
        return (gpu.kernel(ms * from_memory, compile_ms=compile_ms, from_cache=1 / from_memory),)

    text = f"a kernel of {ms:g} ms"
    return Suspect(text, ms, given, frozenset({"no wait", "cold start"}), seed=seed)


def any_scan(rng: np.random.Generator) -> tuple[Any, ...]:
    ms = float(np.round(rng.choice([0.4, 1, 3, 9]) * rng.uniform(1, 2), 3))
    compiling, before = rng.choice([[40, 0], [300, 0], [0, 80], [90, 700]])
    return (scan_of(ms, float(compiling), float(before)),)


def about_scan(case: Suspect) -> str:
    """The sentence on how a scan was timed."""
    readings = [reading for reading in case.gpu.readings if not reading.is_event]
    events = [reading for reading in case.gpu.readings if reading.is_event]
    if not readings and not events:
        return "Nothing was timed: gpu.time() is the host's clock."
    marks = readings or events
    first, last = marks[0], marks[-1]
    if readings and last.busy_until_ms > last.host_ms:
        left = last.busy_until_ms - last.host_ms
        return f"When you read the clock last, the GPU still had {left:.3g} ms of work to do."
    if readings and first.busy_until_ms > first.host_ms:
        left = first.busy_until_ms - first.host_ms
        return (
            f"When you read the clock first, the GPU still had {left:.3g} ms of work to do that is "
            "not what you measure."
        )
    found = [run.cache for run in case.gpu.runs if run.kernel != OTHERS_WORK][1:]
    if found.count(WARM) < len(found) / 2:
        return (
            f"{len(found) - found.count(WARM)} of your {len(found)} later runs fetched their input "
            "from memory. In the program it is in L2."
        )
    if first.compiled < last.compiled:
        return "Between your first and your last mark the kernel was compiled, which is done once."
    return "By how many runs do you divide, and are they all between your two marks?"


SUSPECT_SCAN = PythonExercise(
    function="scan_ms",
    cases=(
        (scan_of(2.5),),
        (scan_of(0.4, compile_ms=40.0),),
        (scan_of(0.8, compile_ms=0.0, before_ms=400.0),),
        (scan_of(20.0, before_ms=100.0),),
    ),
    reference=truth,
    rtol=0.02,
    contract=DrawnCases(any_scan),
    call=tried,
    method=Suspect.advice(about_scan),
)


# --- the data ---


def sum_of(
    ms: float, from_cache: float = 0.4, beside_writes: float = 1.09, seed: int = 0
) -> Suspect:
    """A kernel of ``ms`` that takes other times where L2 has its input, or dirty lines."""

    def given(gpu: SimulatedGPU) -> Any:
        kernel = gpu.kernel(ms, compile_ms=50.0, from_cache=from_cache, beside_writes=beside_writes)
        return (kernel,)

    lies = frozenset({"dirty cache", "one run"})
    return Suspect(f"a kernel of {ms:g} ms", ms, given, lies, seed=seed, spikes=0.15)


def any_sum(rng: np.random.Generator) -> tuple[Any, ...]:
    ms = float(np.round(rng.uniform(0.03, 1), 4))
    return (sum_of(ms, rng.uniform(0.2, 0.8), rng.uniform(1.05, 1.15), int(rng.integers(1000))),)


def about_sum(case: Suspect) -> str:
    """The state of L2 that the runs of a sum found, and how many they were."""
    runs = case.gpu.runs[1:]
    found = [run.cache for run in runs]
    if found.count(WARM) > len(found) / 3:
        return f"{found.count(WARM)} of your {len(found)} runs found their input in L2 already."
    if found.count(DIRTY) > len(found) / 3:
        return (
            f"{found.count(DIRTY)} of your {len(found)} runs found L2 full of lines that had yet "
            "to be written to memory, which happened during the run."
        )
    if len(found) < 7:
        return f"{len(found)} runs are few: one in seven takes up to 1.4 times as long as others."
    if any(not reading.is_event for reading in case.gpu.readings):
        return "gpu.time() is the host's clock: what you timed has the launch and the wait in it."
    return (
        "All runs found clean lines of others in L2, as they should. Is anything else between your "
        "events, and what do you make of the times? Some runs take much longer than others."
    )


SUSPECT_SUM = PythonExercise(
    function="sum_ms",
    cases=((sum_of(0.05),), (sum_of(0.05, 0.3, 1.12, seed=1),), (sum_of(0.7, seed=2),)),
    reference=truth,
    rtol=0.02,
    contract=DrawnCases(any_sum),
    call=tried,
    method=Suspect.advice(about_sum),
)


# --- the work ---


FAILS_AT = {
    "fails in every fourth call": 4,
    "fails in every seventh call": 7,
    "fails in every fifteenth call": 15,
}


class Sorter:
    """A call of a kernel that sorts. ``trick``: how it cheats, empty where it is
    honest."""

    def __init__(self, trick: str) -> None:
        self.trick, self.calls = trick, 0
        self.last: np.ndarray | None = None

    def __call__(self, x: np.ndarray, y: np.ndarray) -> float:
        """Sort, or pretend; returns the part of its time that it takes."""
        self.calls += 1
        again = self.last is not None and np.array_equal(x, self.last)
        self.last = x.copy()
        if self.trick == "starts only once" and self.calls > 1:
            return 0.02
        if self.trick == "sorts half":
            half = len(x) // 2
            y[:half] = np.sort(x)[:half]
            return 0.5
        if self.trick == "writes rising numbers of its own":
            y[...] = np.arange(len(y)) - len(y) // 2 if x.min() < x.max() else x
            return 0.1
        if self.trick == "writes the least number, and the largest at the end":
            y[...], y[-1] = x.min(), x.max()
            return 0.1
        y[...] = np.sort(x)
        if self.calls % FAILS_AT.get(self.trick, self.calls + 1) == 0:
            y[-2:] = y[-2:][::-1]
        if self.trick == "sorts only rows that begin with 0" and x[0] != 0:
            y[...] = x
        if self.trick == "sorts in half precision":
            y[...] = y.astype(np.float16)
            return 0.6
        if self.trick == "remembers what it sorted last" and again:
            return 0.02
        if self.trick == UNSTEADY and x.min() < x.max():
            return TIMES[self.calls % len(TIMES)]
        return 0.8 if x.min() == x.max() else 1.0


CHEATS = (
    "starts only once",
    "sorts half",
    *FAILS_AT,
    "sorts only rows that begin with 0",
    "writes rising numbers of its own",
    "sorts in half precision",
    "writes the least number, and the largest at the end",
)
UNSTEADY = "takes another time now and then"  # right: its time is the one it takes most often
TIMES = 0.7, 1.0, 1.3, 1.0, 1.0  # in turn, over the usual one, which is the mean as well
SLOW_WHEN_FRESH = "remembers what it sorted last"  # right: its time is that of fresh numbers


def sort_of(ms: float, trick: str = "", seed: int = 0) -> Suspect:
    """A kernel that sorts in ``ms``, or cheats."""

    def given(gpu: SimulatedGPU) -> Any:
        rng = np.random.default_rng(seed)
        kernel = gpu.kernel(ms, computes=Sorter(trick))
        return kernel, lambda: rng.standard_normal(64, dtype=np.float32)

    text = f"a kernel of {ms:g} ms{f' that {trick}' if trick else ''}"
    true_ms = math.nan if trick in CHEATS else ms
    return Suspect(text, true_ms, given, frozenset({"unchecked", "easy input"}), seed=seed)


def any_sort(rng: np.random.Generator) -> tuple[Any, ...]:
    trick = str(rng.choice(["", SLOW_WHEN_FRESH, UNSTEADY, *CHEATS]))
    return (sort_of(float(np.round(rng.uniform(0.5, 4), 3)), trick, int(rng.integers(1000))),)


def about_sort(case: Suspect) -> str:
    """How a cheat went through, or an honest kernel did not."""
    if math.isnan(case.true_ms):
        return (
            "A result of this kernel was wrong in a run that you timed. Is each checked, after its "
            "run, in an array that held nothing right before?"
        )
    if isinstance(case.value, float) and math.isnan(case.value):
        return "Each result of this kernel is right. With what do you compare it, and when?"
    if UNSTEADY in case.text:
        return "Its runs take 0.7 to 1.3 times its usual time. Which one of 15 is asked for?"
    if isinstance(case.value, float) and case.value < case.true_ms:
        return "Its runs took less than they take with numbers that the kernel has not met yet."
    return "The results are right. What else is between your events?"


SUSPECT_SORT = PythonExercise(
    function="sort_ms",
    cases=(
        (sort_of(1.5),),
        *((sort_of(1.5, trick, seed=number),) for number, trick in enumerate(CHEATS)),
        (sort_of(2.0, SLOW_WHEN_FRESH),),
        (sort_of(1.2, UNSTEADY),),
    ),
    reference=truth,
    rtol=0.02,
    contract=DrawnCases(any_sort),
    call=tried,
    method=Suspect.advice(about_sort),
)


# --- the comparison ---


# By name: the part of the exact product's largest number by which a result is off, and the time
# over that of the fastest which is right.
KNOWN = ("torch.mm", "torch.matmul")
OTHERS = ("cuBLAS", "cuBLASLt", "cuBLASLt, second of its list", "CUTLASS", "cuBLAS, TF32 allowed")


def written_by(flaw: str, rounding: float = 0.0) -> Any:
    """What a library call with a ``flaw`` writes; a right result is off by up to ``rounding`` of
    the largest number."""

    def call(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        exact = a.astype(np.float64) @ b.astype(np.float64)
        if flaw == "writes its result transposed":
            out[...] = exact.T
        elif flaw == "rounds its factors to 11 bits":
            out[...] = exact + 4e-4 * np.abs(exact).max() * np.cos(np.arange(exact.size)).reshape(
                exact.shape
            )
        elif flaw == "leaves out the last row":
            out[:-1] = exact[:-1]
        elif flaw != "returns a view and writes nothing":
            out[...] = exact + rounding * np.abs(exact).max() * np.cos(exact)
            if flaw in OFF_BY:
                out[-1, 0] += OFF_BY[flaw] * np.abs(exact).max()

    return call


OFF_BY = {  # of the largest number
    "gets one number wrong": 1e-3,
    "is off by more than a hundred-thousandth of the largest number": 1.3e-5,
}
FLAWS = (
    "writes its result transposed",
    "rounds its factors to 11 bits",
    "leaves out the last row",
    "returns a view and writes nothing",
    *OFF_BY,
)


ROUNDING = 6e-6  # of the fastest call that is right: less than the 1e-5 that are allowed


def rivals_of(best: str, ms: float, flaws: dict[str, str], seed: int = 0) -> Suspect:
    """Library calls of which ``best`` is the fastest that is right; those with ``flaws`` are
    faster."""

    def given(gpu: SimulatedGPU) -> Any:
        rng = np.random.default_rng(seed)
        a, b = (rng.standard_normal((24, 24), dtype=np.float32) for _ in range(2))
        # Sixteen of the products of a sum are large and cancel: fp32 loses what the others add.
        a[:, :8] *= 3000
        a[:, 8:16], b[8:16] = -a[:, :8], b[:8]
        a[-1] = 0  # a call that leaves out the row is right in an `out` that held zeros
        slower = iter((1.12, 1.25, 1.5, 1.8, 2.2, 2.6, 3.0))
        calls = {}
        for name in (*KNOWN, *OTHERS):
            factor = 1.0 if name == best else 0.6 if name in flaws else next(slower)
            computes = written_by(flaws.get(name, ""), ROUNDING if name == best else 0.0)
            calls[name] = gpu.kernel(ms * factor, name, compile_ms=5.0, computes=computes)
        return calls, a, b

    lies = frozenset({"weak rival", "other precision"})
    text = f"libraries of which {best} is the fastest that is right"
    return Suspect(text, (best, ms), given, lies, seed=seed, notes=flaws)


def any_rivals(rng: np.random.Generator) -> tuple[Any, ...]:
    best, *others = map(str, rng.permutation([*KNOWN, *OTHERS]))
    flaws = dict(zip(others, map(str, rng.permutation(FLAWS)), strict=False))
    some = {name: flaws[name] for name in list(flaws)[: int(rng.integers(7))]}
    return (rivals_of(best, float(np.round(rng.uniform(0.5, 5), 3)), some, int(rng.integers(99))),)


def about_rivals(case: Suspect) -> str:
    """The sentence on the library call that was named."""
    named = case.value[0] if isinstance(case.value, (tuple, list)) and case.value else ""
    if named in case.notes:
        return f"{named} {case.notes[named]}."
    if named != case.true_ms[0]:
        return (
            f"{named} is right, and so is a faster call: {case.true_ms[0]}, whose largest error is "
            f"{ROUNDING:.0e} of the largest number."
        )
    return "That is the call to beat; what do you make of its times?"


SUSPECT_RIVALS = PythonExercise(
    function="to_beat",
    cases=(
        (rivals_of("cuBLASLt", 2.0, {}),),
        (rivals_of("torch.mm", 2.0, {"cuBLAS, TF32 allowed": FLAWS[1]}, seed=1),),
        (rivals_of("cuBLASLt, second of its list", 3.0, {"torch.mm": FLAWS[1]}, seed=2),),
        (rivals_of("CUTLASS", 1.0, {"cuBLAS": FLAWS[0], "cuBLASLt": FLAWS[2]}, seed=3),),
        (rivals_of("cuBLAS", 1.5, {"torch.matmul": FLAWS[3]}, seed=4),),
        (rivals_of("torch.matmul", 1.5, {"CUTLASS": FLAWS[4]}, seed=5),),
        (rivals_of("CUTLASS", 2.5, {"torch.mm": FLAWS[5]}, seed=6),),
    ),
    reference=truth,
    rtol=0.02,
    contract=DrawnCases(any_rivals),
    call=tried,
    method=Suspect.advice(about_rivals),
)


def product_of(
    ours: float, theirs: float, of_ours: float, of_theirs: float, seed: int = 0
) -> Suspect:
    """Two kernels by their times after a rest, and by what these are multiplied with in the end."""

    def given(gpu: SimulatedGPU) -> Any:
        return (
            gpu.kernel(ours, "ours", at_limit=of_ours),
            gpu.kernel(theirs, "theirs", at_limit=of_theirs),
        )

    ratio = theirs * of_theirs / (ours * of_ours)
    text = f"ours of {ours * of_ours:.3g} ms at the limit, theirs of {theirs * of_theirs:.3g} ms"
    lies = frozenset({"burst", "picked run"})
    return Suspect(text, ratio, given, lies, seed=seed, wander=0.03)


def any_product(rng: np.random.Generator) -> tuple[Any, ...]:
    ours = float(rng.uniform(8, 20))
    theirs = ours * float(rng.uniform(0.9, 1.1))
    limits = rng.choice([[1.15, 1.0], [1.0, 1.3], [1.3, 1.0], [1.1, 1.1], [1.0, 1.0]])
    at_limit = float(limits[0]), float(limits[1])
    return (product_of(ours, theirs, *at_limit, seed=int(rng.integers(1000))),)


def about_product(case: Suspect) -> str:
    """For how long both ran, and whether they were treated alike."""
    busy = {
        name: sum(run.end_ms - run.start_ms for run in case.gpu.runs if run.kernel == name)
        for name in ("ours", "theirs")
    }
    ours, theirs = busy.values()
    if min(ours, theirs) < 1000:
        return (
            f"Ours ran for {ours / 1e3:.2g} s in all, theirs for {theirs / 1e3:.2g} s: that is a "
            "burst, before the GPU has come to its limit of power."
        )
    if max(ours, theirs) > 1.6 * min(ours, theirs):
        return (
            f"Ours ran for {ours / 1e3:.2g} s in all, theirs for {theirs / 1e3:.2g} s: treat both "
            "alike, or one has more chances than the other."
        )
    for name in ("ours", "theirs"):
        if (longest := longest_stretch_ms(case, name)) < 500:
            return (
                f"{name.capitalize()} never ran longer than {longest / 1e3:.2g} s at a stretch, "
                "so the clock was that of both together. The program runs one of them."
            )
    return ""


def longest_stretch_ms(case: Suspect, name: str) -> float:
    """The longest time for which the GPU ran one kernel and not the other."""
    stretches = [list(runs) for _, runs in groupby(case.gpu.runs, lambda run: run.kernel)]
    return max(runs[-1].end_ms - runs[0].start_ms for runs in stretches if runs[0].kernel == name)


def about_settled(case: Suspect) -> str:
    last = case.gpu.readings[-1] if case.gpu.readings else None
    if last and not last.is_event and last.busy_until_ms > last.host_ms + 100:
        left = (last.busy_until_ms - last.host_ms) / 1e3
        return f"When you read the clock last, the GPU still had {left:.2g} s of work to do."
    if said := about_product(case):
        return said
    if near(case.value, 1 / case.true_ms):
        return "That ratio has our time on top. Put theirs there, and ours below."
    return (
        "Both ran for long, and alike. Does the time before the GPU settled count as much as the "
        "time after? Take three seconds of each, one after the other, and mean times."
    )


SUSPECT_PRODUCT = PythonExercise(
    function="times_as_fast",
    cases=(
        (product_of(10, 10.4, 1.1, 1, seed=1),),
        (product_of(10, 10, 1, 1),),
        (product_of(12, 10, 1, 1.15, seed=2),),
        (product_of(10, 11, 1.3, 1, seed=3),),
    ),
    reference=truth,
    rtol=0.02,
    contract=DrawnCases(any_product),
    call=tried,
    method=Suspect.advice(about_settled, also=about_product),
)
