"""The device: CuPy on a GPU, or the emulated namespace, with its limits and properties."""
