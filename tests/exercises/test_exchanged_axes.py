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


def test_an_access_past_the_end_may_come_of_exchanged_axes():
    exercise = find("06.wmma_product")
    swapped = re.sub(
        r"blockIdx\.([xy])", lambda m: "blockIdx." + "yx"[m[1] == "y"], exercise.solution
    )
    verdict = str(run_source(exercise, swapped))
    assert verdict.startswith("OUT OF BOUNDS") and FACT in verdict, verdict


def test_edges_that_are_all_other_blocks_are_asked_about():
    exercise = find("08.own_wgmma")
    wrong = exercise.solution.replace("&B, step * 64, first_column", "&B, step * 64, first_row")
    assert wrong != exercise.solution
    assert "the tile of block (0, 0)" in run_source(exercise, wrong).verdict.hint


def test_a_missing_last_column_is_no_missing_block_index():
    exercise = find("06.coalesced_matmul")
    wrong = exercise.solution.replace("column < N", "column < N - 1")
    verdict = run_source(exercise, wrong).verdict
    assert not verdict.passed and "block (0, 0)" not in verdict.hint


def test_x_and_z_of_a_grid_are_told_apart_too():
    exercise = find("04.batched_matmul")
    swapped = re.sub(
        r"blockIdx\.([xz])", lambda m: "blockIdx." + "zx"[m[1] == "z"], exercise.solution
    )
    verdict = str(run_source(exercise, swapped))
    assert "If x and z of the grid are exchanged in the launch" in verdict, verdict
