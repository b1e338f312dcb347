# TODO: write blocks_for(n, threads) from its first line. It returns how many blocks of `threads`
# threads it takes to give each of n elements, 0 or more, its own thread.
# SOLUTION
def blocks_for(n, threads):
    """How many blocks of `threads` threads it takes to give each of n elements a thread."""
    return (n + threads - 1) // threads


# END
