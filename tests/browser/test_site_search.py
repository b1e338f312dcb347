"""The website's search puts first the headings whose words a query has, in whatever order."""

import importlib.util

import pytest

from course_utils.paths import ROOT

spec = importlib.util.spec_from_file_location("search_words", ROOT / "site" / "search_words.py")
search_words = importlib.util.module_from_spec(spec)
spec.loader.exec_module(search_words)
WRONG = "chapters/00_start_here/03_when_it_goes_wrong"
HELLO = "chapters/04_first_kernels/01_hello_threads"
PROJECT = "chapters/07_pytorch_extensions/11_project"
PAGES = (ROOT / "site" / "static" / "pages.js").read_text(encoding="utf-8")
# As Sphinx's script has it: results without these entries, of which the last is shown first.
SEARCH = """index => {
  const other = ["other", "", "", null, 9, "", "text"];
  window.Search = {_index: index, _performSearch: query => [other]};
}"""


@pytest.fixture(scope="module")
def page(chromium):
    entries = {}
    pages = search_words.search_words()
    for number, words in enumerate(pages.values()):
        for word, heading in words:
            entries.setdefault(word, []).append([number, heading, True])
    page = chromium.new_page()
    page.set_content("<p>search</p>")
    names = list(pages)
    page.evaluate(
        SEARCH,
        {
            "indexentries": entries,
            "alltitles": {"A grid-stride loop": [[names.index(HELLO), "A grid-stride loop"]]},
            "docnames": names,
            "titles": names,
            "filenames": names,
        },
    )
    page.add_script_tag(content=PAGES)
    page.evaluate("leadToMessages()")
    return page


@pytest.mark.parametrize(
    ("query", "place"),
    (
        ("kernel slower than numpy", (WRONG, "#slower than NumPy")),
        ("result is right only the first time", (WRONG, "#right the first time only")),
        ("the last elements are wrong", (WRONG, "#only wrong for sizes that aren't multiples")),
        ('expected a ";"', (WRONG, "#expected a")),
        ("uncoalesced accesses", ("chapters/04_first_kernels/05_coalescing_and_transpose", "")),
        ("rounding errors", (WRONG, "#Precision only")),
        ("grid-stride loop", (HELLO, "#A grid-stride loop")),
        ("squared relu", (PROJECT, "#Exercise 07.squared_relu")),
        ("squared_relu", (PROJECT, "#Exercise 07.squared_relu")),
        ("clamp negative", ("other", "")),
        ("photograph of a cat", ("other", "")),
    ),
)
def test_the_nearest_entry_comes_first(page, query, place):
    first = page.evaluate("query => Search._performSearch(query).at(-1)", query)
    assert first[0] == place[0] and first[2].startswith(place[1])


def test_a_result_names_its_page_and_its_heading(page):
    first = page.evaluate("query => Search._performSearch(query).at(-1)", "grid-stride loop")
    assert first[1] == f"{HELLO} > A grid-stride loop"


def test_each_heading_is_found_by_its_own_words(page):
    found = page.evaluate(
        "all => all.filter(([word, heading]) => nearestEntries(word, Search._index)"
        ".every(result => result[2] !== `#${heading}`))",
        [list(pair) for pair in search_words.search_words()[WRONG]],
    )
    assert not found


def test_below_a_result_the_article_is_quoted_without_its_title(page):
    page.evaluate(
        """() => {
            const parsed = page => new DOMParser().parseFromString(page, "text/html");
            Search.htmlToText = page => parsed(page).querySelector('[role="main"]').textContent;
            quoteArticles();
        }"""
    )
    words = "Light Dark<article><h1>Coalescing</h1><p>Threads that read.</p></article>"
    quoted = page.evaluate("page => Search.htmlToText(page)", f'<main role="main">{words}</main>')
    assert quoted == "Threads that read."
