"""In a hunt for a fault the first verdict gives the symptom. The remedy is left to the hints."""

import pytest

from course_utils.emulator import DATA_RACE, Cause, Finding
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.outcome import HUNT, from_finding, is_hunted
from course_utils.exercises.judging.runner import check_source


def test_the_starter_of_a_hunt_is_told_what_happened_and_no_remedy():
    hunt = find("04.find_the_missing_release")
    outcome = check_source(hunt, hunt.starter)
    assert (outcome.kind, outcome.cause) == (kinds.DATA_RACE, Cause.FLAG_NOT_FENCED)
    message = outcome.verdict.message
    assert outcome.verdict.hint == HUNT
    assert "writes it" in message and "reads it" in message
    assert "fence" not in message


@pytest.mark.parametrize("hunted", [True, False])
def test_a_remedy_is_withheld_only_where_it_is_the_answer(hunted):
    finding = Finding(
        DATA_RACE, "a writes, b reads: a barrier", cause=Cause.NO_ORDER_IN_BLOCK, symptom="a writes"
    )
    verdict = from_finding(finding, "", "", hunted=hunted)
    assert verdict.message == ("a writes" if hunted else finding.message)


def test_after_the_first_change_the_verdict_says_what_to_do():
    """And so it does of another fault than the hunted one."""
    hunt = find("04.find_the_missing_release")
    assert is_hunted(hunt, hunt.starter + "\n", kinds.DATA_RACE)
    assert not is_hunted(hunt, hunt.starter + "// mine", kinds.DATA_RACE)
    assert not is_hunted(hunt, hunt.starter, kinds.OUT_OF_BOUNDS)
