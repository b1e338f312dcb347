def choose_lanes(lengths):
    """(g, steps): the g with the fewest steps of all warps together, the least g of equals.

    With g lanes for a row, g = 1, 2, 4, 8, 16 or 32, a warp takes 32 / g rows, in their order, and
    the last warp may have fewer. It takes as many steps as its longest row: ceil(length / g), and
    log2(g) more for the shuffles.
    """

    # TODO: work out the steps for each g, and choose
    # STARTER
    #| return 32, 0
    # SOLUTION
    def steps(g):
        warps = range(0, len(lengths), 32 // g)
        longest = [max(lengths[first : first + 32 // g]) for first in warps]
        return sum(-(-length // g) + g.bit_length() - 1 for length in longest)

    best = min((1, 2, 4, 8, 16, 32), key=steps)
    return best, steps(best)
    # END
