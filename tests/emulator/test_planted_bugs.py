"""Every planted bug gets its report; the same kernels without the bug get none."""

import pytest
from planted_bugs import BUGS, CORRECT, PAGE, render

from course_utils.emulator import KINDS, WARNING


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_reported_with_lines_and_threads(bug):
    found = bug.findings()
    assert found, "nothing was found"
    first = found[0]
    assert (first.kind, first.level) == (bug.kind, bug.level), first.message
    assert ("Warning: " in first.message) == (bug.level == WARNING), first.message
    assert bug.says in first.message
    assert first.location.line == bug.line("!"), first.message
    if bug.line("?") and first.other_location is not None:
        assert first.other_location.line == bug.line("?"), first.message
    if bug.thread is not None:
        assert first.thread == bug.thread, first.message
    if bug.other is not None:
        assert first.other_thread == bug.other, first.message
    assert {f.kind for f in found} <= bug.kinds, [f.message for f in found]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_without_its_bug_the_kernel_is_clean(bug):
    if bug.source() != bug.source(right=True):
        assert [f.message for f in bug.findings(right=True)] == []


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kernel", CORRECT, ids=lambda kernel: kernel.name)
def test_a_correct_kernel_of_every_style_is_clean(kernel, seed):
    assert [f.message for f in kernel.findings(seed=seed)] == []


def test_every_kind_of_report_has_a_planted_bug():
    assert {bug.kind for bug in BUGS} == set(KINDS) - {"unknown instruction", "emulator error"}


def test_the_page_shows_what_the_sanitizer_says_today():
    assert PAGE.read_text(encoding="utf-8") == render()
