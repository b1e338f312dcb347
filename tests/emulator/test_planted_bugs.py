"""Every planted bug gets its report; the same kernels without the bug get none."""

import importlib

import pytest
from planted_bugs import BUGS, CORRECT, read

from course_utils.emulator import KINDS, WARNING
from course_utils.paths import ROOT


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_reported_with_lines_and_threads(bug):
    found = bug.findings()
    assert found, "nothing was found"
    first = found[0]
    assert (first.kind, first.cause, first.level) == (bug.kind, bug.cause, bug.level), first.message
    assert ("Warning: " in first.message) == (bug.level == WARNING), first.message
    assert first.location.line == bug.line("!"), first.message
    if bug.line("?") and first.other_location is not None:
        assert first.other_location.line == bug.line("?"), first.message
    if bug.thread is not None:
        assert first.thread == (bug.thread, 0, 0), first.message
    if bug.other is not None:
        assert first.other_thread == (bug.other, 0, 0), first.message
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
    elsewhere = {"unknown instruction", "emulator error", "launch refused"}
    assert {bug.kind for bug in BUGS} == set(KINDS) - elsewhere


@pytest.mark.parametrize(
    "header, error",
    [
        ("// # a bug — a new kind", "a bug: 'a new kind' is no kind of report"),
        ("// # a bug — deadlock\n// causes: TRAP", "a bug: unknown field causes"),
    ],
)
def test_a_slip_in_a_header_is_refused(tmp_path, header, error):
    file = tmp_path / "family.cu"
    file.write_text(f"// Bugs\n\n{header}\n__syncthreads();\n", encoding="utf-8")
    with pytest.raises(ValueError, match=error):
        read(file)


def test_the_website_s_page_has_each_bug_with_its_report(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "site"))
    page = importlib.import_module("planted_bugs_page").page()
    rows = [line for line in page.splitlines() if "<code>" in line]
    assert [row.split("<br>")[0] for row in rows] == [f"| {bug.name}" for bug in BUGS]
    assert rows[0] == (
        "| reading past the end<br><code>2:  y[i % 64] = x[i];</code> | "
        "Out of bounds: thread (36, 0, 0) of block (1, 0, 0) reads x[100] at kernel.cu:2, "
        "1 element past its end: x has 100 elements. |"
    )
