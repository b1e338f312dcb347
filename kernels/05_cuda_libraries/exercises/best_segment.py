from math import log2


# Overlap-save with segments of P points, a power of two: a transform of two segments, P products of
# complex numbers (6 FLOPs each), a transform back; then P - taps + 1 results of each of the two
# segments are kept. A transform of P complex points counts 5 P log2(P) FLOPs.
def best_segment(taps, most):
    """(P, FLOPs for each result kept) for the P with the fewest of them: P is at least 2, at least
    taps, and at most `most`, itself a power of two and at least taps. Of equal ones the smaller."""
    # TODO: try them all
    # SOLUTION
    best, points = None, 2
    while points <= most:
        if points >= taps:
            work = (2 * 5 * points * log2(points) + 6 * points) / (2 * (points - taps + 1))
            if best is None or work < best[1]:
                best = points, work
        points *= 2
    return best
    # END
