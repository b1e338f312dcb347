# C has `tiles` tiles, and each takes `steps` steps along K. `slots` blocks run at a time, one wave
# after the other. With s slices, s blocks share a tile, and each takes
#     ceil(steps / s) steps, and as long as 4 steps to begin and to end;
# where s is more than 1, the second pass takes as long as s steps on top of all waves.
def how_many_slices(tiles, steps, slots):
    """The number of slices, 1 to `steps`, that takes the least time; the smallest of equals."""

    # TODO: work out the time for each number of slices
    # SOLUTION
    def time(s):
        waves = -(-tiles * s // slots)
        return waves * (-(-steps // s) + 4) + (s if s > 1 else 0)

    return min(range(1, steps + 1), key=time)
    # END
