"""On a GPU: what a student's kernel breaks is its own process, and the notebook computes on.

Skipped without a GPU. Each test ends in seconds and then uses the arrays it made before.
"""

import time

import pytest

from course_utils.compiling.host_compilers import host_compiler
from course_utils.devices.selection import ON_GPU, cp
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.authoring.spec import HostExercise
from course_utils.exercises.judging.full_size import run_full
from course_utils.exercises.judging.runner import check_source, run_source
from tests.machine_speed import slowness

pytestmark = pytest.mark.skipif(not ON_GPU, reason="needs a CUDA GPU")

SAXPY = find("04.saxpy")
COALESCED = find("06.coalesced_matmul")
LIMIT = 30.0  # seconds for the process, start-up included


@pytest.fixture
def living_context():
    """Arrays of this process before; after the test they must still be right and usable."""
    before = cp.arange(1000, dtype=cp.float32)
    yield
    assert float((2 * before).sum()) == 999000.0
    assert int(cp.ones(1 << 20, dtype=cp.int32).sum()) == 1 << 20


def on_the_gpu(source, exercise=SAXPY, seconds=LIMIT, **options):
    """The verdict of the full-size run alone, and the seconds that it took, as many as it would
    have taken on a machine that isn't busy with other tests."""
    passed = check_source(exercise, exercise.solution)
    start = time.monotonic()
    outcome = run_full(exercise, source, passed, seconds=seconds, **options)
    return outcome, (time.monotonic() - start) / slowness()


def statement(text):
    return SAXPY.solution.replace("y[i] = a", f"{text} y[i] = a")


def test_an_illegal_access_ends_as_a_verdict(living_context):
    outcome, seconds = on_the_gpu(statement("y[i + (1ll << 40)] = 1;"))
    assert outcome.kind == kinds.CRASHED, outcome
    assert "memory outside all your arrays" in str(outcome)
    assert seconds < LIMIT


def test_an_endless_kernel_ends_as_a_verdict(living_context):
    outcome, seconds = on_the_gpu(statement("while (clock64() != 0) {}"), seconds=15)
    assert outcome.kind == kinds.TIME_LIMIT, outcome
    assert seconds < 25


def test_a_trap_and_a_failed_assert_end_as_verdicts(living_context):
    for text in ('asm("trap;");', "assert(i < 0);"):
        outcome, _ = on_the_gpu(statement(text))
        assert outcome.kind == kinds.CRASHED, outcome


def test_a_flood_of_printf_ends_as_a_verdict(living_context):
    outcome, seconds = on_the_gpu(statement('printf("%d hello hello\\n", i);'))
    assert seconds < LIMIT + 5 and len(str(outcome)) < 5000


@pytest.mark.skipif(host_compiler("c") is None, reason="needs a C compiler")
def test_a_segfault_in_c_ends_as_a_verdict(living_context, monkeypatch):
    text = "// TODO: t\n// SOLUTION\n// END\n"
    monkeypatch.setattr(HostExercise, "text", property(lambda self: text))
    exercise = HostExercise(
        id="02.crash",
        title="t",
        task="t",
        source="",
        hints=(),
        explanation="e",
        cases=("",),
        reference=lambda case: "",
    )
    crash = "int main(void) { volatile int* p = (int*)4096; return *p; }"
    assert run_source(exercise, crash).kind in (kinds.CRASHED, kinds.NULL_POINTER)


def test_a_right_answer_is_timed_beside_the_starter_the_solution_and_the_library(living_context):
    outcome = run_source(COALESCED, COALESCED.solution + "// mine\n", gpu=True)
    assert outcome.passed, outcome
    assert list(outcome.timing.rungs) == ["starter", "yours", "ours"]
    assert outcome.timing.library[0] == "cuBLAS" and outcome.figure() is not None
    assert outcome.timing.rungs["starter"] > outcome.timing.rungs["yours"]
