# The instruction descriptor of a tcgen05.mma of kind::f16: the 32 bits that say what it multiplies.
#
#   bits 4-5    type of D: 0 f16, 1 f32          bit 15      A has M contiguous in memory, not K
#   bits 7-9    type of A: 0 f16, 1 bf16         bit 16      B has N contiguous in memory, not K
#   bits 10-12  type of B, as A's                bits 17-22  N / 8
#   bits 13, 14 negate A, negate B               bits 24-28  M / 16
def instruction_word(m, n, factors, sums, turned_a=False, turned_b=False, minus=False):
    """The word for D (m x n); `factors` and `sums` are "f16", "bf16" or "f32".

    `turned_a`: A has M contiguous; `turned_b`: B has N contiguous; `minus`: D = - A B^T.
    """
    # TODO: put the fields together
    # SOLUTION
    word = (1 if sums == "f32" else 0) << 4
    kind = 1 if factors == "bf16" else 0
    word |= kind << 7 | kind << 10
    word |= int(minus) << 13
    word |= int(turned_a) << 15 | int(turned_b) << 16
    return word | n // 8 << 17 | m // 16 << 24
    # END
