"""``trees`` says who adds which number in a reduction in shared memory."""

import numpy as np
import pytest

from course_utils import load, trees
from course_utils.errors import LessonError

FOLDER = "04_first_kernels/reductions"


def test_the_tree_of_neighbours_adds_two_then_four_then_eight():
    values, sources = trees.steps(load(f"{FOLDER}/02_sum_shared_interleaved.cu"), threads=8)
    assert values[:, 0].tolist() == [1, 3, 10, 36]
    assert sources[1].tolist() == [2, -1, -1, -1, 6, -1, -1, -1]


def test_the_tree_of_halves_fetches_from_the_upper_half():
    values, sources = trees.steps(load(f"{FOLDER}/03_sum_shared_sequential.cu"), threads=8)
    assert values[:, 0].tolist() == [1, 6, 16, 36]
    assert sources[0].tolist() == [4, 5, 6, 7, -1, -1, -1, -1]


def test_the_first_warps_of_the_tree_of_halves_add_with_all_lanes():
    lanes = trees.working_lanes(load(f"{FOLDER}/03_sum_shared_sequential.cu"))
    assert lanes[0].tolist() == [32] * 4 + [0] * 4
    assert lanes.sum(axis=1).tolist() == [128 >> step for step in range(8)]
    assert not np.any(lanes[3:, 1:])


def test_a_kernel_without_a_tree_is_refused():
    with pytest.raises(LessonError, match="no line"):
        trees.working_lanes(load(f"{FOLDER}/01_sum_atomic.cu"))
