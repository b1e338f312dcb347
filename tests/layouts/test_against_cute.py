"""The algebra beside CuTe's own, through NVRTC, and beside the package tensor-layouts."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from cute_answers import answers, written
from layouts_at_random import layout_at_random

from course_utils import layouts
from course_utils.compiling.headers import cute_header_paths
from course_utils.layouts import Layout, LayoutError

OF_ONE = ("coalesce", "filtered", "right_inverse", "left_inverse")
OF_TWO = ("composition", "logical_divide", "zipped_divide", "logical_product")
RANKED = ("blocked_product", "raked_product")
BY_TUPLE = ("composition", "logical_divide", "zipped_divide", "tiled_divide")
IN_CUTE = {"filtered": "filter"}
CASES = 32
PARTED = Layout((3, 8), (8, 1)), Layout(4, 2)


def cases(seed: int) -> list[tuple[str, Layout, Callable]]:
    """(CuTe's expression, our answer, the same asked of another package) for each operation."""
    rng, found = Random(seed), []
    names = [*OF_ONE, *OF_TWO, *RANKED, "complement", *(f"{name} by a tuple" for name in BY_TUPLE)]
    while len(found) < CASES:
        kind = names[len(found) % len(names)]
        name = kind.removesuffix(" by a tuple")
        a, b = layout_at_random(rng), layout_at_random(rng)
        if kind in OF_ONE:
            given = (a,)
        elif kind == "complement":
            given = (a, rng.randrange(1, 100))
        elif kind.endswith("tuple"):
            if a.depth == 0:
                continue
            given = (a, tuple(rng.choice((1, 2, 3, 4)) for _ in range(a.rank)))
        else:
            if kind in RANKED and (a.depth == 0 or b.depth == 0):
                continue
            given = (a, b)
        try:
            ours = getattr(layouts, name)(*given)
        except LayoutError:
            continue
        text = f"{IN_CUTE.get(name, name)}({', '.join(map(written, given))})"
        found.append((text, ours, (name, given)))
    return found


@pytest.fixture(scope="module")
def cutes_own() -> list[Layout]:
    """CuTe's answers to the cases and, last, to ``PARTED``: one kernel, compiled once."""
    if not cute_header_paths():
        pytest.skip("needs CuTe's headers (the extra cute)")
    composition = f"composition({', '.join(map(written, PARTED))})"
    return answers([*(text for text, _, _ in cases(1)), composition])


def test_cute_answers_the_same(cutes_own):
    asked, theirs = cases(1), cutes_own[:-1]
    wrong = [
        f"{text}\n  ours {ours}, CuTe's {answer}"
        for (text, ours, _), answer in zip(asked, theirs, strict=True)
        if answer != ours
    ]
    assert not wrong, "\n".join(wrong)


def test_the_package_tensor_layouts_answers_the_same():
    """Where it means the same: beyond a layout's size, and in products of layouts with gaps, it
    goes other ways than CuTe, and so than ours."""
    theirs = pytest.importorskip("tensor_layouts")
    names = {name: name for name in (*OF_ONE, "complement", "logical_product", "logical_divide")}
    names |= {"composition": "compose", "raked_product": "raked_product"}

    def handed(value):
        return theirs.Layout(value.shape, value.stride) if isinstance(value, Layout) else value

    compared = 0
    for seed in range(8):
        for _, ours, (name, given) in cases(seed):
            ask = getattr(theirs, names.get(name, ""), None)
            beyond = name == "logical_divide" and ours.size != given[0].size
            if name == "composition":
                beyond = isinstance(given[1], tuple) or given[1].cosize > given[0].size
            if ask is None or beyond:
                continue
            answer = ask(*map(handed, given))
            offsets = [answer(i) for i in range(ours.size)]
            assert offsets == ours.offsets().tolist(), f"{name}{given}: {answer}, ours {ours}"
            compared += 1
    assert compared > 100


def test_cute_composes_where_it_should_not(cutes_own):
    """Here the two part on purpose, so that it is noticed when CuTe mends it."""
    a, b = PARTED
    with pytest.raises(LayoutError, match="3 is no multiple of 2"):
        layouts.composition(a, b)
    assert [cutes_own[-1](i) for i in range(4)] != [a(b(i)) for i in range(4)]
