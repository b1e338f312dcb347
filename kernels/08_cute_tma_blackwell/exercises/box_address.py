# A box whose rows have `row_bytes` bytes is in shared memory from address `base` on, a multiple of
# 128. `swizzle` is 0, 32, 64 or 128: chunks of 16 bytes are permuted within so many bytes.
def box_address(base, row, column, row_bytes, element_bytes, swizzle):
    """The address of the first byte of element (row, column) of the box."""
    # TODO: the address without a swizzle; then XOR bits of the address onto those of the chunk of
    # 16 bytes: three bits, two or one
    # SOLUTION
    address = base + row * row_bytes + column * element_bytes
    chunks = max(swizzle // 16, 1)
    return address ^ (address >> 7 & chunks - 1) << 4
    # END
