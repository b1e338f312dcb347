"""What CuTe itself answers: layouts computed by its headers in a kernel, on whichever device."""

from __future__ import annotations

import numpy as np

from course_utils import cp, load
from course_utils.layouts.int_tuples import IntTuple
from course_utils.layouts.layout import Layout

OPEN, CLOSE, END = -1, -2, -3
ROOM = 64  # numbers a layout's shape or stride may take

SOURCE = """
#include <cute/layout.hpp>
using namespace cute;

// A nested tuple as numbers: its parentheses are -1 and -2.
template <class T>
__device__ int* write(int* at, T const& value)
{
    if constexpr (is_tuple<T>::value) {
        *at++ = -1;
        for_each(value, [&](auto const& part) { at = write(at, part); });
        *at++ = -2;
    } else {
        *at++ = int(value);
    }
    return at;
}

template <class L>
__device__ void answer(int* out, int index, L const& layout)
{
    *write(out + index * 128, layout.shape()) = -3;
    *write(out + index * 128 + 64, layout.stride()) = -3;
}

extern "C" __global__ void answers(int* out)
{
%s
}
"""


def written(value: IntTuple | Layout) -> str:
    """``value`` in CuTe's C++, every number known to the compiler."""
    if isinstance(value, Layout):
        return f"make_layout({written(value.shape)}, {written(value.stride)})"
    if isinstance(value, int):
        return f"Int<{value}>{{}}"
    return f"make_tuple({', '.join(map(written, value))})"


def read(numbers: list[int]) -> IntTuple:
    """The nested tuple that ``write`` wrote."""
    stack: list[list[IntTuple]] = [[]]
    for number in numbers[: numbers.index(END)]:
        if number == OPEN:
            stack.append([])
        elif number == CLOSE:
            done = tuple(stack.pop())
            stack[-1].append(done)
        else:
            stack[-1].append(number)
    (value,) = stack[0]
    return value


def answers(expressions: list[str]) -> list[Layout]:
    """The layouts that CuTe computes for ``expressions`` of C++."""
    lines = [f"    answer(out, {i}, {text});" for i, text in enumerate(expressions)]
    module = load(source=SOURCE % "\n".join(lines), filename="cute_answers.cu")
    out = cp.full((len(expressions), 2, ROOM), END, dtype=np.int32)
    module["answers"]((1,), (1,), (out,))
    rows = (out.get() if hasattr(out, "get") else np.asarray(out)).tolist()
    return [Layout(read(shape), read(stride)) for shape, stride in rows]
