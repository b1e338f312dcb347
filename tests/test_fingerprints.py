"""Fingerprints go by code: what isn't code changes none."""

import pytest

from course_utils.fingerprints import code_of

KERNEL = """#include "tile.cuh"
// Adds.
__global__ void add(float* x) {
    x[0] += 1;  /* one */
}
"""
PROGRAM = "def f(x):\n    return x + 1\n"


@pytest.mark.parametrize(
    ("suffix", "text", "same"),
    [
        (".cu", KERNEL, "__global__ void add(float* x) {\n\n  x[0]  += 1;\n}"),
        (".py", PROGRAM, "# adds\ndef f(x):\n\n    return (x\n        + 1)"),
        (".json", "[1]\n", "[1]\r\n"),
    ],
)
def test_what_is_no_code_does_not_count(suffix, text, same):
    assert code_of(text, suffix) == code_of(same, suffix)


@pytest.mark.parametrize(
    ("suffix", "text", "other"),
    [
        (".cu", KERNEL, KERNEL.replace("1", "2")),
        (".cu", 'f("a  b")', 'f("a //b")'),
        (".py", PROGRAM, PROGRAM.replace("1", "2")),
        (".py", "def f(:", "def f(::"),
        (".json", "[1]", "[ 1]"),
    ],
)
def test_what_is_code_counts(suffix, text, other):
    assert code_of(text, suffix) != code_of(other, suffix)
