"""The website's check finds what is wrong; `make site-check` then looks at the real pages."""

import importlib.util

import pytest

from course_utils.paths import ROOT

pytest.importorskip("axe_playwright_python", reason="`make site` installs what the website wants")


def check():
    spec = importlib.util.spec_from_file_location("site_check", ROOT / "site" / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "link, wrong",
    (
        ("there.html", ""),
        ("there.html#place", ""),
        ("#here", ""),
        ("https://example.org/nowhere", ""),
        ("gone.html", "leads to no file"),
        ("there.html#gone", "leads to no place there"),
        ("#gone", "leads to no place there"),
    ),
)
def test_a_link_that_leads_nowhere_is_found(tmp_path, link, wrong):
    (tmp_path / "page.html").write_text(f'<p id="here"><a href="{link}">x</a></p>')
    (tmp_path / "there.html").write_text('<p id="place"></p>')
    found = check().dead_links(tmp_path)
    assert len(found) == bool(wrong)
    assert all(wrong in each for each in found)


def test_pages_of_the_theme_are_none_of_ours(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "macros.html").write_text('<a href="{{ x }}">x</a>')
    assert check().dead_links(tmp_path) == []
