"""The case that the page of cases shows is complete, and computes the right sums."""

import re

import pytest

from course_utils.benchmarks import CASES
from course_utils.benchmarks.cases import first_kernels
from course_utils.paths import ROOT
from course_utils.records.sources import changed

PAGE = ROOT / "course_utils" / "benchmarks" / "cases" / "README.md"


@pytest.fixture(scope="module")
def shown():
    """The page's only case, from its code as a module of chapter 04."""
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    names = {"__name__": f"{first_kernels.__name__}.shown", "__package__": first_kernels.__name__}
    exec(code, names)
    (case,) = names["CASES"]
    return case


def test_the_case_it_shows_is_the_course_s_own(shown):
    real = next(case for case in CASES if case.name == shown.name)
    same = "what", "files", "gpu_sizes", "test_sizes", "ceiling", "source_hash"
    assert all(getattr(shown, name) == getattr(real, name) for name in same)
    assert (shown.bytes(7), shown.flops(7)) == (real.bytes(7), real.flops(7))


def test_the_case_it_shows_computes_what_it_expects_and_nothing_less(shown):
    for n in shown.test_sizes:
        work = shown.make(n)
        work.poison()
        assert work.wrong()
        work()
        assert not work.wrong()


def test_a_case_without_a_record_is_not_stale(shown):
    assert changed({"records": []}, {shown.name: shown.source_hash}) == []
