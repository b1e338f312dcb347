"""The pictures of the two ladders are drawn from measurements, with every rung in words too."""

import xml.etree.ElementTree as ET

import pytest

from course_utils.errors import LessonError
from course_utils.notebooks.lessons import lessons
from course_utils.notebooks.reading_paths import WEEKEND
from course_utils.paths import CHAPTERS, README, ROOT
from course_utils.records import ladders
from course_utils.records.ladder_svg import (
    HERE,
    LIBRARY,
    OURS,
    WIDTH,
    Axis,
    LadderBar,
    ladder_svg,
)
from course_utils.records.ladders import (
    MATMUL,
    NOTEBOOKS,
    TRAINING,
    LadderRung,
    matmul_bars,
    matmul_file,
    pictures,
)

SVG = "{http://www.w3.org/2000/svg}"


def test_the_pictures_are_as_they_would_be_drawn():
    stale = [f.name for f, text in pictures() if f.read_text(encoding="utf-8") != text]
    assert not stale, "`python -m course_utils bench --draw` draws them"


def test_each_rung_is_faster_than_the_one_above_but_for_the_first_on_the_gpu():
    own = [bar for bar in matmul_bars() if bar.notebook]
    slower = [b.name for a, b in zip(own, own[1:], strict=False) if b.value < a.value]
    assert slower == ["GPU, a thread per element"]
    assert own[-1].value / own[0].value > 1e8 * 0.95


def test_the_weekend_ends_at_the_share_of_cublas_that_it_promises():
    rates = {bar.notebook or bar.name: bar.value for bar in matmul_bars()}
    chapter, _, notebook = WEEKEND.stations[-1].name.partition("/")
    share = rates[f"{chapter[:2]}/{notebook[:2]}"] / rates["cuBLAS fp32"]
    assert "four fifths of cuBLAS" in WEEKEND.goal and round(share, 1) == 0.8


def test_its_notebooks_exist_and_show_it():
    listed = {each.number: each for each in lessons()}
    for number in NOTEBOOKS:
        assert f"figures/{matmul_file(number).name})" in listed[number].path.read_text()


def test_the_readme_shows_it():
    assert f"]({matmul_file().relative_to(ROOT).as_posix()})" in README.read_text(encoding="utf-8")


def test_chapter_09_opens_with_the_step_of_training():
    folder = CHAPTERS / "09_mnist_cnn"
    for page in ("README.md", "01_data.ipynb"):
        assert f"figures/{TRAINING.name})" in (folder / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_mark_of_a_notebook_fits_on_the_page(notebook):
    drawn = ET.parse(matmul_file(notebook)).getroot()
    (marked,) = (text for text in drawn.iter(f"{SVG}text") if text.find(f"{SVG}tspan") is not None)
    written = "".join(marked.itertext())
    assert float(marked.get("x")) + 7.4 * len(written) < WIDTH  # 12 px DejaVu Sans, the mark bold


def test_a_bar_is_as_long_as_its_value_and_named_in_words():
    bars = [
        LadderBar("first", 1, "1 <s>", "06/01"),
        LadderBar("lib", 10, "10", None),
        LadderBar("b", 100, "c", "x"),
    ]
    drawn = ET.fromstring(ladder_svg("T & U", "below", bars, Axis(1, 100, (1,), True), "x"))
    rects = [r for r in drawn.iter(f"{SVG}rect") if r.get("x")]
    assert [float(r.get("width")) for r in rects] == [0, 151, 302]
    assert [r.get("fill") for r in rects][1:] == [LIBRARY, OURS]
    assert drawn.find(f"{SVG}desc").text == "below first: 1 <s>, lib: 10, b: c."
    assert [t.text for t in drawn.iter(f"{SVG}tspan")] == [f"◀ {HERE}"]


def test_a_rung_that_was_not_measured_says_how_to_measure_it(monkeypatch):
    monkeypatch.setattr(ladders, "MATMUL", (LadderRung("x", "06/01", "C, by hand"),))
    with pytest.raises(LessonError, match="no output of “C, by hand”"):
        matmul_bars()
    assert len(MATMUL) > 1
