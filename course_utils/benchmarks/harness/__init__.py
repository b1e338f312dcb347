"""How a kernel is measured: cases, timing, clocks, power, and a GPU that is simulated."""
