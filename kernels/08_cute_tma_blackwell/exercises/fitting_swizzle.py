# Rows of row_bytes bytes follow one another in shared memory, without padding; elements have
# element_bytes bytes. 16 bytes that are adjacent must stay adjacent.
def fitting_swizzle(row_bytes, element_bytes):
    """(bits, base, shift) without conflicts: the fewest bits, then the least shift."""
    # TODO: base, bits, shift
    # SOLUTION
    chunks = row_bytes // 16
    chunk_bits = chunks.bit_length() - 1
    base = (16 // element_bytes).bit_length() - 1
    return min(3, chunk_bits), base, max(3, chunk_bits)
    # END
