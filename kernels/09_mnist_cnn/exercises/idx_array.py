import math

import numpy as np

TYPES = {8: np.dtype(np.uint8), 13: np.dtype(">f4")}  # > says: most significant byte first


def idx_array(data):
    """The array in `data`, the bytes of an IDX file; None where they are not a whole one.

    An IDX file: two bytes 0, a byte for the type (a key of TYPES), a byte with the number of axes
    (1 to 8), the length of each axis in four bytes, the most significant first, then the elements:
    as many as the lengths say, no fewer and no more.
    """
    # TODO: return the array, of the file's shape and type; believe no byte that you did not check
    # SOLUTION
    if len(data) < 4 or data[:2] != bytes(2) or data[2] not in TYPES:
        return None
    dtype, axes = TYPES[data[2]], data[3]
    start = 4 + 4 * axes
    if not 1 <= axes <= 8 or len(data) < start:
        return None
    shape = [int.from_bytes(data[at : at + 4], "big") for at in range(4, start, 4)]
    if len(data) != start + math.prod(shape) * dtype.itemsize:
        return None
    if math.prod(filter(None, shape)) * dtype.itemsize > np.iinfo(np.intp).max:
        return None  # no array has that shape, though a length of 0 leaves it no elements
    return np.frombuffer(data, dtype, offset=start).reshape(shape)
    # END
