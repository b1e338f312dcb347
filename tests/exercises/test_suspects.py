"""The benchmarks on trial of 06/12: what a wrong one is told, and other right ones."""

import re

import pytest

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.runner import run_source
from course_utils.notebooks.canonical import read
from course_utils.paths import CHAPTERS

NOTEBOOK = CHAPTERS / "06_matmul_and_fft/12_honest_benchmarks.ipynb"
SAID = {  # of a mutant: words of the verdict
    ("suspect_scan", "no wait at the end"): "read the clock last, the GPU still had",
    ("suspect_scan", "no wait at the beginning"): "read the clock first, the GPU still had",
    ("suspect_scan", "compiled while timed"): "the kernel was compiled",
    ("suspect_scan", "a cold cache"): "fetched their input from memory",
    ("suspect_scan", "not named"): "Put into LIES",
    ("suspect_scan", "half of it named"): "of the 2 words that belong there it has 1, and 0 that",
    ("suspect_scan", "named too much"): "it has 2, and 1 that do not",
    ("suspect_scan", "a word of one's own"): "'no sync', which is no word of the checklist",
    ("suspect_sum", "still dirty"): "L2 full of lines that had yet to be written",
    ("suspect_sum", "never flushed"): "found their input in L2 already",
    ("suspect_sum", "one run"): "1 runs are few",
    ("suspect_sum", "the flush timed"): "Is anything else between your events",
    ("suspect_sum", "no wait"): "cudaErrorNotReady",
    ("suspect_sort", "no poison"): "in an array that held nothing right before",
    ("suspect_sort", "one input for all runs"): "numbers that the kernel has not met yet",
    ("suspect_product", "a burst"): "that is a burst",
    ("suspect_product", "the better of two, for ours"): "treat both alike",
    ("suspect_product", "alternating run by run"): "never ran longer than 0.01",
    ("suspect_product", "no wait"): "read the clock last, the GPU still had",
    ("suspect_rivals", "the wrappers alone"): "and so is a faster call: cuBLASLt",
    ("suspect_rivals", "a loose tolerance"): "rounds its factors to 11 bits",
    ("suspect_rivals", "NaN slips through"): "leaves out the last row",
}
OTHER_RIGHT_ONES = {
    "events around each run": (
        "suspect_scan",
        """
LIES = ["cold start", "no wait"]
def scan_ms(gpu, scan):
    found = []
    for _ in range(9):
        gpu.synchronize()
        start = gpu.event()
        scan()
        end = gpu.event()
        gpu.synchronize()
        found.append(gpu.elapsed_ms(start, end))
    return sorted(found)[4]
""",
    ),
    "only read, and the least of many": (
        "suspect_sum",
        """
LIES = ("one run", "dirty cache")
def sum_ms(gpu, add_up):
    marks = []
    for _ in range(40):
        gpu.read_256_mb()
        marks.append((gpu.event(), add_up(), gpu.event()))
    gpu.synchronize()
    times = sorted(gpu.elapsed_ms(start, end) for start, _, end in marks)
    return times[10]
""",
    ),
    "all launched, then all checked": (
        "suspect_sort",
        """
import numpy as np
LIES = {"easy input", "unchecked"}
def sort_ms(gpu, sort, draw):
    pairs = [(x, np.full(len(x), np.nan, x.dtype)) for x in (draw() for _ in range(20))]
    gpu.synchronize()
    start = gpu.event()
    for x, y in pairs:
        sort(x, y)
    end = gpu.event()
    gpu.synchronize()
    if any((y != np.sort(x)).any() for x, y in pairs):
        return float("nan")
    return gpu.elapsed_ms(start, end) / len(pairs)
""",
    ),
    "warm up for a second, then take turns": (
        "suspect_product",
        """
LIES = {"picked run", "burst"}
def turn(gpu, run, seconds):
    start, count = gpu.time(), 0
    while gpu.time() < start + seconds:
        run()
        gpu.synchronize()
        count += 1
    return (gpu.time() - start) / count
def times_as_fast(gpu, ours, theirs):
    ms = [0, 0]
    for _ in range(3):
        for side, run in enumerate((ours, theirs)):
            turn(gpu, run, 1)
            ms[side] += turn(gpu, run, 1.4)
    return ms[1] / ms[0]
""",
    ),
    "sorted by time, the first that is right": (
        "suspect_rivals",
        """
import numpy as np
LIES = {"weak rival", "other precision"}
def to_beat(gpu, libraries, a, b):
    exact = a.astype(float) @ b
    def ms(call):
        out, times = np.zeros_like(a @ b), []
        for _ in range(11):
            gpu.synchronize()
            start = gpu.event()
            call(a, b, out)
            end = gpu.event()
            gpu.synchronize()
            times.append(gpu.elapsed_ms(start, end))
        return sorted(times)[5]
    for time, name in sorted((ms(call), name) for name, call in libraries.items()):
        out = np.full_like(a @ b, 7e7)
        libraries[name](a, b, out)
        if abs(out - exact).max() <= 1e-5 * abs(exact).max():
            return [name, time]
""",
    ),
}


@pytest.mark.parametrize(("name", "wrong"), SAID, ids=map(" ".join, SAID))
def test_a_wrong_benchmark_is_told_what_it_did(name, wrong):
    exercise = find(f"06.{name}")
    change = next(mutant for mutant in exercise.mutants if mutant.name == wrong)
    outcome = run_source(exercise, change.apply(exercise.solution))
    assert SAID[name, wrong] in str(outcome)


@pytest.mark.parametrize("name", OTHER_RIGHT_ONES)
def test_another_right_benchmark_passes(name):
    exercise, cell = OTHER_RIGHT_ONES[name]
    assert run_source(find(f"06.{exercise}"), cell).kind == kinds.PASS


def test_as_long_as_the_lies_are_not_named_a_wrong_result_is_not_explained():
    exercise = find("06.suspect_scan")
    outcome = run_source(exercise, exercise.starter.replace("range(100)", "range(99)"))
    assert outcome.kind == kinds.WRONG and "Put into LIES" in str(outcome)


def test_the_verdict_says_within_what_a_number_has_to_be_right():
    exercise = find("06.suspect_scan")
    outcome = run_source(exercise, exercise.solution.replace("1000 *", "1040 *"))
    assert "expected 2.5, within 2 %" in str(outcome)
    assert run_source(exercise, exercise.solution.replace("1000 *", "1010 *")).kind == kinds.PASS


def test_the_notebook_s_checklist_has_the_words_that_the_checker_takes():
    from course_utils.exercises.authoring import registry

    text = next(
        cell.source for cell in read(NOTEBOOK.read_text("utf-8")).cells if "| word |" in cell.source
    )
    words = re.findall(r"^\|[^|]*\| ([a-z ]+) \|", text, re.M)
    spec = next(e for e in registry.all_exercises() if e.id == "06.suspect_scan")
    (case,) = spec.cases[0]
    checklist = type(case).__init__.__globals__["CHECKLIST"]
    assert tuple(word for word in words if word != "word") == checklist
