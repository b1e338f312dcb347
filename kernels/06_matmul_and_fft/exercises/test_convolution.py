import numpy as np


# TODO: write is_right(convolve) from its first line. convolve(image, taps) takes float32 arrays of
# two axes and returns a new float32 array of the image's shape: pixel (i, j) of it is the sum of
# taps[r, s] * image[i + r - R // 2, j + s - S // 2] over the R x S taps, and a pixel outside the
# image is 0. R and S are odd, 1 to 9, and an image has 1 to 100 rows and columns. Return True if
# that convolve is right to 1e-4 (for numbers of about 1) and changes neither image nor taps. Return
# False if it isn't, or if it does.
# SOLUTION
def is_right(convolve):
    """Whether this convolution is right, for shapes with each kind of edge."""
    rng = np.random.default_rng(1)
    for size, shape in (((20, 37), (3, 5)), ((33, 18), (5, 1)), ((1, 2), (5, 7)), ((7, 5), (9, 9))):
        image = rng.standard_normal(size).astype(np.float32)
        taps = rng.standard_normal(shape).astype(np.float32)
        given = image.copy(), taps.copy()
        above, left = shape[0] // 2, shape[1] // 2
        padded = np.pad(image.astype(np.float64), ((above, above), (left, left)))
        expected = np.zeros(size)
        for r, s in np.ndindex(shape):
            expected += taps[r, s] * padded[r : r + size[0], s : s + size[1]]
        y = convolve(image, taps)
        if not np.array_equal(image, given[0]) or not np.array_equal(taps, given[1]):
            return False
        if not np.abs(y - expected).max() <= 1e-4:
            return False
    return True


# END
