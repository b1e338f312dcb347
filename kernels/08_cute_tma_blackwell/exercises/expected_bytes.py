# Each copy is (box, bytes of an element, elements of the box inside the tensor, blocks): a
# TMA load of a box, a tuple of extents, for some blocks of the cluster, a tuple of their ranks. In
# each of them the copy signals the mbarrier at the same address.
def expected_bytes(copies, rank):
    """The bytes that the mbarrier of block `rank` has to expect."""
    # TODO: add up what each copy brings to this block
    # SOLUTION
    return sum(prod(box) * size for box, size, inside, blocks in copies if rank in blocks)


def prod(extents):
    """All extents multiplied."""
    result = 1
    for extent in extents:
        result *= extent
    return result
    # END
