# A tile has `rows` rows of 16-bit elements and begins at `address`, a multiple of 1024. TMA brought
# it in boxes that are `span` bytes wide, one box after the other along K. `span` is 16 (boxes
# without a swizzle) or that of the boxes' swizzle: 32, 64 or 128. wgmma is to take the 16 columns
# from column `k` on, a multiple of 16.
def matrix_descriptor(address, rows, k, span):
    """The 64-bit matrix descriptor of this operand."""
    # TODO: where the operand begins, without a swizzle; the bytes from eight rows to the next
    # eight; with span 16 the bytes from one chunk of a row to the next, otherwise 0; the mode
    # SOLUTION
    box, inside = divmod(2 * k, span)
    start = address + box * rows * span + inside
    leading = rows * 16 if span == 16 else 0
    mode = {16: 0, 128: 1, 64: 2, 32: 3}[span]
    return start >> 4 | leading >> 4 << 16 | 8 * span >> 4 << 32 | mode << 62
    # END
