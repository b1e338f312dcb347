"""Pages that show a program or a report: their lines and numbers are those that the judge means."""

from __future__ import annotations

import re

import numpy as np
import pytest
from repairs import Reviewed

from course_utils import cp, load, profile
from course_utils.exercises.authoring.registry import find

PIPELINE = Reviewed(  # a fragment of each line with a mistake; a host program, so no repairs
    "04.review_pipeline",
    {
        6: (("cudaMalloc(&d_x, n)", ""),),
        12: (("count = std::min(", ""),),
        15: (("h_x + first, d_x + first", ""),),
        17: (("scale<<<", ""),),
        18: (("d_x, count);", ""),),
        23: (("h_y[0]", ""),),
    },
)


def test_the_mistakes_of_the_reviewed_program_are_in_the_lines_that_the_judge_expects():
    assert PIPELINE.names_its_lines()


def test_the_report_on_the_page_is_that_of_the_launch_to_be_found():
    exercise = find("03.find_the_launch")
    n, blocks, threads = exercise.asks["elements"].size
    x, y = cp.zeros(n, dtype=cp.float32), cp.zeros(n, dtype=cp.float32)
    first = cp.zeros(blocks, dtype=cp.float32)
    kernel = load(source=exercise.text, filename="centre.cu")
    report = profile(kernel, (blocks,), (threads,), (x, y, first, np.int32(n)))
    assert str(report.numbers_by_memory) in exercise.task


# By the word of each mistake, a fragment of one of the lines at which it may be named.
REVIEWED = {
    "02.review_owner": {
        "copy": "~Floats()",
        "side": "float times(",
        "owner": "scale(Floats x,",
        "reference": "const float &factor)",
        "capture": "[&factor]",
        "dangles": "factors.push_back",
    },
    "05.review_gemm": {
        "beta": "zero = 1",
        "handle": "cublasCreate(",
        "status": "cublasSgemm(",
        "extents": "m, n, k, &one",
        "leading dimension": "W + layer",
        "offset": "Y + layer",
    },
}


@pytest.mark.parametrize("name", REVIEWED)
def test_each_mistake_may_be_named_at_its_line(name):
    exercise = find(name)
    places = exercise.call.__globals__["MISTAKES"]
    lines = dict(re.findall(r"^ ?(\d+)  (.*)$", exercise.task, re.M))
    assert places.keys() == REVIEWED[name].keys()
    for word, fragment in REVIEWED[name].items():
        assert any(fragment in lines[str(number)] for number in places[word]), word


def test_the_names_of_the_report_are_those_that_the_judge_expects():
    exercise = find("02.read_symbols")
    names = exercise.call.__globals__["NAMES"]
    listed = re.findall(r"([TU]) (\w+)$", exercise.task, re.M)
    defined = [name for kind, name in listed if kind == "T"]
    libraries = {"printf", "sqrtf", "__isoc99_scanf"}
    wanted = {name for kind, name in listed if kind == "U"} - libraries
    assert names["twice"] == {name for name in defined if defined.count(name) > 1}
    assert names["undefined"] == wanted - set(defined)
