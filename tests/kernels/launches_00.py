"""How tests launch the kernel of chapter 00."""

import numpy as np
from launchers import Chapter, work

from course_utils import ceil_div, cp

CHAPTER = Chapter("00_start_here")


@CHAPTER.launch("ripples", sizes=[(1, 1), (31, 17), (64, 45)])
def ripples(name, width, height):
    x, y = np.arange(width), np.arange(height)[:, None]
    left = np.hypot(x - 0.3 * width, y - 0.5 * height)
    right = np.hypot(x - 0.7 * width, y - 0.5 * height)
    expected = np.cos(30 * left / width) + np.cos(30 * right / width)
    image = cp.empty((height, width), cp.float32)
    launch = ceil_div(width * height, 256), 256, (image, width, height, 30.0)
    return work(CHAPTER.kernel(name), *launch, image, expected, atol=1e-3)
