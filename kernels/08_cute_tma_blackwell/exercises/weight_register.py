# A warpgroup has the scores of 64 queries (rows) and the keys of a tile (columns) as wgmma leaves
# its sums. Rounded to bf16, two in a register, they are the first factor of the next product as
# they are: one wgmma takes 16 keys, and of each thread four registers.
def weight_register(row, key):
    """(thread of the group, number of the wgmma, register 0 to 3 of its four, 0 for its lower half
    and 1 for its upper half)."""
    # TODO: find who holds the weight of this query and this key, and where
    # SOLUTION
    thread = row // 16 * 32 + row % 8 * 4 + key % 8 // 2
    return thread, key // 16, row % 16 // 8 + key % 16 // 8 * 2, key % 2
    # END
