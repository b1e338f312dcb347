"""Kernels of other languages in Python on the emulator: Triton, Numba and Warp."""
