"""x and y of a launch that a kernel takes for each other are named."""

import re

import pytest

from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.runner import run_source

FACT = "If x and y of the grid are exchanged in the launch, the result is right."


@pytest.mark.parametrize("name", ["06.tiled_matmul", "06.own_gemm"])
def test_blocks_along_the_wrong_axis(name):
    exercise = find(name)
    swapped = re.sub(
        r"blockIdx\.([xy])", lambda m: "blockIdx." + "yx"[m[1] == "y"], exercise.solution
    )
    assert swapped != exercise.solution
    verdict = str(run_source(exercise, swapped))
    assert FACT in verdict and "The launch is grid (ceil(N / " in verdict, verdict


def test_another_mistake_at_the_edge_is_not_called_so():
    exercise = find("06.coalesced_matmul")
    wrong = exercise.solution.replace("row < M", "row < M - 1")
    assert wrong != exercise.solution
    verdict = run_source(exercise, wrong)
    assert not verdict.passed and FACT not in str(verdict)
