"""The files of a build as bars: their order, sizes and tracks."""

import pytest

from course_utils import figures

FILES = [
    ("host", "you", "main.c", 100),
    ("host", "compiler", "main.s", 900),
    ("device", "ptxas", "k.cubin", 4000),
]


def test_every_file_has_a_bar_of_its_size_in_the_order_of_the_build():
    axes = figures.build_files(FILES, title="A build").axes[0]
    assert [bar.get_width() for bar in axes.patches] == [100, 900, 4000]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "main.c  (you)", "main.s  (compiler)", "k.cubin  (ptxas)",
    ]  # fmt: skip
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first on top
    assert "4,000" in [text.get_text() for text in axes.texts]


def test_a_track_has_one_look_that_no_other_has():
    bars = figures.build_files(FILES, title="A build").axes[0].patches
    (first, hatch), second, third = ((bar.get_facecolor(), bar.get_hatch()) for bar in bars)
    assert second == (first, hatch)
    assert third[0] != first and third[1] != hatch


@pytest.mark.parametrize("files", [[], [("host", "you", "main.c", 0)]])
def test_nothing_to_draw_is_an_error(files):
    with pytest.raises(ValueError, match="at least one"):
        figures.build_files(files, title="A build")
