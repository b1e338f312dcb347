# TODO: write choose_way(ways, needed, calls) from its first line. `ways` is a list of (name,
# epilogues, seconds, milliseconds): the names of the epilogues that this way can fuse, the seconds
# to build it for one shape and epilogue, and the milliseconds of a call. `needed` is the epilogue
# of your layer, and `calls` how often it runs before the shape changes. Return (name, seconds in
# all) of the way that can and takes the least in all, or None if none can. In a tie it's the
# earlier one.
# SOLUTION
def choose_way(ways, needed, calls):
    """The name of the way to take, and the seconds that it takes in all."""
    best = None
    for name, epilogues, seconds, milliseconds in ways:
        total = seconds + calls * milliseconds / 1000
        if needed in epilogues and (best is None or total < best[1]):
            best = name, total
    return best


# END
