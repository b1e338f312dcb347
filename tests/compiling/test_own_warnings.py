"""Which compiler warnings a reader is shown: those about their own code that may matter."""

from course_utils.compiling.own_warnings import MOST_WARNINGS, own_warnings

MISTAKE = 'k.cu({}): warning #187-D: use of "=" where "==" may have been intended'
LOG = "\n".join(
    [
        'k.cu(3): warning #177-D: variable "i" was declared but never referenced',
        'k.cu(4): warning #550-D: variable "j" was set but never used',
        '/usr/include/cub/warp.cuh(132): warning #1444-D: declared "deprecated"',
        MISTAKE.format(5),
        "      if (n = 3) x[0] = 1;",
        "            ^",
        MISTAKE.format(5),
    ]
)


def test_headers_and_unused_variables_are_left_out_and_nothing_comes_twice():
    assert own_warnings(LOG) == [MISTAKE.format(5)]


def test_a_few_are_enough():
    many = "\n".join(MISTAKE.format(line) for line in range(9))
    assert len(own_warnings(many)) == MOST_WARNINGS
    assert own_warnings("") == []
