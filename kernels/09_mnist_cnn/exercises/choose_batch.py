# TODO: write choose_batch(measured) from its first line. `measured` is a list of (batch,
# milliseconds of a step, steps until the network is accurate), and the last is None if it never
# was. Return (batch, seconds) for the one that is accurate first, the smaller batch in a tie, and
# None if none was.
# SOLUTION
def choose_batch(measured):
    """The batch that reaches the accuracy first, and its seconds."""
    best = None
    for batch, milliseconds, steps in measured:
        if steps is None:
            continue
        key = milliseconds * steps, batch
        if best is None or key < best:
            best = key
    return None if best is None else (best[1], best[0] / 1000)


# END
