"""The name of an element, and the inputs that belong to it."""

import numpy as np
import pytest

from course_utils.checking.indices import at_index, element, named_index

MATRIX = np.arange(6).reshape(2, 3)


@pytest.mark.parametrize(
    ("index", "shape", "inputs", "found"),
    [
        ((4,), (6,), {"x": np.arange(6) * 10}, {"x[4]": 40}),
        ((1, 2), (2, 3), {"a": MATRIX, "b": -MATRIX}, {"a[1, 2]": 5, "b[1, 2]": -5}),
        ((1, 0), (2, 3), {"flat": np.arange(6)}, {"flat[3]": 3}),
        ((3,), (6,), {"a": MATRIX}, {"a[1, 0]": 3}),
        ((0,), (3,), {"n": np.int32(3), "scale": 0.5}, {"n": 3, "scale": 0.5}),
        ((1, 2), (2, 3), {"turned": MATRIX.T, "row": np.arange(3)}, {}),
    ],
)
def test_the_inputs_at_an_index_are_those_of_as_many_elements_and_single_numbers(
    index, shape, inputs, found
):
    assert at_index(index, shape, inputs) == found


def test_an_element_is_named_by_its_index_and_by_its_axes():
    assert element("c", (3, 7)) == "c[3, 7]" and element("y", (4,)) == "y[4]"
    assert named_index((3, 7)) == "row 3, column 7"
    assert named_index((2, 3, 7)) == "matrix 2, row 3, column 7"
    assert named_index((1, 0, 3), ("head", "query", "key")) == "head 1, query 0, key 3"
    assert named_index((4,)) == "" and named_index((4,), ("key",)) == "key 4"
