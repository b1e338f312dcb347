"""Maps of memory: boxes and arrows from the addresses that a program printed."""

import pytest

from course_utils import figures

MAP = """\
globals table 0x1000 40 0
heap block 0x2000 12 0
stack x 0x7f10 4 0
stack p 0x7f08 8 0x7f10
stack q 0x7f00 8 0x2004
"""
STRUCTS = """\
loose 16 a 0 1
loose 16 b 8 8
tight 12 c 0 8
tight 12 d 8 4
"""


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_every_object_is_drawn_with_its_address_and_size():
    shown = texts(figures.memory_map(MAP))
    assert {"globals", "heap", "stack", "x", "p", "q", "block", "table"} <= set(shown)
    assert "0x7f10\n4 bytes" in shown and "0x2000\n12 bytes" in shown


def test_higher_addresses_are_drawn_higher():
    rows = {t.get_text(): t.get_position()[1] for t in figures.memory_map(MAP).axes[0].texts}
    assert rows["q"] < rows["p"] < rows["x"]


def test_every_pointer_has_an_arrow_also_into_the_middle_of_a_block():
    axes = figures.memory_map(MAP).axes[0]
    arrows = [text for text in axes.texts if getattr(text, "arrow_patch", None) is not None]
    assert len(arrows) == 2
    block = next(t for t in axes.texts if t.get_text() == "block")
    assert any(abs(arrow.xy[1] - block.get_position()[1]) < 1e-9 for arrow in arrows)


def test_arrows_within_a_column_leave_it_at_the_right_and_others_are_nearly_straight():
    axes = figures.memory_map(MAP + "stack r 0x7f18 8 0x7f00\n").axes[0]
    arrows = [text.arrow_patch for text in axes.texts if hasattr(text, "arrow_patch")]
    bends = [arrow.get_connectionstyle().rad for arrow in arrows if arrow is not None]
    up, across, down = bends  # p to x, q to the block, r to q
    assert up == -down > 0.5 and abs(across) < 0.1


def test_a_pointer_to_nothing_that_is_listed_is_an_error():
    with pytest.raises(ValueError, match="p points to 0x5"):
        figures.memory_map("stack p 0x7f08 8 0x5\n")
    with pytest.raises(ValueError, match="region name address size target"):
        figures.memory_map("stack p 0x7f08\n")


def test_the_bytes_of_structs_are_counted_with_their_padding():
    figure = figures.struct_bytes(STRUCTS)
    cells = [patch for patch in figure.axes[0].patches if patch.get_width() == 1]
    assert len(cells) == 16 + 12
    assert sum(cell.get_hatch() is not None for cell in cells) == 7
    assert "loose\n16 bytes" in texts(figure) and "d" in texts(figure)


def test_members_that_overlap_are_an_error():
    with pytest.raises(ValueError, match="overlaps"):
        figures.struct_bytes("s 8 a 0 4\ns 8 b 2 4\n")
