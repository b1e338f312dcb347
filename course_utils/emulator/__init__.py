"""A PTX machine on NumPy: runs the PTX of any CUDA kernel on a machine with no GPU."""
