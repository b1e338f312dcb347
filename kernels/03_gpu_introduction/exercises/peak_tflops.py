# TODO: write peak_tflops(multiprocessors, lanes, gigahertz) from its first line. It returns the
# most TFLOP/s that a GPU can reach with fused multiply-adds. Every lane of every multiprocessor
# finishes one of them in each clock cycle.
# SOLUTION
def peak_tflops(multiprocessors, lanes, gigahertz):
    """The most TFLOP/s that a GPU can reach with fused multiply-adds."""
    flops_per_cycle = 2 * multiprocessors * lanes
    return flops_per_cycle * gigahertz / 1000


# END
