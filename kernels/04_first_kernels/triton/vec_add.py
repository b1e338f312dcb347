"""c = a + b for n fp32 elements, in Triton: each program adds BLOCK of them.

Adds to vec_add.cu: nothing is said about threads. The arrays of BLOCK elements below belong to the
whole program, and the compiler deals them out to its warps.
Limit: memory bandwidth. Twelve bytes move for each addition.
grid (ceil(n / BLOCK)), BLOCK a power of two
"""

import triton
import triton.language as tl


@triton.jit
def vec_add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(a + i, mask=inside)
    y = tl.load(b + i, mask=inside)
    tl.store(c + i, x + y, mask=inside)
