from statistics import median

import numpy as np

# TODO: the words of the checklist for what is wrong with this benchmark, as in {"burst"}
# STARTER
#| LIES = set()
# SOLUTION
LIES = {"weak rival", "other precision"}
# END


def median_ms(gpu, run):
    """The median time of 15 runs with a cold, clean cache, in milliseconds. (This is right.)"""
    times = []
    for _ in range(15):
        gpu.write_256_mb()
        gpu.read_256_mb()
        start = gpu.event()
        run()
        end = gpu.event()
        gpu.synchronize()
        times.append(gpu.elapsed_ms(start, end))
    return median(times)


def to_beat(gpu, libraries, a, b):
    """(name, milliseconds) of the library call that a new kernel for A B in fp32 has to beat.

    a and b are float32 arrays. libraries["torch.mm"](a, b, out) launches the call of that name,
    which should write the product to `out`; for each there is a function. Right is a result whose
    largest error is at most a hundred-thousandth of the largest number of the exact product. One of
    them is right at least.
    """
    # TODO: fix this benchmark: name and time of the call that a kernel has to beat
    # STARTER
    #| found = []
    #| for name in ("torch.mm", "torch.matmul"):
    #|     out = np.zeros((len(a), b.shape[1]), np.float32)
    #|     ms = median_ms(gpu, lambda: libraries[name](a, b, out))
    #|     if np.allclose(out, a @ b, rtol=0.01, atol=0.01):
    #|         found.append((ms, name))
    #| ms, name = min(found)
    #| return name, ms
    # SOLUTION
    exact = a.astype(np.float64) @ b.astype(np.float64)
    found = []
    for name, call in libraries.items():
        out = np.full(exact.shape, np.nan, np.float32)
        ms = median_ms(gpu, lambda call=call, out=out: call(a, b, out))
        if np.abs(out - exact).max() <= 1e-5 * np.abs(exact).max():
            found.append((ms, name))
    ms, name = min(found)
    return name, ms
    # END
