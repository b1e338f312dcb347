"""Layouts drawn at random: nested, permuted, with gaps and repeated offsets."""

from __future__ import annotations

from random import Random

from course_utils.layouts.int_tuples import IntTuple, flatten
from course_utils.layouts.layout import Layout


def shape_at_random(rng: Random, depth: int = 2) -> IntTuple:
    if depth == 0 or rng.random() < 0.45:
        return rng.choice((1, 2, 2, 3, 4, 4, 6, 8))
    return tuple(shape_at_random(rng, depth - 1) for _ in range(rng.choice((1, 2, 2, 3))))


def layout_at_random(rng: Random, repeats: bool = True) -> Layout:
    """A layout whose modes follow one another in any order, some with a gap after them and, with
    ``repeats``, some of stride 0."""
    shape = shape_at_random(rng)
    extents = flatten(shape)
    order = list(range(len(extents)))
    rng.shuffle(order)
    strides, reach = [0] * len(extents), rng.choice((1, 1, 2))
    for place in order:
        strides[place] = reach
        reach *= extents[place] * rng.choice((1, 1, 1, 2, 3))
    if repeats and rng.random() < 0.2:
        strides[rng.randrange(len(strides))] = 0
    numbers = iter(strides)

    def nested(value: IntTuple) -> IntTuple:
        return next(numbers) if isinstance(value, int) else tuple(map(nested, value))

    return Layout(shape, nested(shape))
