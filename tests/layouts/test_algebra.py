"""Layouts against their definitions, element by element; test_against_cute.py asks CuTe itself."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from layouts_at_random import layout_at_random

from course_utils.layouts import (
    Layout,
    LayoutError,
    Swizzle,
    SwizzledLayout,
    blocked_product,
    coalesce,
    complement,
    composition,
    left_inverse,
    logical_divide,
    raked_product,
    right_inverse,
    row_major,
    together,
    zipped_divide,
)

SEEDS = range(60)


def test_text_is_read_back():
    layout = Layout((4, (2, 3)), (2, (1, 8)))
    assert str(layout) == "(4,(2,3)):(2,(1,8))"
    assert Layout("(_4,(_2,3)):(_2,(_1,8))") == layout == Layout(str(layout))
    assert Layout("(4,8)") == Layout((4, 8), (1, 4))
    assert row_major((4, (2, 3))) == Layout((4, (2, 3)), (6, (3, 1)))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_coordinate_and_its_number_give_one_offset(seed):
    layout = layout_at_random(Random(seed))
    offsets = layout.offsets()
    assert len(offsets) == layout.size and layout.cosize == offsets.max() + 1
    for index, offset in enumerate(offsets.tolist()):
        assert layout(index) == layout(layout.coordinate(index)) == offset


@pytest.mark.parametrize("seed", SEEDS)
def test_coalesce_keeps_the_function(seed):
    layout = layout_at_random(Random(seed))
    short = coalesce(layout)
    np.testing.assert_array_equal(short.offsets(), layout.offsets())
    assert short.depth <= 1 and coalesce(short) == short


@pytest.mark.parametrize("seed", SEEDS)
def test_composition_is_one_after_the_other(seed):
    rng = Random(seed)
    a, b = layout_at_random(rng), layout_at_random(rng)
    try:
        both = composition(a, b)
    except LayoutError:
        return
    if b.cosize <= a.size:  # beyond its size a goes on, as CuTe's does
        assert [both(i) for i in range(both.size)] == [a(b(i)) for i in range(b.size)]


def test_most_compositions_are_made():
    """The test above does not pass because everything is refused."""
    made = 0
    for seed in SEEDS:
        rng = Random(seed)
        a, b = layout_at_random(rng), layout_at_random(rng)
        try:
            made += composition(a, b).size == b.size and b.cosize <= a.size
        except LayoutError:
            continue
    assert made > len(SEEDS) // 4


@pytest.mark.parametrize("seed", SEEDS)
def test_complement_reaches_the_rest(seed):
    rng = Random(seed)
    layout, target = layout_at_random(rng, repeats=False), rng.randrange(1, 200)
    rest = complement(layout, target)
    both = np.sort(together(layout, rest).offsets())
    assert len(np.unique(both)) == len(both), "an offset twice"
    assert np.isin(np.arange(target), both).all(), "an offset left out"
    assert (np.diff(rest.offsets()) > 0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_inverses(seed):
    layout = layout_at_random(Random(seed), repeats=False)
    right = right_inverse(layout)
    assert [layout(int(i)) for i in right.offsets()] == list(range(right.size))
    try:
        left = left_inverse(layout)
    except LayoutError:
        return
    assert [left(int(offset)) for offset in layout.offsets()] == list(range(layout.size))


def test_a_composition_may_be_finer_than_the_layout_that_chooses():
    both = composition(Layout("(6,2):(8,2)"), Layout("(4,3):(3,1)"))
    assert str(both) == "((2,2),3):((24,2),8)"


def test_a_complement_leaves_offsets_out_where_strides_do_not_divide():
    assert str(complement(Layout("(2,2):(1,3)"), 12)) == "2:6"  # as CuTe's: 2 and 5 stay out


def test_divide_and_product_by_hand():
    columns = Layout((4, 6))
    assert str(logical_divide(columns, (2, 3))) == "((2,2),(3,2)):((1,2),(4,12))"
    assert str(zipped_divide(columns, (2, 3))) == "((2,3),(2,2)):((1,4),(2,12))"
    block, tiler = Layout((2, 5), (5, 1)), Layout((3, 4))
    assert str(blocked_product(block, tiler)) == "((2,3),(5,4)):((5,10),(1,30))"
    assert str(raked_product(block, tiler)) == "((3,2),(4,5)):((10,5),(30,1))"


def test_a_swizzle_moves_no_element_of_a_block_to_another():
    swizzled = SwizzledLayout(Swizzle(3, 2, 3), row_major((8, 32)))
    offsets = swizzled.offsets()
    assert sorted(offsets) == list(range(256))
    table = offsets.reshape(32, 8).T
    assert (table // 32 == np.arange(8)[:, None]).all(), "each row stays in its row"
    assert len({*(table[:, 0] % 32 // 4)}) == 8, "a column goes through all groups of four banks"
    assert swizzled(1, 0) == 36


@pytest.mark.parametrize(
    "wrong, says",
    [
        (lambda: Layout((4, 8), 1), "same places"),
        (lambda: Layout((4, 0)), "at least 1"),
        (lambda: Layout(4, -1), "at least 0"),
        (lambda: Layout((4, 2.0)), "whole numbers"),
        (lambda: Layout("4;1"), "shape:stride"),
        (lambda: Layout("4:1", 1), "holds the stride"),
        (lambda: Layout(()), "1 for a single"),
        (lambda: Layout((4, 8))(1, 2, 3), "3 numbers"),
        (lambda: Layout((4, 8))(), "asks for a coordinate"),
        (lambda: Layout((4, 8))((1, 2), 3), "nested deeper"),
        (lambda: Layout((4, 8)).coordinate(32), "none 32"),
        (lambda: Layout((4, 8))[2], "none 2"),
        (lambda: composition(Layout((6, 4), (1, 100)), Layout(4, 4)), "no multiple of"),
        (lambda: complement(Layout((2, 2), (1, 1))), "two coordinates to one offset"),
        (lambda: logical_divide(Layout(8), (2, 2)), "2 tilers for the 1 modes"),
        (lambda: Swizzle(3, 0, 2), "not taken"),
        (lambda: Swizzle(1, 2, -3), "nor lower ones onto upper ones"),
    ],
)
def test_what_is_refused(wrong, says):
    with pytest.raises((ValueError, IndexError), match=says):
        wrong()
