"""A kernel that is only slow is not called endless, and an endless one is."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from course_utils.exercises.authoring import emulated_runs, kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging import patience
from course_utils.exercises.judging.runner import run_source
from course_utils.exercises.judging.trials import Trial

SAXPY, DOT = find("04.saxpy"), find("04.dot")
LOOP = "volatile float s = 0; for (int k = 0; k < 20000; ++k) s += k;"


def inside(statement: str) -> str:
    return SAXPY.solution.replace("if (i < n) {", f"{statement} if (i < n) {{")


def test_a_loop_that_ends_late_is_slow_and_not_endless():
    outcome = run_source(SAXPY, inside(LOOP))
    assert outcome.kind == kinds.TOO_SLOW, outcome
    assert "the kernel finishes" in str(outcome) and "of the course's solution" in str(outcome)
    assert "(n = 1000)" in str(outcome)


def test_one_thread_for_all_is_told_to_share_and_not_that_it_runs_too_much():
    alone = "if (i == 0) for (int k = 0; k < n; ++k) y[k] = a * x[k] + y[k]; if (i < 0) {"
    strict = replace(SAXPY, budget=3000)
    outcome = run_source(strict, SAXPY.solution.replace("if (i < n) {", alone))
    assert outcome.kind == kinds.TOO_SLOW, outcome
    assert "balanced" in str(outcome) and "times the" not in str(outcome)


@pytest.mark.parametrize(
    ("instructions", "words"),
    [(149, "149 instructions, about as many as"), (150, "1.5 times the 100 of")],
)
def test_half_as_many_instructions_again_as_the_solution_are_too_many(
    instructions, words, monkeypatch
):
    def ran(exercise, module, *given, **named):
        counts = SimpleNamespace(thread_instructions=module)
        return SimpleNamespace(fault=None, seconds=1.0, results=[SimpleNamespace(counts=counts)])

    monkeypatch.setattr(emulated_runs, "run", ran)
    monkeypatch.setattr(emulated_runs, "load_answer", lambda *given: 100)
    stopped = ran(SAXPY, 1)
    verdict = patience.slow_or_endless(SAXPY, instructions, Trial(33, 1), stopped, "", "a.cu")
    assert verdict.kind == kinds.TOO_SLOW and words in verdict.message


ENDLESS = {
    "nothing changes": "volatile int go = 1; while (go) {}",
    "counts up for ever": "for (int k = 0; k >= 0; ++k) y[0] += 0;",
    "reads memory": "while (*(volatile const float *)x < 1e30f) {}",
    "goes on and on": "unsigned k = 1; while (*(volatile const float *)x < 1e30f) ++k; "
    "if (!k) y[0] = 1;",
}


@pytest.mark.parametrize("how", ENDLESS)
def test_a_loop_that_does_not_end_is_endless_and_has_its_line(how):
    outcome = run_source(replace(SAXPY, budget=4000), inside(ENDLESS[how]))
    assert outcome.kind == kinds.ENDLESS_LOOP, outcome
    assert "->   9 |" in str(outcome)
    assert ("Or is it only slow?" in str(outcome)) == (how == "goes on and on")
    assert "smaller size" not in str(outcome), "its reader chooses no size"


@pytest.mark.parametrize("most_seconds", [0.0, patience.MOST_SECONDS])
def test_one_thread_that_is_still_writing_is_slow_and_not_endless(most_seconds, monkeypatch):
    monkeypatch.setattr(patience, "MOST_SECONDS", most_seconds)  # at 0 it is not run for longer
    alone = "if (i == 0) for (int k = 0; k < n; ++k) y[k] = a * x[k] + y[k]; if (i < 0) {"
    strict = replace(SAXPY, budget=400)
    outcome = run_source(strict, SAXPY.solution.replace("if (i < n) {", alone))
    assert outcome.kind == kinds.TOO_SLOW, outcome
    assert "was still writing" in str(outcome) and patience.SHARE in str(outcome)


def test_another_fault_behind_the_slow_part_is_the_one_that_is_told():
    outcome = run_source(SAXPY, inside(f"{LOOP} y[n + 1000000] = s;"))
    assert outcome.kind == kinds.OUT_OF_BOUNDS, outcome


def test_slow_only_at_a_drawn_size_is_slow_too():
    outcome = run_source(SAXPY, inside(LOOP.replace("for", "if (n == 33) for")))
    assert outcome.kind == kinds.TOO_SLOW, outcome


def test_a_kernel_that_comes_to_no_end_while_it_is_counted_is_not_the_courses_fault():
    size = next(m.size for m in DOT.method if m.size is not None)
    text = DOT.solution
    start = text.index("{\n", text.index("__global__")) + 2
    loop = f"    volatile int go = n == {size};\n    while (go) {{}}\n"
    outcome = run_source(DOT, text[:start] + loop + text[start:])
    assert outcome.kind == kinds.ENDLESS_LOOP, outcome
