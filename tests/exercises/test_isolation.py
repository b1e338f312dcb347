"""What runs in its own process can neither hang nor take the notebook down.

The separate process runs on the emulator here, at a small size; on a GPU it is the same process.
"""

import sys
import time
from dataclasses import replace

import pytest

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.isolation.isolated import Answer, call
from course_utils.exercises.judging import full_size, runner, verify
from course_utils.exercises.judging.full_size import run_full
from course_utils.exercises.judging.runner import check_source, run_source
from course_utils.process_groups import run_group
from tests.ended_processes import gone
from tests.machine_speed import slowness

SAXPY = find("04.saxpy")


@pytest.fixture(autouse=True)
def on_the_emulator(monkeypatch):
    monkeypatch.setenv("COURSE_DEVICE", "emulator")


def full(source, **options):
    return run_full(SAXPY, source, run_source(SAXPY, SAXPY.solution), size=1000, **options)


def test_a_right_answer_passes_at_full_size():
    assert full(SAXPY.solution).passed


@pytest.mark.parametrize("has_it", [True, False])
def test_a_kernel_for_one_kind_of_gpu_runs_at_full_size_on_that_kind_alone(monkeypatch, has_it):
    launched = []
    monkeypatch.setattr(runner, "lacking", lambda arch: None if has_it else f"an {arch} GPU")
    monkeypatch.setattr(full_size, "run_full", lambda *given: launched.append(given) or given[2])
    outcome = run_source(replace(SAXPY, arch="sm_90a"), SAXPY.solution, gpu=True)
    assert outcome.passed and len(launched) == has_it


def test_a_wrong_result_at_full_size_is_a_verdict():
    outcome = full(SAXPY.solution.replace("i < n", "i < n && i != 900"))
    assert not outcome.passed and "at full size (1000)" in str(outcome)


def test_a_fault_at_full_size_is_a_verdict():
    outcome = full(SAXPY.solution.replace("if (i < n) {", "{"))
    assert outcome.kind == kinds.CRASHED and "x[1000]" in str(outcome)


def process_that(monkeypatch, **answer):
    """What is said of an answer whose process ends so."""
    given = Answer(**{"result": None, "timed_out": False, "status": 0, "output": ""} | answer)
    monkeypatch.setattr(full_size, "call", lambda module, job, seconds: given)
    return full(SAXPY.solution)


def test_what_a_process_at_full_size_said_last_is_shown(monkeypatch):
    outcome = process_that(monkeypatch, status=-11, output="one\ntwo\nthree\nfour\n\n")
    assert outcome.kind == kinds.CRASHED and "(status -11)" in outcome.verdict.message
    assert outcome.verdict.excerpt == "two\nthree\nfour"


def test_a_size_of_two_numbers_comes_back_as_a_pair():
    """It goes to the other process as JSON, which has lists alone."""
    rows = find("04.scale_rows")
    job = {"id": rows.id, "seed": "", "source": rows.solution, "size": list(rows.small[0])}
    assert full_size.work(job)["kind"] == kinds.PASS


def test_with_a_gpu_the_solution_is_proved_at_full_size_too(monkeypatch):
    sizes = []
    monkeypatch.setattr(full_size, "run_full", lambda *given: sizes.append(given) or given[2])
    found = list(verify.proofs(SAXPY, gpu=True, mutants=slice(0)))
    assert [p.text for p in found] == ["starter", "solution", verify.FULL_SIZE] and len(sizes) == 1
    assert all(p.holds for p in found)
    assert verify.FULL_SIZE not in [p.text for p in verify.proofs(SAXPY, mutants=slice(0))]


def test_an_answer_that_takes_too_long_is_ended_with_its_whole_group():
    start = time.monotonic()
    outcome = full(SAXPY.solution, seconds=0.05)
    assert outcome.kind == kinds.TIME_LIMIT
    assert time.monotonic() - start < 5 * slowness()


@pytest.mark.parametrize("seconds", [0.5, 30])
def test_what_a_process_started_ends_with_it(tmp_path, seconds):
    left = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    start = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {left!r}]); "
    # one that takes too long, and one that ends by itself while what it started goes on
    wait = "time.sleep(60)" if seconds < 1 else "time.sleep(0.5)"
    limit = seconds * slowness()
    ended = run_group([sys.executable, "-c", start + wait], limit, folder=tmp_path)
    assert ended.timed_out == (seconds < 1)
    process = int(ended.output)
    assert gone(process, 5)


LEAVING = {
    "a session of its own": "subprocess.Popen(sleep, start_new_session=True)",
    "a group of its own": "subprocess.Popen(sleep, process_group=0)",
    "forked twice": """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(60)
    os._exit(0)
os.wait()
""",
}


@pytest.mark.parametrize("seconds", [1.5, 30])
@pytest.mark.parametrize("how", LEAVING)
def test_what_leaves_the_group_ends_with_it_too(tmp_path, how, seconds):
    program = f"""
import os, subprocess, sys, time
sleep = [sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)"]
{LEAVING[how]}
time.sleep({60 if seconds < 2 else 0.7})
"""
    ended = run_group([sys.executable, "-c", program], seconds * slowness(), folder=tmp_path)
    assert ended.timed_out == (seconds < 2)
    process = int(ended.output)
    assert gone(process, 5)


def test_a_process_that_dies_without_an_answer_is_reported():
    answer = call("course_utils.no_such_module", {}, 20)
    assert answer.result is None and answer.status != 0 and "no_such_module" in answer.output


ANSWER = {"device": "a GPU", "size": "2", "library": ["cuBLAS", 0.5]}
COALESCED = find("06.coalesced_matmul")


def timed(monkeypatch, **rungs):
    """The outcome of a GPU run that measured these milliseconds."""
    result = {"kind": kinds.PASS, "timing": {**ANSWER, "rungs": rungs}}
    answer = Answer(result, False, 0, "")
    monkeypatch.setattr(full_size, "call", lambda *a, **k: answer)
    return run_full(COALESCED, "", check_source(COALESCED, COALESCED.solution))


def test_a_right_answer_gets_its_rung_on_the_ladder(monkeypatch):
    outcome = timed(monkeypatch, starter=9.0, yours=2.1, ours=2.0)
    assert outcome.passed
    assert "a GPU, 2: starter 9 ms, yours 2.1 ms, ours 2 ms, cuBLAS 0.5 ms" in str(outcome)
    assert "data:image/png;base64" in outcome._repr_html_()


def test_a_right_answer_that_is_too_slow_on_the_gpu_misses_its_target(monkeypatch):
    outcome = timed(monkeypatch, starter=9.0, yours=9.0, ours=2.0)
    assert outcome.kind == kinds.TARGET_MISSED and "4.5 times as long" in str(outcome)
    assert outcome.verdict.hint == COALESCED.target.advice != ""


def test_on_the_emulator_the_ladder_shows_the_count_beside_its_target():
    outcome = check_source(COALESCED, COALESCED.solution)
    assert outcome.timing is None and outcome.before == 16.5
    texts = [text.get_text() for text in outcome.figure().axes[0].texts]
    assert "16.5" in texts and "2.5" in texts and "target  3" in texts


LATE = "if (n > 70000) { const_cast<float*>(x)[i] = 0; }"


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("y[i] = 2.0f * x[i] * 1.0000002f;", kinds.PRECISION),
        (f"y[i] = 2.0f * x[i]; {LATE}", kinds.INPUT_CHANGED),
    ],
)
def test_the_full_size_is_judged_as_strictly_as_the_small_ones(change, kind):
    """An exact result stays exact, and an input that only a large launch overwrites is seen."""
    exercise = find("00.double_it")
    source = exercise.solution.replace("y[i] = 2.0f * x[i];", change)
    assert source != exercise.solution
    job = {"id": exercise.id, "seed": "", "source": source, "size": 100_003}
    assert full_size.work(job)["kind"] == kind
