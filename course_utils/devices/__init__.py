"""What computes: CuPy on a GPU, or the emulated namespace; its limits and its properties."""
