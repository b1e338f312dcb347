# Swizzle<bits, base, shift>: the `bits` bits of the offset from bit base + shift on are XORed onto
# those from bit base on. The other bits stay as they are.
def swizzled(offset, bits, base, shift):
    """The offset after the swizzle."""
    # TODO: a mask, a shift and an exclusive or
    # SOLUTION
    mask = (1 << bits) - 1 << base + shift
    return offset ^ (offset & mask) >> shift
    # END
