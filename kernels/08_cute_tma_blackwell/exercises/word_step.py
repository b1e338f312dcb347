# A tile of A has `rows` rows of `columns` bf16 numbers. CuTe lays it out by tile_to_shape from an
# atom of eight rows, each `span` bytes wide: 128, 64, 32, or 16 without a swizzle. Atoms follow
# each other down the rows first, then along K. A fragment of wgmma is a layout of matrix
# descriptors, (1, tiles, k): tile number `part` has 64 rows, and number `k` has 16 columns.
# Addresses count in units of 16 bytes.
def word_step(rows, columns, span, part, k):
    """How much larger the descriptor of (part, k) is than the first one, of (0, 0)."""
    # TODO: the bytes from tile to tile, and from 16 columns to the next 16
    # SOLUTION
    box, inside = divmod(32 * k, span)
    return (part * 64 * span + box * rows * span + inside) // 16
    # END
