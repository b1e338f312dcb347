"""Each kernel of FOUND_IN_PUBLIC_CODE.md gets the report that the page shows."""

import pytest

from tests.emulator.found_in_public_code import PAGE, entries, report

ENTRIES = entries()


@pytest.mark.parametrize(("kernel", "options", "shown"), ENTRIES, ids=range(len(ENTRIES)))
def test_the_report_is_the_page_s(kernel, options, shown):
    assert shown and report(kernel, options).rstrip() == shown.rstrip()


def test_no_kernel_of_the_page_is_without_a_report():
    assert PAGE.read_text(encoding="utf-8").count("```cpp") == len(ENTRIES)
