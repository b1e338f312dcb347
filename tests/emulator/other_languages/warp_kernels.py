"""Warp kernels for the tests, some with a planted mistake in the line that ends in `# here`."""

import warp as wp


@wp.kernel
def saxpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def flipped(a: wp.array2d(dtype=float), o: wp.array2d(dtype=float)):
    i, j = wp.tid()
    o[j, i] = a[i, j]


@wp.kernel
def count(x: wp.array(dtype=int), o: wp.array(dtype=int)):
    i = wp.tid()
    wp.atomic_add(o, x[i], 1)


@wp.kernel
def one_further(x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    value = x[i + 1]  # here
    o[i] = value
