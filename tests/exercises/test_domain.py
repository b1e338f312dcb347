"""What a task promises is drawn, every alternative at least once; a failing trial is made small."""

from dataclasses import replace

import numpy as np
import pytest

from course_utils.exercises.authoring import domain, kinds
from course_utils.exercises.authoring.domain import DRAWN, Domain, DrawnCases
from course_utils.exercises.authoring.launches import Launch
from course_utils.exercises.authoring.registry import all_exercises, find
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.authoring.worked import worked_size
from course_utils.exercises.judging.runner import run_source
from course_utils.exercises.judging.trials import Trial, all_cases, drawn_trials, smallest

SAXPY, CLAMP, MATMUL = find("04.saxpy"), find("04.clamp"), find("04.batched_matmul")
PROMISING = {
    e.id: e
    for e in all_exercises()
    if isinstance(e, KernelExercise) and isinstance(e.contract, Domain)
}


@pytest.mark.parametrize("name", PROMISING)
def test_a_judgement_has_sixteen_launches_and_meets_every_alternative(name):
    exercise = PROMISING[name]
    trials = drawn_trials(exercise)
    assert len(trials) >= DRAWN and len(trials) + 2 * len(exercise.small) >= 16
    for values in exercise.contract.values:
        met = {change.label for trial in trials for change in trial.changes} | {""}
        assert {value.label for value in values} <= met
    if exercise.contract.sizes:
        sizes = [t.size if isinstance(t.size, tuple) else (t.size,) for t in trials]
        for column, extents in zip(
            zip(*sizes, strict=True), exercise.contract.sizes.extents, strict=True
        ):
            assert set(column) >= set(extents)


@pytest.mark.parametrize("name", PROMISING)
def test_what_is_drawn_keeps_the_parameters_dtypes_and_shapes(name):
    exercise = PROMISING[name]
    for trial in drawn_trials(exercise):
        own = exercise.inputs(np.random.default_rng(trial.seed), trial.size)
        for key, value in trial.given(exercise).items():
            assert (value.dtype, len(value.shape)) == (own[key].dtype, len(own[key].shape)), key
            if value.shape != own[key].shape:  # a result whose size is an input, such as a k
                assert key in exercise.expected(trial.given(exercise)), key
        assert trial.label(exercise)


@pytest.mark.parametrize("name", PROMISING)
def test_every_size_that_is_tried_has_a_label(name):
    exercise = PROMISING[name]
    by_hand = worked_size(exercise)
    for size in (*exercise.small, exercise.full, *([] if by_hand is None else [by_hand])):
        if exercise.contract.sizes and size is not None:
            assert exercise.contract.sizes.label(size)


def test_one_cell_always_gets_the_same_trials():
    assert drawn_trials(CLAMP) == drawn_trials(CLAMP)


def test_a_trial_is_told_by_its_size_its_launch_and_its_values():
    trials = drawn_trials(CLAMP)
    labels = [trial.label(CLAMP) for trial in trials]
    assert all(label.startswith("n = ") for label in labels)
    assert all("grid " in trial.label(CLAMP) for trial in trials if trial.launch)
    assert any("low = 100, high = 2000" in label for label in labels)
    assert Trial((3, 13, 17, 11), 1).label(MATMUL) == "batch = 3, M = 13, N = 17, K = 11"


def test_lengths_lie_on_both_sides_of_a_warp_a_block_and_every_short_index():
    (found,) = domain.lengths().extents
    for limit in (32, 256, 1024, 32767, 65535):
        assert min(found) < limit < max(found)
        assert any(0 < n - limit <= 8 or n - limit == 1 for n in found)
    assert domain.extents(70, of=16) == (16, 32, 48, 64)


def test_each_class_of_values_is_met_at_a_telling_size_and_the_longest_size_with_ordinary_ones():
    trials = drawn_trials(SAXPY)
    telling = {t.changes[0].label for t in trials if t.size == SAXPY.small[0] and t.changes}
    assert telling >= {v.label for values in SAXPY.contract.values for v in values if v.label}
    assert any(t.size == max(domain.LENGTHS) and not t.changes for t in trials)
    shapes = domain.shapes(rows=(1, 2, 300), columns=(1, 7, 9000))
    assert shapes.longest() == [(300, 7), (2, 9000)]


def test_the_longest_size_is_also_launched_with_the_fewest_threads():
    size = max(domain.LENGTHS)
    longest = [t.launches(CLAMP)[0] for t in drawn_trials(CLAMP) if t.size == size and t.seed == 3]
    assert [launch.grid for launch in longest] == [CLAMP.launches(size)[0].grid, (1,)]
    capped = changed(
        CLAMP, ("i < n; i += stride", "i < n && i < first + 256 * stride; i += stride")
    )
    assert capped.kind == kinds.EDGES and "grid 1" in str(capped)


def test_the_smallest_failing_trial_keeps_the_launch_that_it_takes_to_fail():
    trial = Trial(257, 3, 2)
    assert smallest(SAXPY, trial, lambda t: t.launch == 2) == Trial(1, 3, 2)
    assert smallest(SAXPY, trial, lambda t: True) == Trial(1, 3)


def test_the_smallest_failing_trial_has_nothing_in_it_that_it_does_not_take():
    trial = next(t for t in drawn_trials(SAXPY) if t.size > 5000 and t.changes)
    least = smallest(SAXPY, trial, lambda t: t.size > 255)
    assert (least.size, least.launch, least.changes) == (257, 0, ())
    change = trial.changes[0]
    least = smallest(SAXPY, trial, lambda t: change in t.changes)
    assert (least.size, least.changes) == (1, (change,))


def test_making_a_trial_smaller_ends_after_some_launches():
    tried = []
    trial = next(t for t in drawn_trials(MATMUL) if max(t.size) > 60)
    smallest(MATMUL, trial, lambda t: tried.append(t), steps=5)
    assert len(tried) <= 5


def test_values_keep_the_dtype_of_what_they_replace():
    given = {"x": np.arange(-4, 4, dtype=np.int32), "s": np.float32(1)}
    rng = np.random.default_rng(0)
    for values in domain.data("x", *domain.ORDINARY), domain.scalars("s", 2, 1e30):
        for value in values:
            changed = value.applied(given, rng)
            assert changed["x"].dtype == np.int32 and changed["s"].dtype == np.float32


def test_the_classes_are_what_they_say():
    x = np.random.default_rng(0).standard_normal(50, dtype=np.float32)
    made = {label: change(x, np.random.default_rng(1)) for label, change in domain.ANY_ORDERED}
    assert (made["all negative"] < 0).all() and (made["all positive"] > 0).all()
    assert len(set(made["with ties"].tolist())) < 10
    assert (np.diff(made["rising"]) >= 0).all() and (np.diff(made["falling"]) <= 0).all()
    assert np.isinf(made["some ±inf"]).any() and np.isfinite(made["some ±inf"]).any()
    assert (made["all below -1e30"] <= -1e30).all()


def test_cases_are_drawn_behind_the_fixed_ones_the_shortest_first():
    exercise = find("04.blocks_for")
    cases = all_cases(exercise)
    assert cases[: len(exercise.cases)] == exercise.cases
    drawn = cases[len(exercise.cases) :]
    assert len(drawn) == DrawnCases(lambda rng: ()).count >= 16
    assert [len(repr(case)) for case in drawn] == sorted(len(repr(case)) for case in drawn)


def test_large_cases_come_last_and_are_made_when_they_are_tried():
    made = []
    cases = DrawnCases(lambda rng: (1,), count=2, large=lambda: made.append(1) or ((10**9,),))
    exercise = replace(find("04.blocks_for"), contract=cases)
    assert not made
    assert all_cases(exercise)[-3:] == ((1,), (1,), (10**9,)) and made


def test_a_task_in_c_ends_with_what_is_tried_and_says_whose_main_is_run():
    text = find("02.min_max").task_text
    assert text.endswith("Tried: n from 1 to 70,000, any ints.") and "isn't run" in text
    assert "main" not in find("06.loop_order").task_text


def changed(exercise, *changes):
    source = exercise.solution
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return run_source(exercise, source)


# A mistake that no fixed size shows, the verdict, and the trial it is shown by.
MISTAKES = {
    "a short index": (SAXPY, ("const int i", "const short i"), kinds.OUT_OF_BOUNDS, "(n = 65543)"),
    "only positive a": (SAXPY, ("= a *", "= fabsf(a) *"), kinds.WRONG, "(n = 1, a = -"),
    "constant limits": (CLAMP, ("low)", "-0.5f)"), kinds.WRONG, "(n = 1, low = "),
    "constant stride": (
        CLAMP,
        ("gridDim.x * blockDim.x", "max(gridDim.x, 2) * 256"),
        kinds.PARTLY_WRITTEN,
        "grid 1, block 256)",
    ),
    "1e30 for infinity": (
        find("04.block_min"),
        ("i < n ? x[i] : infinity", "i < n ? x[i] : 1e30f"),
        kinds.WRONG,
        "(n = 1, x large (about 1e30))",
    ),
    "a char in the loop": (MATMUL, ("int k = 0", "signed char k = 0"), kinds.OUT_OF_BOUNDS, "131"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_that_the_fixed_sizes_hide_is_shown_by_its_smallest_trial(case):
    exercise, change, kind, words = MISTAKES[case]
    outcome = changed(exercise, change)
    assert outcome.kind == kind, outcome
    assert words in str(outcome)


def test_a_launch_may_be_one_of_several_kernels():
    launches = domain.grids((2, 64), ((1, 2), (8, 8)))
    assert launches(5) == [Launch((2,), (64,)), Launch((1, 2), (8, 8))]


def test_an_answer_that_is_right_only_in_lockstep_depends_on_the_order():
    outcome = changed(
        find("04.warp_max"), ("__shfl_down_sync(kWholeWarp", "__shfl_down_sync(__activemask()")
    )
    assert outcome.kind == kinds.ORDER, outcome
    assert "some lanes of a warp ahead of the others" in str(outcome)


def test_sizes_of_which_nothing_is_left_over_are_tried():
    shapes = domain.shapes(rows=(1, 2, 300), columns=(4, 8, 12, 9000), taps=(1, 31))
    assert shapes.whole() == [(64, 8, 31), (256, 8, 31), (2, 64, 31), (2, 1024, 31)]
    assert domain.shapes(n=(6, 600)).whole() == []  # a power of two is no multiple of six
    assert {64, 1024} <= {trial.size for trial in drawn_trials(SAXPY)}
    left = changed(SAXPY, ("i < n", "i < n - (n % 256 == 0)"))
    assert left.kind == kinds.EDGES, left


def test_what_is_counted_is_looked_at_before_its_result_is_called_right():
    """At the size at which threads are counted, a multiple of the block, the last block is idle."""
    found = changed(
        find("03.hypotenuse"),
        ("i < n", "i < n && (blockIdx.x != (n - 1) / 256 || threadIdx.x < n % 256)"),
    )
    assert found.kind == kinds.FIRST_BLOCK, found


def test_each_extent_has_one_longest_size():
    sizes = domain.shapes(m=(1, 2), n=(1, 3)).with_outlier(m=70).with_outlier(n=90)
    assert sizes.alone == {"m": 70, "n": 90}
    with pytest.raises(ValueError, match="m has its longest already, 70"):
        sizes.with_outlier(m=80)


def test_the_last_element_alone_is_made_infinite():
    _, change = domain.LAST_INFINITE
    x = np.ones((2, 3), np.float32)
    assert np.isinf(change(x, np.random.default_rng(1))).tolist() == [[0, 0, 0], [0, 0, 1]]
    assert not np.isinf(x).any()
