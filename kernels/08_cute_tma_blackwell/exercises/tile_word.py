# The shared memory descriptor of a tile with K contiguous: rows of `row_bytes` (32, 64 or 128)
# bytes, which TMA wrote with the swizzle of as many bytes, from `address` on, a multiple of 1024.
# All addresses and offsets go in without their last four bits, and what does not fit is cut off.
#
#              Hopper                               Blackwell
#   bits 0-13  the address                          the address
#   bits 16-29 1 (it says nothing here)             1
#   bits 32-45 from eight rows to the next eight    the same
#   bits 46-48 -                                    001
#   swizzle    bits 62-63: 1 128, 2 64, 3 32 bytes  bits 61-63: 2 128, 4 64, 6 32 bytes
def tile_word(address, row_bytes, step, blackwell):
    """The word for product number `step` along K, each of which takes 32 bytes of every row."""
    # TODO: put the fields together
    # SOLUTION
    word = (address + 32 * step) >> 4 & 0x3FFF | 1 << 16 | 8 * row_bytes >> 4 << 32
    number = {128: 1, 64: 2, 32: 3}[row_bytes]
    if blackwell:
        return word | 1 << 46 | 2 * number << 61
    return word | number << 62
    # END
