import numpy as np


# TODO: write is_right(pool_backward) from its first line. pool_backward(x, dy) takes float32
# arrays of NumPy, x of M x H x W with even H and W, dy of M x H/2 x W/2, and returns a new array
# like x: dy where the largest pixel of each 2 x 2 is, and 0 elsewhere. Of equal pixels the first
# in memory counts. Any floats but NaN, 1 to 100 planes, rows and columns. Return True if that
# pool_backward is right and changes neither x nor dy, at each call. Return False if it isn't.
# SOLUTION
def is_right(pool_backward):
    """Whether this gradient of a max pool is right, with all kinds of ties."""
    rng = np.random.default_rng(1)
    for shape in ((1, 2, 2), (3, 4, 70), (2, 66, 6)):
        m, h, w = shape
        x = rng.integers(-1, 2, shape).astype(np.float32)
        x /= 3
        x[0, :2, :2] = -np.inf
        squares = x.reshape(m, h // 2, 2, w // 2, 2).transpose(0, 1, 3, 2, 4)
        dy = rng.standard_normal(squares.shape[:3]).astype(np.float32)
        given, gradients = x.copy(), dy.copy()
        winner = squares.reshape(m, h // 2, w // 2, 4).argmax(axis=3)
        expected = (np.arange(4) == winner[..., None]) * dy[..., None]
        expected = expected.reshape(squares.shape).transpose(0, 1, 3, 2, 4).reshape(shape)
        dx = pool_backward(x, dy)
        if not np.array_equal(x, given) or not np.array_equal(dy, gradients):
            return False
        if not np.array_equal(dx, expected):
            return False
    return True


# END
