"""Python exercises that take packages, and answers that are not called but launched."""

import threading
from dataclasses import replace
from functools import partial

import pytest

from course_utils.checking.verdict import NEUTRAL_COLOUR
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.isolation.isolated import Answer
from course_utils.exercises.judging import python_answer, python_process
from course_utils.exercises.judging.python_answer import judged
from course_utils.exercises.judging.python_process import answers
from course_utils.exercises.judging.runner import run_source
from course_utils.exercises.judging.verify import proofs
from course_utils.exercises.student import saved_answers

TRITON = find("04.rms_norm_rows")
BLOCKS = find("04.blocks_for")


@pytest.fixture
def no_triton(monkeypatch):
    monkeypatch.setattr(python_answer, "missing", lambda tokens: ["Triton"] if tokens else [])
    monkeypatch.setattr(python_answer, "how_to_get", lambda tokens: "")


def test_without_the_package_a_line_says_what_is_missing_and_how_to_get_it(no_triton):
    outcome = run_source(TRITON, TRITON.solution)
    assert outcome.kind == kinds.NO_PACKAGE
    assert "needs Triton." in str(outcome) and kinds.NEXT_STEP[kinds.NO_PACKAGE] in str(outcome)
    assert NEUTRAL_COLOUR in outcome._repr_html_()


def test_the_command_that_fetches_what_is_missing_is_the_next_step(no_triton, monkeypatch):
    monkeypatch.setattr(
        python_answer, "how_to_get", lambda tokens: f"Fetch {' and '.join(tokens)}."
    )
    assert "next: Fetch triton." in str(run_source(TRITON, TRITON.solution))


def test_without_the_package_no_try_is_counted(no_triton, own_progress):
    outcome = run_source(TRITON, TRITON.solution)
    assert saved_answers.record(TRITON, outcome, TRITON.solution) == ""
    assert not own_progress.exists()


def test_without_the_package_the_proof_of_an_exercise_is_skipped(no_triton):
    assert all(proof.skipped and proof.holds for proof in proofs(TRITON))


def test_modules_that_an_exercise_imports_are_there_before_an_answer_runs(monkeypatch):
    asked = []

    class Server:
        def call(self, job, seconds, memory):
            return Answer(None, False, 0, "")

    monkeypatch.setattr(python_process, "server", lambda *of: asked.append(of) or Server())
    exercise = replace(BLOCKS, imports=("torch._dynamo",))
    python_process.run_answer(exercise, "", 1.0, packages=("torch",))
    assert asked == [(("torch", "torch._dynamo"), "")]


def test_an_answer_that_is_launched_is_compared_by_what_its_launch_returns():
    launched = replace(BLOCKS, call=lambda function, n, threads: function(f"{n}", threads) - 1)
    source = "def blocks_for(words, threads):\n    return -(-int(words) // threads) + 1"
    assert judged(launched, answers(launched, source)).kind == kinds.PASS
    assert judged(launched, answers(launched, source[:-4])).kind == kinds.WRONG


def test_an_error_that_a_launch_raises_is_the_verdict():
    def refuse(function, n, threads):
        raise IndexError("no mask")

    launched = replace(BLOCKS, call=refuse)
    verdict = judged(launched, answers(launched, BLOCKS.solution))
    assert verdict.kind == kinds.EXCEPTION and "IndexError: no mask" in verdict.message


def test_what_an_exercise_prepares_is_prepared_in_the_thread_that_outlives_the_others():
    threads = []

    def called(function, *arguments):
        threads.append(threading.current_thread())
        return function(*arguments)

    note = partial(called, lambda: None)
    prepared = replace(BLOCKS, prepare=note, call=called)
    answers(prepared, BLOCKS.solution)
    first, *others = threads
    assert first is threading.main_thread() and others and first not in others
