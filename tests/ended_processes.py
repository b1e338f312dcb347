"""Has a process ended that nobody may have waited for?"""

import time
from pathlib import Path

from tests.machine_speed import slowness


def running(process: int) -> bool:
    """Whether there is such a process, and not merely one that waits to be counted as ended."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def gone(process: int, seconds: float) -> bool:
    """Whether it has ended within ``seconds``, or more of them on a slow machine: its memory is
    given back first, which takes time."""
    until = time.monotonic() + seconds * slowness()
    while running(process) and time.monotonic() < until:
        time.sleep(0.02)
    return not running(process)
