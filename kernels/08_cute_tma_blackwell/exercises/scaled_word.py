# The instruction descriptor of a tcgen05.mma with block scales:
#
#   bits 4-5    scale of B: which byte of its word is the first that the product takes
#   bits 7-9    type of A, and bits 10-12 type of B:
#               kind::mxf8f6f4  0 E4M3, 1 E5M2, 3 E2M3, 4 E3M2, 5 E2M1; A and B may differ
#               kind::mxf4nvf4  1 E2M1
#   bits 17-22  N / 8
#   bit 23      type of the scales: 0 UE4M3, 1 UE8M0
#   bits 24-28  M / 16
#   bits 29-30  scale of A: which byte of its word is the first
#
# A product of kind::mxf8f6f4 is 32 numbers of K and takes one byte, block k of every four byte k.
# One of kind::mxf4nvf4 is 64 numbers and takes all four bytes (16 numbers to a scale) or two (32
# numbers to a scale): bytes 0 and 1, or 2 and 3.
def scaled_word(m, n, a, b, kind, scales, block, product):
    """The word for product number `product` along K.

    `a` and `b` are types such as "E4M3", `kind` is "mxf8f6f4" or "mxf4nvf4", `scales` "UE8M0" or
    "UE4M3"; `block` numbers share a scale. Every four bytes of scales are a word of their own.
    """
    # TODO: put the fields together
    # SOLUTION
    if kind == "mxf4nvf4":
        types = {"E2M1": 1}
        byte = product * (64 // block) % 4
    else:
        types = {"E4M3": 0, "E5M2": 1, "E2M3": 3, "E3M2": 4, "E2M1": 5}
        byte = product % 4
    word = byte << 4 | byte << 29
    word |= types[a] << 7 | types[b] << 10
    word |= (1 if scales == "UE8M0" else 0) << 23
    return word | n // 8 << 17 | m // 16 << 24
    # END
