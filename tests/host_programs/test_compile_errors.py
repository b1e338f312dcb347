"""Errors as gcc and clang say them: an error in a template names the line that instantiates it."""

from __future__ import annotations

import pytest

from course_utils.host_programs.building import compile_error
from course_utils.process_groups import Ended

GCC = """c.cpp: In instantiation of 'T twice(T) [with T = int]':
c.cpp:9:55:   required from 'T four(T) [with T = int]'
c.cpp:12:17:   required from here
c.cpp:6:14: error: request for member 'value' in 'x', which is of non-class type 'int'
    6 |     return x.value() + x;
      |            ~~^~~~~
"""
CLANG = """c.cpp:6:13: error: member reference base type 'int' is not a structure or union
    6 |     return x.value() + x;
      |            ~^~~~~~
c.cpp:9:49: note: in instantiation of function template specialization 'twice<int>' requested here
c.cpp:12:13: note: in instantiation of function template specialization 'four<int>' requested here
1 error generated.
"""
IN_A_LIBRARY = """In file included from /usr/include/c++/12/vector:63,
                 from c.cpp:2:
/usr/include/c++/12/bits/stl_uninitialized.h: In instantiation of 'constexpr bool check()':
/usr/include/c++/12/bits/stl_vector.h:601:31:   required from 'std::vector<T>::vector()'
c.cpp:7:14:   required from here
/usr/include/c++/12/bits/stl_uninitialized.h:90:56: error: static assertion failed: result type
   90 |       static_assert(is_constructible<_ValueType, _Tp>::value,
"""
PLAIN = """c.cpp:11:13: error: 'nope' was not declared in this scope
c.cpp: In instantiation of 'T twice(T) [with T = int]':
c.cpp:10:18:   required from here
c.cpp:6:14: error: request for member 'value' in 'x', which is of non-class type 'int'
"""


def verdict_on(output: str):
    return compile_error(Ended(1, "", output, ""), ["c.cpp"])


@pytest.mark.parametrize("output", [GCC, CLANG])
def test_the_call_that_instantiates_a_template_is_named(output):
    verdict = verdict_on(output)
    assert verdict.message.startswith("line 6: ")
    assert verdict.message.endswith(", instantiated from line 12")


def test_gcc_s_lines_before_the_error_stay():
    assert verdict_on(GCC).excerpt.splitlines() == GCC.splitlines()


def test_of_a_library_s_template_the_line_that_used_it_is_all():
    verdict = verdict_on(IN_A_LIBRARY)
    assert verdict.message.startswith("line 7: static assertion failed")
    assert verdict.excerpt.splitlines()[0] == "c.cpp:7:14:   required from here"


def test_an_error_outside_of_templates_is_told_alone():
    assert "instantiated" not in verdict_on(PLAIN).message


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        ("function 'total'", "Include the header"),
        ("library function 'puts' with type 'int (const char *)'", "Include the header"),
        ("function 'min'", "write a loop"),
    ],
)
def test_clang_s_words_for_a_function_that_is_not_declared_have_its_advice(function, advice):
    said = f"call to undeclared {function}; ISO C99 and later do not support implicit declarations"
    assert advice in verdict_on(f"c.cpp:3:5: error: {said}\n").hint
