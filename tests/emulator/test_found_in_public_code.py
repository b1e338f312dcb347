"""Each kernel of the emulator's pages gets the report that the page shows."""

import pytest

from tests.emulator.found_in_public_code import PAGES, entries, report

ENTRIES = [entry for page in PAGES for entry in entries(page)]


@pytest.mark.parametrize(("kernel", "options", "shown"), ENTRIES, ids=range(len(ENTRIES)))
def test_the_report_is_the_page_s(kernel, options, shown):
    assert shown and report(kernel, options).rstrip() == shown.rstrip()


def test_no_kernel_of_a_page_is_without_a_report():
    found, readme = (page.read_text(encoding="utf-8").count("```cpp\n// --") for page in PAGES)
    assert (found, readme) == tuple(len(entries(page)) for page in PAGES) == (12, 1)
