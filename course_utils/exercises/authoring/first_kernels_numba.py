"""A kernel that is compiled before any answer, so that Numba is ready."""

from numba import cuda


@cuda.jit
def store(x):  # type: ignore[no-untyped-def]
    """Add 1 to each element of ``x``, float32, of shape (n,)."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1
