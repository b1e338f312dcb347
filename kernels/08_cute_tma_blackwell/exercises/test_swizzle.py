import numpy as np


# TODO: write is_right(place) from its first line. place(row, column) gives the word of shared
# memory, an integer, that has an element of a tile of 32 x 32 floats. Return True if every element
# has its own of the words 0 to 1023, and a warp of 32 lanes takes one wavefront to read any row
# and any column. Return False if not.
# SOLUTION
def is_right(place):
    """Whether a place is a permutation of the tile's words, without bank conflicts."""
    words = [place(row, column) for row in range(32) for column in range(32)]
    tile = np.array(words).reshape(32, 32)
    if tile.min() < 0 or tile.max() > 1023:
        return False
    for lanes in (*tile, *tile.T):
        if len(set(lanes % 32)) < 32:
            return False
    return len(set(tile.ravel())) == 1024


# END
