"""Answers that are kernels of Triton or Numba: launched on the emulator, judged by its checks."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from course_utils.emulator import (
    DATA_RACE,
    ERROR,
    OUT_OF_BOUNDS,
    WARNING,
    Cause,
    Counts,
    Finding,
    KernelFault,
    LanguageError,
    Location,
)
from course_utils.exercises.authoring import kinds, language_spec
from course_utils.exercises.authoring.language_spec import (
    NUMBA,
    TRITON,
    FoundInKernel,
    InputChanged,
    KernelCase,
    LanguageExercise,
    StoredOutside,
)
from course_utils.exercises.authoring.registry import all_exercises, find
from course_utils.exercises.judging import python_answer
from course_utils.exercises.judging.language_answer import of_kernel
from course_utils.exercises.judging.python_process import answers
from course_utils.exercises.judging.runner import run_source
from course_utils.needs import lacking

SUMS = find("04.sums_of_blocks")
TOTAL = find("04.sum_in_programs")
RACE = Finding(
    DATA_RACE,
    "Data race on tile[64]:\n  at <cell>:3",
    Location("<cell>", 3),
    other_location=Location("<cell>", 2),
    cause=Cause.NO_ORDER_IN_BLOCK,
)
SOURCE = "def kernel(x):\n    tile[t] = x[t]\n    y[t] = tile[t + 1]\n"


class Result:
    """Of a launch."""

    def __init__(self, findings=()):
        self.findings, self.counts = list(findings), Counts(global_load_bytes=8)


def case() -> KernelCase:
    args = {"x": np.ones(2, np.float32), "y": np.zeros(2, np.float32), "n": 2}
    return KernelCase(1, args, ("y",), "n = 2", block=32)


@pytest.fixture
def launch(monkeypatch):
    """Lets a launch do what a function of its case does."""

    def use(does):
        monkeypatch.setattr(language_spec, "run", lambda language, kernel, case: does(case))
        return lambda given: language_spec.launched(NUMBA, "kernel", given)

    return use


def test_the_output_is_compared_and_its_counts_stay_with_the_case(launch):
    def double(given):
        given.args["y"][:] = 2 * given.args["x"]
        return Result()

    given = case()
    assert launch(double)(given).tolist() == [2, 2] and given.counts.global_load_bytes == 8


def test_an_error_counts_before_a_warning(launch):
    first = replace(RACE, level=WARNING)
    with pytest.raises(FoundInKernel) as raised:
        launch(lambda given: Result([first, RACE]))(case())
    assert raised.value.finding.level == ERROR


def test_a_fault_is_a_finding(launch):
    def fails(given):
        raise KernelFault(RACE)

    with pytest.raises(FoundInKernel):
        launch(fails)(case())


def test_an_input_must_stay_as_it_is(launch):
    def spoils(given):
        given.args["x"][0] = 5
        return Result()

    with pytest.raises(InputChanged, match="x has changed"):
        launch(spoils)(case())


def test_an_output_outside_its_window_must_stay_as_it_is(launch):
    def stores(given):
        given.args["y"][:] = 3
        return Result()

    given = replace(case(), window=(slice(0, 1),))
    with pytest.raises(StoredOutside, match=r"y\[1\] was stored to"):
        launch(stores)(given)
    inside = launch(lambda given: Result())(given)
    assert inside.shape == (1,)


def test_only_languages_that_are_launched_are_taken():
    with pytest.raises(ValueError, match="triton, numba"):
        LanguageExercise(kernel_language="warp", cases=(), reference=max)


def test_a_finding_becomes_the_verdict_with_the_lines_of_the_cell():
    verdict = of_kernel(FoundInKernel(RACE), SUMS, SOURCE)
    assert (verdict.kind, verdict.cause) == (DATA_RACE, Cause.NO_ORDER_IN_BLOCK)
    assert "->   2 |" in verdict.excerpt and "->   3 |" in verdict.excerpt
    assert f"at {SUMS.id}:3" in verdict.message


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (InputChanged("x has changed"), kinds.INPUT_CHANGED),
        (StoredOutside("y[5] was stored to"), OUT_OF_BOUNDS),
        (LanguageError("kernel isn't a Numba kernel"), kinds.LAUNCH_ERROR),
    ],
)
def test_other_errors_of_a_launch_have_their_kinds(error, kind):
    assert of_kernel(error, SUMS, SOURCE).kind == kind


def test_an_error_of_the_cell_itself_is_not_the_compilers():
    assert of_kernel(TypeError("no"), SUMS, SOURCE) is None


def compilers(name: str, module: str) -> type[Exception]:
    base = type(name, (Exception,), {"__module__": module})
    return type("Refused", (base,), {"__module__": module})


def test_numbas_error_names_the_line_of_the_cell():
    error = compilers("NumbaError", "numba.core.errors")(
        f"Failed in cuda mode pipeline (step: nopython)\nNo open.\n\nDuring: x at {SUMS.id} (2)"
    )
    verdict = of_kernel(error, SUMS, SOURCE)
    assert verdict.kind == kinds.COMPILE_ERROR and verdict.message.startswith("No open.")
    assert "->   2 |" in verdict.excerpt


def test_tritons_error_counts_from_the_kernels_head():
    error = compilers("TritonError", "triton.errors")()
    error.error_message, error.src = "not a power of 2", SOURCE
    error.node = type("Node", (), {"lineno": 2})
    verdict = of_kernel(error, TOTAL, "import triton\n\n\n" + SOURCE)
    assert verdict.message == "not a power of 2" and "->   5 |" in verdict.excerpt


def test_a_verdict_keeps_its_cause_on_its_way_and_says_which_case(monkeypatch):
    def launched(function, given):
        raise FoundInKernel(RACE)

    exercise = SUMS.with_fields(call=launched)
    verdict = python_answer.judged(exercise, answers(exercise, "def sums_of_blocks(): ..."))
    assert verdict.cause is Cause.NO_ORDER_IN_BLOCK
    assert verdict.message.endswith(f"({SUMS.cases[0][0]})")


@pytest.mark.parametrize("language", [TRITON, NUMBA])
def test_without_its_compiler_an_exercise_says_what_to_install(language, monkeypatch):
    exercise = next(e for e in all_exercises() if getattr(e, "kernel_language", "") == language)
    monkeypatch.setattr(python_answer, "missing", lambda tokens: [language])
    monkeypatch.setattr(python_answer, "how_to_get", lambda tokens: f"Fetch {tokens[0]}.")
    outcome = run_source(exercise, exercise.solution)
    assert outcome.kind == kinds.NO_PACKAGE
    assert outcome.verdict.hint == f"Fetch {language}. Then restart the kernel."


def test_triton_compiles_where_kernels_are_launched():
    assert language_spec.environment(TRITON)["TRITON_INTERPRET"] == "0"
    assert not language_spec.environment("")


@pytest.mark.skipif(bool(lacking("numba")), reason="needs numba-cuda")
def test_an_index_past_the_end_has_the_line_of_the_cell():
    source = SUMS.solution.replace(" if i < x.size else np.float32(0)", "")
    outcome = run_source(SUMS, source)
    line = 1 + next(k for k, text in enumerate(source.splitlines()) if "tile[t] = x[i]" in text)
    assert outcome.kind == OUT_OF_BOUNDS and f"{SUMS.id}:{line}" in outcome.verdict.message
    assert "TRITON_CACHE_DIR" not in os.environ
