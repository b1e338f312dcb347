"""A case that can't be worked by hand says at which size the answer is still right."""

from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.runner import run_source


def changed(name, old, new):
    solution = find(name).solution
    assert solution.count(old) == 1
    return str(run_source(find(name), solution.replace(old, new)))


def test_the_next_smaller_size_that_is_right_is_named():
    verdict = changed("04.last_block", "block += kThreads", "block += gridDim.x")
    assert "Right with n = 32771, wrong with n = 65543" in verdict, verdict


def test_a_case_of_the_same_size_with_too_many_numbers_is_left_out():
    verdict = changed(
        "08.bias_and_relu", "y = row + group + i / 2 * 8", "y = row + group + i % 2 * 8"
    )
    assert verdict.startswith("PARTLY WRITTEN") and "A smaller case" not in verdict, verdict


def test_all_of_the_other_sign_are_not_called_a_missing_factor():
    verdict = changed("06.softmax_gradient", "(gradients[k] - sum)", "(sum - gradients[k])")
    assert "the wrong sign" in verdict and "a minus missing" in verdict, verdict
