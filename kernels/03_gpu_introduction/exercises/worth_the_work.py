# TODO: write worth_the_work(kernels, peak, bandwidth) from its first line. `kernels` is a list of
# (name, microseconds, flops, bytes), the parts of a program in its order. `peak` is in FLOPs and
# `bandwidth` in bytes, each per microsecond. Find the kernel that loses most time against its
# roofline, the first of several, and return (name, microseconds of the whole program if that kernel
# alone ran on its roofline). A kernel that beats its roofline, with data from a cache, loses none.
# Where no kernel loses any, name is None.
# SOLUTION
def worth_the_work(kernels, peak, bandwidth):
    """Which kernel to work on, and how long the program takes afterwards at best."""
    total = sum(kernel[1] for kernel in kernels)
    name, most = None, 0.0
    for kernel, microseconds, flops, moved in kernels:
        lost = microseconds - max(flops / peak, moved / bandwidth)
        if lost > most:
            name, most = kernel, lost
    return name, total - most


# END
