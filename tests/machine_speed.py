"""How slow this machine is just now, for limits that are there to end what hangs.

As a plugin of pytest it gives nbval its limit for a cell.
"""

from __future__ import annotations

import os
import time
from functools import cache

import numpy as np

REFERENCE = 0.03  # seconds of the processor for `work` on the machine that the limits are made for
CELL_SECONDS = 300.0  # what a notebook's cell may take there: alone, the slowest takes 70
MOST_CELL_SECONDS = 900.0


@cache
def slowness() -> float:
    """How many times longer than on the reference machine something may take here; at least 1.

    It grows with the time that a piece of work takes the processor, and with the processes that
    wait for one.
    """
    start = time.process_time()
    work()
    return slowed(time.process_time() - start, os.getloadavg()[0], len(os.sched_getaffinity(0)))


def slowed(seconds: float, load: float, cores: int) -> float:
    """The same from the work's ``seconds`` and the processes that are busy on ``cores``."""
    return max(1.0, seconds / REFERENCE * (1 + load / cores))


def work() -> None:
    """Python's and NumPy's steps, as the emulator makes them."""
    lanes = np.arange(4096, dtype=np.float32)
    for step in range(2000):
        lanes = np.where(lanes > step, lanes * 0.5, lanes + 1)
        sum(range(100))


def pytest_configure(config):
    config.option.nbval_cell_timeout = min(CELL_SECONDS * slowness(), MOST_CELL_SECONDS)
