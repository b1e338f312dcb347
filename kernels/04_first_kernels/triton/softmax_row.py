"""y = softmax of each row of x, rows x columns of fp32, in Triton: each program takes one row.

Adds to vec_add.py: tl.max and tl.sum reduce an array that is spread over all threads of a program.
BLOCK is the next power of two from columns on, so the row stays in registers.
Limit: memory bandwidth. One read and one write for each element.
grid (rows), BLOCK a power of two >= columns
"""

import triton
import triton.language as tl


@triton.jit
def softmax_row(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    value = tl.load(x + row * columns + column, mask=inside, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row * columns + column, power / tl.sum(power, axis=0), mask=inside)
