"""Every exercise has a contract, and every kernel a method."""

import pytest

from course_utils.exercises.authoring.domain import Domain, DrawnCases
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.registry import all_exercises
from course_utils.exercises.authoring.spec import KernelExercise, NumberExercise

# A prediction is of one launch: nothing can be drawn, and any way to it is right.
EXERCISES = {e.id: e for e in all_exercises() if not isinstance(e, NumberExercise)}
KERNELS = {name: e for name, e in EXERCISES.items() if isinstance(e, KernelExercise)}
# A sentence of each says why.
ALL_IN_THE_CASES = {
    "01.choose_a_way",
    "01.deliver",
    "01.review_softmax",
    "01.runtime",
    "01.test_port",
    "02.read_symbols",
    "02.review_index",
    "02.review_owner",
    "02.small_struct",
    "02.test_reverse",
    "04.accept_a_sum",
    "04.read_five_reports",
    "04.review_pipeline",
    "04.review_the_change",
    "04.review_the_count",
    "04.tell_them_apart",
    "05.read_list",
    "05.review_gemm",
    "05.test_stream",
    "06.read_three_gemms",
    "06.review_product",
    "06.test_convolution",
    "06.test_softmax",
    "07.review_pairs",
    "07.review_quantiser",
    "07.test_layer_norm",
    "08.read_the_opcodes",
    "08.review_the_loader",
    "08.review_the_pipeline",
    "08.test_swizzle",
    "09.read_the_launches",
    "09.test_gradient",
    "09.test_max_pool",
}


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_a_kernel_has_a_domain_and_requirements(name):
    exercise = KERNELS[name]
    assert isinstance(exercise.contract, Domain) and exercise.contract != Domain()
    assert exercise.method and all(isinstance(m, Requirement) for m in exercise.method)


@pytest.mark.parametrize("name", sorted(EXERCISES.keys() - KERNELS.keys()))
def test_an_exercise_on_the_cpu_draws_cases_unless_its_fixed_ones_are_all(name):
    contract = EXERCISES[name].contract
    assert isinstance(contract, str if name in ALL_IN_THE_CASES else DrawnCases) and contract


def test_extents_that_go_together_are_not_mixed():
    """A search for the smallest failing size takes each extent from one of two sizes."""
    linked = [
        one.contract.sizes
        for one in KERNELS.values()
        if isinstance(one.contract, Domain) and type(one.contract.sizes).__name__ == "Together"
    ]
    assert linked
    for sizes in linked:
        low, high = sizes.sizes[0], sizes.sizes[-1]
        for mixed in ((*low[:-1], high[-1]), (high[0], *low[1:]), low, high):
            assert sizes.of(mixed) in sizes.sizes
        assert sizes.of(high) == high
