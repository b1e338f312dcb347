def pieces(n, chunks):
    """Where the pieces of n elements begin and how long they are: a list of (first, count)."""
    per_chunk = (n + chunks - 1) // chunks
    # TODO: every piece has per_chunk elements, but for the last one; leave no element out,
    # let none come twice, and return no empty piece
    # STARTER
    #| return [(0, n)]
    # SOLUTION
    return [(first, min(per_chunk, n - first)) for first in range(0, n, max(per_chunk, 1))]
    # END
