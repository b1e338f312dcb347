"""Errors of CuTe's templates, told at the reader's own line."""

from __future__ import annotations

import pytest

from course_utils import load
from course_utils.compiling.diagnostics import CompileError
from course_utils.compiling.headers import cute_header_paths
from course_utils.compiling.template_errors import readable_call, readable_types
from tests.turns import in_turn

SOURCE = """#include <cute/%s.hpp>
using namespace cute;
extern "C" __global__ void wrong(int *out)
{
    auto six = make_layout(make_shape(Int<6>{}, Int<8>{}), make_stride(Int<1>{}, Int<10>{}));
    out[0] = %s;
}
"""


# CuTe's headers take the compiler two seconds, and what it refused isn't kept for the next time.
WRONG = [
    (
        "layout",
        "composition(six, make_layout(Int<9>{}))(1)",
        ("Shape Divisibility", "RShape = 9"),
    ),
    ("layout", "six(1, 2, 3)", ("Mismatched Ranks", "Layout(Shape = (6,8), Stride = (1,10)")),
    (
        "layout",
        "logical_divide(six, make_shape(_1{}, _2{}, _2{}))(1)",
        ("Too many modes", "(1,2,2)"),
    ),
    (
        "tensor",
        "int(make_tensor<float>(make_shape(threadIdx.x))(0))",
        ("Dynamic owning", "Int<8>{}"),
    ),
]


@pytest.mark.skipif(not cute_header_paths(), reason="needs CuTe's headers (the extra cute)")
@pytest.mark.parametrize(
    "header, call, says", [pytest.param(*x, marks=in_turn(n)) for n, x in enumerate(WRONG)]
)
def test_an_error_deep_in_cute_names_the_line_that_called_it(header, call, says):
    with pytest.raises(CompileError) as caught:
        load(source=SOURCE % (header, call), filename="mine.cu")
    error = caught.value
    assert (error.file, error.line) == ("mine.cu", 6)
    assert all(text in str(error) for text in says) and "  -> " in str(error)
    assert len(str(error).splitlines()) <= 5, "one error, told once"
    assert "detected during" in error.log, "the whole of it is kept"


def test_types_are_read_as_the_numbers_they_stand_for():
    spelled = "cute::Layout<cute::tuple<cute::_2, cute::C<-4>>, cute::tuple<cute::Int<1>, int>>"
    assert readable_types(spelled) == "(2,-4):(1,int)"
    call = (
        "auto cute::f<A, B>(const A &, cute::seq<Is...>) [with A=cute::tuple<int, cute::_8>, B=<>]"
    )
    assert readable_call(call) == "f(A = (int,8), B = <>)"


def test_a_compiler_error_of_the_readers_own_is_left_alone():
    with pytest.raises(CompileError) as caught:
        load(source='extern "C" __global__ void k(int* out)\n{ out[0] = x; }\n', filename="mine.cu")
    assert caught.value.line == 2 and "CuTe" not in str(caught.value)
