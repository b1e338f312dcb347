"""Reports and advice read as in the golden file, and each bug gets the advice of its cause."""

import re

import pytest
from verdicts import FILE, GROUPS, render

from course_utils.emulator import CAUSE_STEPS, KIND_STEPS, Cause
from course_utils.exercises.judging.outcome import Outcome, from_finding
from course_utils.paths import ROOT

BUGS = [bug for bugs in GROUPS.values() for bug in bugs]


def test_verdicts_read_as_in_the_golden_file():
    assert render() == FILE.read_text(encoding="utf-8"), "see the first lines of verdicts.txt"


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_gets_the_advice_of_its_cause(bug):
    verdict = from_finding(bug.findings()[0], bug.source(), "kernel.cu")
    assert verdict.hint == CAUSE_STEPS.get(bug.cause, KIND_STEPS[bug.kind])
    assert Outcome("04.exercise", "An exercise", verdict).cause == bug.cause


def test_each_cause_with_advice_of_its_own_is_planted_or_tested_by_itself():
    tests = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    tested = {Cause[name] for text in tests for name in re.findall(r"\bCause\.([A-Z]\w+)", text)}
    assert CAUSE_STEPS.keys() - tested <= {bug.cause for bug in BUGS}


@pytest.mark.parametrize(
    "name, advice",
    [
        ("an mbarrier for no arrivals", "1 to 1,048,575 arrivals"),
        ("bytes announced that nobody waits for and that never come", "bytes that expect_tx"),
        ("bytes that come unannounced, for which nobody waits", "bytes that expect_tx"),
    ],
)
def test_an_mbarrier_that_is_initialised_once_gets_no_advice_to_do_so(name, advice):
    (bug,) = (bug for bug in BUGS if bug.name == name)
    assert advice in from_finding(bug.findings()[0], bug.source(), "kernel.cu").hint
