"""Every exercise: its solution passes, its starter does not, and no mutant slips by."""

import re

import numpy as np
import pytest

from course_utils.compiling import signature
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.counted_numbers import counted
from course_utils.exercises.authoring.launches import Empty
from course_utils.exercises.authoring.registry import all_exercises, find
from course_utils.exercises.authoring.spec import KernelExercise, NumberExercise
from course_utils.exercises.judging.runner import run_source
from course_utils.exercises.judging.verify import Proof, proofs, table
from tests.turns import has_turn, in_turn, one_of, seldom, turn

EXERCISES = {exercise.id: exercise for exercise in all_exercises()}
UNBROKEN = {name: e for name, e in EXERCISES.items() if not e.bug}
BUGS = {name: e for name, e in EXERCISES.items() if e.bug}
NUMBERS = {name: e for name, e in EXERCISES.items() if isinstance(e, NumberExercise)}
PREDICTED = {exercise.source for exercise in NUMBERS.values()}
KERNELS = {name: e for name, e in EXERCISES.items() if isinstance(e, KernelExercise)}
PAIRS = {"float2": np.float32, "uint4": np.uint32}  # the parts one after the other
WHOLE_TILES = re.compile(r"(is a multiple|are multiples) of")
ANY_SHAPE = {
    name: e for name, e in KERNELS.items() if not WHOLE_TILES.search(e.text.replace("\n//", ""))
}


# The compiler takes up to ten seconds of a core for one of these, and no other test compiles it.
OF_CUTE = {
    name: e for name, e in KERNELS.items() if re.search(r"#include <cute/(?!layout)", e.solution)
}
BRIEFLY = [n for place, n in enumerate(EXERCISES) if not has_turn(place, turn())]


def in_thirds(names):
    return [pytest.param(name, marks=in_turn(place)) for place, name in enumerate(names)]


# Where one of everything gives no result, or nothing but zeros: the least that tells.
LEAST = {
    "04.argmax_rows": (1, 37),
    "04.find_the_missing_barrier": (1, 37),
    "04.doubling_max": 2,
    "04.draw_a_ticket": 256,
    "04.swing": 2,
    "04.walk_down": (3, 1),
    "05.convolution_part": (1, 1, 0, 1),
    "05.pass_on": (2, 1),
    "07.causal_tiles": (1, 0),
    "07.cross_entropy_rows": (1, 2),
    "07.layer_norm_gradient": (1, 5),
    "07.loss_gradient": (1, 2),
    "07.loss_of_tokens": (1, 2),
    "07.top_two": (1, 2),
    "07.polynomial_slope": (1, 4),
    "07.q_times": (1, 1, 0),
    "07.strided_polynomial": (1, 1, 0),
    "07.three_products": 8,
    "07.welford_rows": (1, 2),
    "09.cross_entropy_backward": (1, 2),
    "09.cross_entropy_forward": (1, 2),
    "09.norm_backward": (2, 1, 3),
    "09.pool_backward": (1, 2, 2),
    "09.pool_in_pairs": (1, 2, 2),
    "09.pool_forward": (1, 2, 2),
}


def hold(found):
    for proof in found:
        assert proof.holds, f"{proof.text}: expected {proof.expected}\n{proof.detail}"


@pytest.mark.parametrize("name", in_thirds(EXERCISES))
def test_a_solution_passes(name):
    hold(proofs(EXERCISES[name], starter=False, mutants=slice(0)))


@pytest.mark.parametrize("name", [name for name in BRIEFLY if name not in OF_CUTE])
def test_a_solution_passes_at_its_fixed_sizes(name):
    """In the turns in which nothing is drawn from its contract."""
    brief = EXERCISES[name].with_fields(contract=None)
    hold(proofs(brief, starter=False, mutants=slice(0)))


@pytest.mark.parametrize("name", in_thirds(UNBROKEN))
def test_a_starter_does_not_pass(name):
    """That of an exercise with a planted fault is tried below."""
    hold(proofs(EXERCISES[name], solution=False, mutants=slice(0)))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=seldom(place) if name in OF_CUTE else in_turn(place))
        for place, name in enumerate(EXERCISES)
    ],
)
def test_a_wrong_answer_gets_its_verdict(name):
    """One of each exercise, another one at each turn; `make prove` tries all. One in CuTe takes the
    compiler up to 16 seconds: it has one of nine turns."""
    one = one_of(len(EXERCISES[name].mutants))
    hold(proofs(EXERCISES[name], starter=False, solution=False, mutants=one))


@pytest.mark.parametrize("name", UNBROKEN)
def test_the_untouched_starter_is_not_started_whatever_its_white_space(name):
    starter = EXERCISES[name].starter
    assert run_source(EXERCISES[name], starter).kind == kinds.NOT_STARTED
    assert run_source(EXERCISES[name], starter.replace("\n", "\n\n")).kind == kinds.NOT_STARTED


@pytest.mark.parametrize("name", BUGS)
def test_the_starter_of_a_find_the_bug_exercise_runs_and_shows_its_fault(name):
    outcome = run_source(BUGS[name], BUGS[name].starter)
    if outcome.kind in kinds.NOT_HERE:
        pytest.skip(outcome.verdict.message)
    assert outcome.kind == BUGS[name].bug
    numbers = (
        kinds.TARGET_MISSED,
        kinds.PRECISION,
        kinds.WRONG,
        kinds.PARTLY_WRITTEN,
    )  # they come from no one line; nor does Python
    faulty = name in KERNELS and outcome.kind not in numbers
    assert outcome.verdict.excerpt or not faulty
    assert "TODO" not in BUGS[name].starter and "BUG" not in BUGS[name].starter


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_has_three_hints_a_wrong_answer_and_an_explanation(name):
    exercise = EXERCISES[name]
    assert len(exercise.hints) >= 3
    assert len({mutant.kind for mutant in exercise.mutants}) >= (2 if name in KERNELS else 1)
    assert {mutant.kind for mutant in exercise.mutants} <= set(kinds.KINDS)
    assert exercise.explanation.strip() and exercise.task.strip()


@pytest.mark.parametrize("name", [n for n in UNBROKEN if UNBROKEN[n].source not in PREDICTED])
def test_the_starter_shows_no_line_of_the_solution_that_is_cut(name):
    starter = EXERCISES[name].starter
    assert "SOLUTION" not in starter and "// END" not in starter and "TODO:" in starter
    assert "TODO" not in EXERCISES[name].solution


@pytest.mark.parametrize("name", KERNELS)
def test_the_inputs_have_the_kernel_s_parameters_and_dtypes(name):
    exercise = KERNELS[name]
    given = exercise.inputs(np.random.default_rng(0), exercise.small[0])
    for launch in exercise.launches(exercise.small[0]):
        text = exercise.with_probe(exercise.solution)
        kernel = signature.kernels(text)[launch.kernel or exercise.kernel]
        if launch.arguments is None:
            assert list(given) == [parameter.name for parameter in kernel.parameters]
        # A launch that names its arguments may pass another array in one's place.
        names = launch.arguments or given
        for name, parameter in zip(names, kernel.parameters, strict=True):
            value = given[name]
            assert name == parameter.name or parameter.pointer
            if name in exercise.maps:
                assert parameter.c_type == "TensorMap"
                continue
            assert value.dtype == (parameter.dtype or PAIRS[parameter.c_type]), parameter.name
            assert isinstance(value, (Empty, np.ndarray)) == parameter.pointer, parameter.name


@pytest.mark.parametrize("name", NUMBERS)
def test_a_prediction_s_right_answer_is_counted_and_no_trap_is_right(name):
    exercise = NUMBERS[name]
    text = (exercise.starter, exercise.source, exercise.task)
    for key, value in counted(exercise).items():
        assert value > 0 and value not in exercise.asks[key].traps
        assert f"{key} = {value:g}" in exercise.solution
        assert not any(f"{key} = {value:g}" in part for part in text)


@pytest.mark.parametrize("name", ANY_SHAPE)
def test_the_small_sizes_hold_a_single_element_and_no_multiple_of_a_block(name):
    small = KERNELS[name].small
    assert small[-1] in (1, LEAST.get(name, (1,) * np.size(small[-1])))
    assert np.size(small[0]) == 1 or len(set(small[0])) > 1
    assert KERNELS[name].bug or all(extent % 16 or not extent for extent in np.atleast_1d(small[0]))


def test_an_unknown_exercise_is_answered_with_the_closest_names():
    with pytest.raises(KeyError, match="did you mean 04.saxpy"):
        find("04.saxby")


def test_the_table_of_proofs_counts_what_holds():
    good = Proof("04.a", "solution", "pass", "pass", "", 0.1)
    bad = Proof("04.a", "no guard", "out of bounds", "pass", "", 0.1)
    lines = table([good, bad]).splitlines()
    assert lines[1].endswith("ok") and lines[2].endswith("FAILS")
    assert lines[-1] == "1 exercises, 1 mutants: 1 of 2 hold"


def test_a_mutant_that_no_longer_fits_the_solution_is_refused():
    mutant = find("04.saxpy").mutants[0]
    with pytest.raises(ValueError, match="occurs 0 times"):
        mutant.apply("nothing like it")
