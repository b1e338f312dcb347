"""The emulator follows the PTX manual where NVIDIA's assembler does not."""

import pytest
import random_programs
from departures import (
    DEPARTURES,
    leaves_upper_half,
    loses_its_guard,
    mistakes_one_register_for_two,
)

from course_utils.emulator import EmulatedModule


@pytest.mark.parametrize("departure", DEPARTURES, ids=lambda d: d.name)
def test_the_emulator_leaves_what_the_manual_asks_for(departure):
    (words,) = departure.arguments()
    EmulatedModule(departure.text).entry("run").launch(1, 1, (words,))
    assert words[0] == departure.manual != departure.silicon


def computations(body):
    for node in body:
        if isinstance(node, random_programs.Compute):
            yield node
        for inner in (getattr(node, "body", []), getattr(node, "other", [])):
            yield from computations(inner)


def test_random_programs_keep_clear_of_the_forms_that_the_assembler_mistakes():
    guarded = twice = 0
    for seed in range(200):
        for node in computations(random_programs.program(seed).body):
            guarded += bool(node.guard) and loses_its_guard(node.form)
            sources = [s for s in node.sources if s[0] in "hw"]
            twice += mistakes_one_register_for_two(node.form) and len({*sources}) < len(sources)
    assert (guarded, twice) == (0, 0)


@pytest.mark.parametrize(
    "form, upper_half, guard",
    [
        ("set.lt.f16.f16", True, True),
        ("set.lt.and.bf16.bf16", True, True),
        ("set.lt.f32.f64", False, True),
        ("set.lt.f16x2.f16x2", False, False),
        ("set.lt.u32.f32", False, False),
        ("set.lt.u32.f16", False, True),
        ("set.lt.u16.f16", True, True),
        ("testp.number.f64", False, True),
        ("setp.lt.f16", False, False),
    ],
)
def test_forms_that_the_assembler_mistakes_are_told_from_those_it_does_not(form, upper_half, guard):
    assert (leaves_upper_half(form), loses_its_guard(form)) == (upper_half, guard)
