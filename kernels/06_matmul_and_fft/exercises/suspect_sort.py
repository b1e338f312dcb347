import math
from statistics import median

import numpy as np

# TODO: the words of the checklist for what is wrong with this benchmark, as in {"burst"}
# STARTER
#| LIES = set()
# SOLUTION
LIES = {"unchecked", "easy input"}
# END


def sort_ms(gpu, sort, draw):
    """Milliseconds that the kernel `sort` takes for random numbers, the median of 15 runs; nan if
    the result of any of them is wrong.

    sort(x, y) launches it: y shall be the numbers of x, sorted. draw() makes a random array, each
    time another. np.sort is right.
    """
    # TODO: fix this benchmark: of the kernels that it is tried on some are right, and some cheat
    # STARTER
    #| x = np.zeros_like(draw())
    #| y = np.sort(x)
    #| sort(x, y)
    #| gpu.synchronize()
    #| if not np.array_equal(y, np.sort(x)):
    #|     return math.nan
    #| times = []
    #| for _ in range(15):
    #|     gpu.write_256_mb()
    #|     gpu.read_256_mb()
    #|     start = gpu.event()
    #|     sort(x, y)
    #|     end = gpu.event()
    #|     gpu.synchronize()
    #|     times.append(gpu.elapsed_ms(start, end))
    #| return median(times)
    # SOLUTION
    times = []
    for _ in range(15):
        x = draw()
        y = np.full_like(x, math.nan)
        gpu.write_256_mb()
        gpu.read_256_mb()
        start = gpu.event()
        sort(x, y)
        end = gpu.event()
        gpu.synchronize()
        times.append(gpu.elapsed_ms(start, end))
        if not np.array_equal(y, np.sort(x)):
            return math.nan
    return median(times)
    # END
