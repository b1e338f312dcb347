def blocks_for(n, threads):
    """How many blocks of `threads` threads it takes to give each of n elements a thread."""
    # TODO: return the number of blocks, a whole number; the last block may be partly idle
    # SOLUTION
    return (n + threads - 1) // threads
    # END
