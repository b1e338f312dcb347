"""The website's search has words for every message, and every word of the glossary has its page."""

import importlib.util

import pytest

from course_utils.paths import ROOT
from course_utils.symptoms import CUDA_ERRORS

spec = importlib.util.spec_from_file_location("search_words", ROOT / "site" / "search_words.py")
search_words = importlib.util.module_from_spec(spec)
spec.loader.exec_module(search_words)
WORDS = search_words.search_words()
WRONG = WORDS["chapters/00_start_here/03_when_it_goes_wrong"]


@pytest.mark.parametrize(
    ("word", "page"),
    (
        ("deadlock", "04_first_kernels/04_barriers_and_atomics"),
        ("bank conflict", "04_first_kernels/05_coalescing_and_transpose"),
        ("nan", "06_matmul_and_fft/07_number_formats"),
    ),
)
def test_a_word_of_the_glossary_leads_to_the_notebook_that_explains_it(word, page):
    assert (word, "") in WORDS[f"chapters/{page}"]


@pytest.mark.parametrize(
    ("word", "page", "heading"),
    (
        ("grid-stride loop", "04_first_kernels/01_hello_threads", "A grid-stride loop"),
        ("size_t", "02_c_and_cpp/01_pointers_and_memory", "Sizes: size_t"),
        ("layout", "08_cute_tma_blackwell/01_layouts", ""),
    ),
)
def test_a_word_of_the_glossary_leads_to_the_heading_that_names_it(word, page, heading):
    assert (word, heading) in WORDS[f"chapters/{page}"]


def test_an_exercise_is_found_by_its_name():
    heading = "Exercise 04.clamp: a grid-stride loop"
    assert ("clamp", heading) in WORDS["chapters/04_first_kernels/01_hello_threads"]


def test_each_page_is_a_file():
    assert all((ROOT / f"{page}.ipynb").is_file() for page in WORDS)


def test_cudas_errors_are_found_by_name_and_by_words():
    found = {word for word, _ in WRONG}
    assert {e.heading.lower() for e in CUDA_ERRORS.values()} <= found
    assert {e.name.lower() for e in CUDA_ERRORS.values()} <= found


def test_other_words_belong_to_headings_that_there_are():
    headings = {heading for _, heading in WRONG}
    assert search_words.ALSO.keys() <= headings
    assert ("my kernel hangs", "hangs") in WRONG


def test_a_symptom_in_a_readers_words_belongs_to_its_heading():
    sizes = "only wrong for sizes that aren't multiples of the block"
    assert ("last elements wrong", sizes) in WRONG
    assert ("register spilling", "") in WORDS["chapters/03_gpu_introduction/03_memory_hierarchy"]


def test_no_words_lead_to_two_headings():
    headings = {}
    for word, heading in WRONG:
        assert headings.setdefault(word, heading) == heading, word
