import triton
import triton.language as tl


@triton.jit
def sum_in_programs(x, total, n, BLOCK: tl.constexpr):
    """Add the n floats of x to total[0], which is 0 before the launch. Any number of programs may
    be launched, so each one steps through x: its first BLOCK elements begin at program * BLOCK.
    BLOCK is a power of two."""
    first = tl.program_id(0) * BLOCK
    step = tl.num_programs(0) * BLOCK
    # TODO: let each program add up its elements, and add its sum to total[0]
    # SOLUTION
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(first, n, step):
        i = start + tl.arange(0, BLOCK)
        sums += tl.load(x + i, mask=i < n, other=0.0)
    tl.atomic_add(total, tl.sum(sums, axis=0))
    # END
