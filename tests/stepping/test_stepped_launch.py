"""Launches recorded line by line, against what we expect of each line, written by hand."""

import json
import time
from functools import cache

import numpy as np
import pytest

from course_utils import load, step
from course_utils.devices import emulated_cupy as cp
from course_utils.devices.limits import LaunchError
from course_utils.errors import LessonError
from course_utils.stepping.states import key_frames, state_after
from course_utils.stepping.stepped_launch import (
    MOST_THREADS,
    ORDERS,
    PAGE,
    SteppedFault,
    step_kernel,
)


def kernel(body, parameters="const int *x, int *y", name="k"):
    """A kernel whose body begins in line 2."""
    return cp.RawKernel(
        f'extern "C" __global__ void {name}({parameters}) {{\n{body.strip()}\n}}', name
    )


def ran(steps, skipped=("{", "}")):
    """(line, lanes) of each step in the body, in order."""
    source = steps.source.splitlines()
    return [
        (each.line, len(each.lanes))
        for each in steps.steps
        if 1 < each.line < len(source) and source[each.line - 1].strip() not in skipped
    ]


def reached(steps, line):
    """[(array, kind, lane, element)] of all that is reached in a line."""
    return [
        (steps.arrays[reach.array].name, reach.kind, lane, element)
        for each in steps.steps
        if each.line == line
        for reach in each.reaches
        for lane, element in zip(reach.lanes, reach.elements, strict=True)
    ]


def changed(steps, line, array):
    return [
        (element, value)
        for each in steps.steps
        if each.line == line
        for number, element, value in each.changes
        if steps.arrays[number].name == array
    ]


MAP = kernel("int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < 6) {\ny[i] = 2 * x[i];\n}")


def test_each_thread_has_its_element_and_those_behind_the_end_none():
    y = cp.zeros(6, cp.int32)
    steps = step(MAP, 2, 4, (cp.arange(6, dtype=cp.int32), y))
    assert ran(steps) == [(2, 8), (3, 8), (4, 6)]
    own = [(thread, thread) for thread in range(6)]
    assert reached(steps, 4) == [("x", "read", *each) for each in own] + [
        ("y", "write", *each) for each in own
    ]
    assert changed(steps, 4, "y") == [(i, 2 * i) for i in range(6)]
    assert y.get().tolist() == [0, 2, 4, 6, 8, 10]


def test_the_arms_of_a_diverging_if_follow_one_another():
    body = "if (threadIdx.x < 3) {\ny[threadIdx.x] = 1;\n} else {\ny[threadIdx.x] = 2;\n}"
    steps = step(kernel(body, "int *y"), 1, 8, (cp.zeros(8, cp.int32),))
    assert sorted(ran(steps, ("}", "} else {"))) == [(2, 8), (3, 3), (5, 5)]


TREE = kernel(
    """__shared__ int s[8];
s[threadIdx.x] = x[threadIdx.x];
__syncthreads();
for (int d = 4; d > 0; d /= 2) {
if (threadIdx.x < d) {
s[threadIdx.x] += s[threadIdx.x + d];
}
__syncthreads();
}
if (threadIdx.x == 0) {
y[0] = s[0];
}"""
)


def test_a_tree_halves_its_threads_and_meets_at_barriers():
    steps = step(TREE, 1, 8, (cp.arange(8, dtype=cp.int32), cp.zeros(1, cp.int32)))
    round_of = [(5, 8), (6, 8), (7, None), (9, 8)]
    expected = [(3, 8), (4, 8)]
    for lanes in (4, 2, 1):
        expected += [(line, lanes if n is None else n) for line, n in round_of]
    assert ran(steps) == [*expected, (5, 8), (11, 8), (12, 1)]
    assert changed(steps, 7, "s") == [(0, 4), (1, 6), (2, 8), (3, 10), (0, 12), (1, 16), (0, 28)]
    waits = [each for each in steps.steps if each.waits]
    assert [each.line for each in waits] == [4, 9, 9, 9]
    assert all(each.waits == [("barrier", tuple(range(8)))] for each in waits)
    assert all(each.goes == [tuple(range(8))] for each in waits)
    (shared,) = (array for array in steps.arrays if array.name == "s")
    assert shared.first == [None] * 8 and shared.block == 0


def test_three_steps_tell_the_story():
    steps = step(TREE, 1, 8, (cp.arange(8, dtype=cp.int32), cp.zeros(1, cp.int32)))
    assert [steps.steps[n].line for n in key_frames(steps)] == [3, 4, 12]
    met = state_after(steps, key_frames(steps)[1])
    assert met.threads == ["waits"] * 8 and met.values[1] == list(range(8))
    last = state_after(steps, key_frames(steps)[2])
    assert last.threads[:2] == ["runs", "off"] and last.touched[2] == {0: True}
    assert len(steps.frames().axes) == 2 * 3 and len(steps.frames([0]).axes) == 2
    with pytest.raises(ValueError, match="step 99"):
        steps.frames([99])


REVERSED = kernel(
    "__shared__ int s[64];\ns[threadIdx.x] = x[threadIdx.x];\ny[threadIdx.x] = s[63 - threadIdx.x];"
)


def test_a_race_is_shown_at_both_of_its_moments():
    steps = step(REVERSED, 1, 64, (cp.arange(64, dtype=cp.int32), cp.zeros(64, cp.int32)))
    (fault,) = steps.faults
    assert [steps.steps[n].line for _, n in fault.moments] == [3, 4]
    assert steps.data()["begin"] == fault.moments[-1][1]
    assert key_frames(steps)[:2] == [n for _, n in fault.moments]


@pytest.mark.parametrize("text", ["Data race on x[3]:\n  here", "Deadlock: all wait.\nmore", "a,"])
def test_the_headline_of_a_fault_is_a_sentence(text):
    headline = SteppedFault(text, ()).headline
    assert headline.endswith(".") and headline[-2] not in ".:,"


SHIFT = kernel("if (threadIdx.x < 63) {\nx[threadIdx.x] = x[threadIdx.x + 1];\n}", "int *x")


def test_the_picture_of_a_race_shows_the_elements_around_it():
    steps = step(SHIFT, 1, 64, (cp.arange(64, dtype=cp.int32),), order="warps")
    first, second = steps.faults  # lanes of a warp, which is a warning, and the two warps
    assert first.finding.level == "warning" and steps.main_fault is second
    assert second.finding.index == 32
    assert key_frames(steps)[:2] == [n for _, n in second.moments]
    drawn = {text.get_text() for axes in steps.frames().axes for text in axes.texts}
    assert "x[24] to [39], global" in drawn


def test_help_says_what_each_order_is_for():
    for order in ORDERS:
        assert f'"{order}"' in step.__doc__ and f'"{order}"' in step_kernel.__doc__


def test_in_an_adversarial_order_the_race_goes_wrong():
    y = cp.zeros(64, cp.int32)
    steps = step(REVERSED, 1, 64, (cp.arange(64, dtype=cp.int32), y), order="adversarial", seed=1)
    assert (y.get() != np.arange(64)[::-1]).any()
    assert {len(each.lanes) for each in steps.steps} == {32}


def test_a_fault_ends_the_recording_and_is_shown():
    steps = step(
        kernel("int i = threadIdx.x;\ny[i + 1] = i;", "int *y"), 1, 4, (cp.zeros(4, cp.int32),)
    )
    assert [f.kind for f in steps.findings] == ["out of bounds"]
    assert (
        [steps.steps[n].line for _, n in steps.faults[0].moments] == [3] == [steps.steps[-1].line]
    )


def test_warps_wait_at_barriers_of_two_lines():
    arms = "if (threadIdx.x < 32) {\n__syncthreads();\n} else {\n__syncwarp();\n__syncthreads();\n}"
    body = f"{arms}\ny[0] = 1;"
    steps = step(kernel(body, "int *y"), 1, 64, (cp.zeros(1, cp.int32),))
    assert {each.line for each in steps.steps if each.waits} == {3, 6}


def test_an_atomic_updates_and_a_loop_comes_back_to_its_line():
    body = "for (int n = 0; n < 3; ++n) {\natomicAdd(&y[n], 1);\n}"
    steps = step(kernel(body, "int *y"), 1, 4, (cp.zeros(3, cp.int32),))
    assert ran(steps) == [(2, 4), (3, 4)] * 3 + [(2, 4)]
    assert reached(steps, 3) == [("y", "update", t, n) for n in range(3) for t in range(4)]
    assert changed(steps, 3, "y") == [(0, 4), (1, 4), (2, 4)]


def test_a_copy_is_in_flight_until_it_is_waited_for():
    body = """__shared__ alignas(16) int s[16];
unsigned to = (unsigned)__cvta_generic_to_shared(s + 4 * threadIdx.x);
asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(to), "l"(x + 4 * threadIdx.x));
asm volatile("cp.async.wait_all;");
y[threadIdx.x] = s[4 * threadIdx.x];"""
    steps = step(kernel(body), 1, 4, (cp.arange(16, dtype=cp.int32), cp.zeros(4, cp.int32)))
    number = next(n for n, array in enumerate(steps.arrays) if array.name == "s")
    starts = [(each.line, each.starts) for each in steps.steps if each.starts]
    lands = [(each.line, each.lands) for each in steps.steps if each.lands]
    assert [line for line, _ in starts] == [4] and [line for line, _ in lands] == [5]
    for _, parts in (*starts, *lands):
        assert sorted(e for at, elements in parts for e in elements) == list(range(16))
        assert {at for at, _ in parts} == {number}
    assert changed(steps, 5, "s") == [(i, i) for i in range(16)]


# --- mbarriers and helpers of headers ---

SQUARES = """#include "ptx.cuh"
#include "tma.cuh"
extern "C" __global__ void squares(const int *x, int *y) {
__shared__ alignas(16) int s[8];
__shared__ unsigned long long full;
const unsigned bar = shared_address(&full), to = shared_address(s);
if (threadIdx.x == 0) {
mbarrier_init(bar, 1);
mbarriers_are_ready();
mbarrier_expect(bar, 32);
asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
"[%0], [%1], 32, [%2];" :: "r"(to), "l"(x), "r"(bar) : "memory");
}
__syncwarp();
mbarrier_wait(bar, 0);
y[threadIdx.x] = s[threadIdx.x] * s[threadIdx.x];
}"""


@cache
def squares():
    made = load(source=SQUARES, filename="squares.cu")
    return step(made, 1, 8, (cp.arange(8, dtype=cp.int32), cp.zeros(8, cp.int32)))


def line_of(steps, text):
    return next(n for n, row in enumerate(steps.source.splitlines(), 1) if text in row)


def test_a_helper_of_a_header_is_part_of_the_line_that_calls_it():
    steps = squares()
    assert {each.file for each in steps.steps} == {"squares.cu"}
    for text in ("mbarrier_init(", "mbarriers_are_ready()", "mbarrier_expect("):
        lines = [each.line for each in steps.steps]
        assert lines.count(line_of(steps, text)) == 1


def test_an_mbarrier_goes_through_its_phase():
    steps = squares()
    (barrier,) = steps.barriers
    assert (barrier.name, barrier.block, barrier.arrivals) == ("full", 0, 1)
    phases = [(each.line, phase) for each in steps.steps for phase in each.phases]
    made, expected = line_of(steps, "mbarrier_init("), line_of(steps, "mbarrier_expect(")
    assert phases[:2] == [(made, (0, 0, 1, 0)), (expected, (0, 0, 0, 32))]
    assert [phase for _, phase in phases[2:]] == [(0, 1, 1, 0)]
    assert state_after(steps, len(steps.steps) - 1).barriers == [(1, 1, 0)]


def test_a_copy_that_lands_while_all_wait_is_a_step_of_its_own():
    steps = squares()
    (landing,) = (n for n, each in enumerate(steps.steps) if not each.lanes)
    copy, waited = steps.steps[landing], steps.steps[landing - 1]
    assert waited.line == line_of(steps, "mbarrier_wait(")
    assert waited.waits == [("mbarrier full", tuple(range(8)))]
    assert copy.goes == [tuple(range(8))] and len(copy.lands) == 1
    assert state_after(steps, landing - 1).in_flight[copy.lands[0][0]] == set(range(8))
    assert not state_after(steps, landing).in_flight[copy.lands[0][0]]
    assert "full: phase 1, 1 arrivals and 0 bytes missing" in repr(steps)


# --- limits and mistakes ---


@pytest.mark.parametrize(
    ("grid", "block", "options", "said"),
    [
        (1, 2 * MOST_THREADS, {}, "512 threads"),
        (8, 1, {}, "8 blocks"),
        (1, 4, {"order": "random"}, "lockstep"),
    ],
)
def test_a_launch_that_cannot_be_shown_is_refused(grid, block, options, said):
    with pytest.raises(LaunchError, match=said):
        step(MAP, grid, block, (cp.zeros(6, cp.int32), cp.zeros(6, cp.int32)), **options)


def test_too_many_steps_are_refused():
    endless = kernel("for (int n = 0; n < 2600; ++n) {\ny[n % 4] = n;\n}", "int *y")
    with pytest.raises(LaunchError, match="5,000 steps"):
        step(endless, 1, 1, (cp.zeros(4, cp.int32),))


@pytest.mark.parametrize("wrong", [(MAP,), ("04.no_such_exercise",)])
def test_what_step_does_not_know_is_said(wrong):
    with pytest.raises(LessonError):
        step(*wrong)


def test_an_exercise_is_shown_on_a_small_case():
    steps = step("04.block_min")
    assert "block_min" in steps.source and max(len(each.lanes) for each in steps.steps) == 256


def test_an_exercise_whose_first_case_is_too_large_is_stepped_at_a_smaller_size(
    monkeypatch, tmp_path
):
    """Its first size has three blocks of 256 threads, and a bug hunt has no worked case."""
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path))
    assert step("04.find_the_race").grid == (1, 1, 1)


def test_an_exercise_of_which_nothing_is_written_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path))
    with pytest.raises(LessonError, match="04.reversed_copy has no kernel yet"):
        step("04.reversed_copy")


def test_an_exercise_of_which_every_case_is_too_large_names_the_limits(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path))
    with pytest.raises(
        LaunchError, match="04.rotate_picture: 1 blocks of 1024 threads are too many"
    ):
        step("04.rotate_picture")


# --- the page ---


def test_the_page_is_whole_small_and_asks_nothing_of_the_network():
    steps = step(TREE, 1, 8, (cp.arange(8, dtype=cp.int32), cp.zeros(1, cp.int32)))
    page = steps.page()
    assert len(PAGE.read_bytes()) < 60_000
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert steps._repr_html_().startswith("<iframe title=")
    text = repr(steps)
    assert "28 steps" not in text and "line   7    4 threads" in text
    assert len(json.loads(json.dumps(steps.data()))["steps"]) == len(steps.steps)


def test_two_thousand_steps_of_a_full_launch_are_quick_and_small():
    body = "for (int n = 0; n < 1000; ++n) {\nif (threadIdx.x == n % 256) { y[n % 256] = n; }\n}"
    start = time.process_time()
    steps = step(kernel(body, "int *y"), 1, 256, (cp.zeros(256, cp.int32),))
    assert (
        len(steps.steps) > 2000 and time.process_time() - start < 6
    )  # 2 s where nothing else runs
    assert len(json.dumps(steps.data())) < 400_000
