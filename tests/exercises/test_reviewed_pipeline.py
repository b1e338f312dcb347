"""The kernel of 08.review_the_pipeline has its spec's faults: one repaired line each."""

from __future__ import annotations

import re

import numpy as np
import pytest

from course_utils import cp, load, sanitize, tensor_map
from course_utils.compiling.headers import cute_header_paths
from course_utils.exercises.authoring.registry import find

COUNTED = re.compile(r"^ ?\d+(?:  |$)", re.MULTILINE)
ROWS = 40
REPAIRED = {
    8: "    params.transaction_bytes = sizeof(ring[0]);",
    11: "    params.num_consumers = 32;",
    17: "        auto next = cutlass::make_producer_start_state<Pipeline>();",
    29: "            pipeline.consumer_release(read); ++read;",
}
HEADERS = "<cute/tensor.hpp>", "<cutlass/pipeline/sm90_pipeline.hpp>", '"tma.cuh"'
ABOVE = "\n".join(f"#include {header}" for header in HEADERS) + "\nusing namespace cute;\n"


def lines() -> dict[int, str]:
    """The page's kernel by the numbers of its lines."""
    text = find("08.review_the_pipeline").task.split("```")[1].removeprefix("text\n")
    return dict(enumerate(COUNTED.sub("", text).splitlines(), 1))


def run(*repaired: int) -> tuple[str, bool]:
    """What sanitize says with some lines repaired, and whether the sums are right."""
    source = "\n".join(REPAIRED[n] if n in repaired else line for n, line in lines().items())
    kernel = load(source=ABOVE + source, arch="sm_90a", device="emulator")
    numbers = np.arange(ROWS * 32, dtype=np.float32).reshape(ROWS, 32) % 7
    x, w, y = cp.asarray(numbers), cp.asarray(numbers + 1), cp.zeros(32, np.float32)
    report = sanitize(kernel, 1, 64, (tensor_map(x, (8, 32)), tensor_map(w, (8, 32)), y, ROWS))
    expected = (numbers * (numbers + 1)).sum(0)
    return str(report), not report.findings and np.array_equal(y.get(), expected)


@pytest.mark.gpu  # the compiler takes seconds for CuTe's headers
@pytest.mark.skipif(not cute_header_paths(), reason="needs the extra cute")
@pytest.mark.parametrize("line", [*REPAIRED, None])
def test_each_fault_is_one_and_no_other_line_has_any(line: int | None) -> None:
    """With all others repaired the kernel is still wrong, or reported; with all it is right."""
    report, right = run(*(REPAIRED.keys() - {line}))
    assert right == (line is None), report


def test_the_answer_names_the_lines() -> None:
    """The solution's lines are the ones that the repairs above replace."""
    found: dict[str, dict[int, str]] = {}
    exec(find("08.review_the_pipeline").solution + "\nanswer = review_the_pipeline()", found)
    assert found["answer"].keys() == REPAIRED.keys()
