"""The compute capability of the GPU, or of an older one that it plays.

``COURSE_PRETEND_SM=75`` limits a newer GPU to the features of compute capability 7.5, such as
Colab's T4: kernels that such a GPU cannot run go to the emulator, as they would there. It is for
trying the course, and is read when Python starts.
"""

from __future__ import annotations

import os
from functools import cache

from .selection import ON_GPU, DeviceError, cp

PRETEND = "COURSE_PRETEND_SM"
# Kilobytes of shared memory that a block can have: CUDA C++ Programming Guide 12.9, "Technical
# Specifications per Compute Capability".
SHARED_KILOBYTES = {75: 64, 80: 163, 86: 99, 87: 163, 89: 99, 90: 227}


@cache
def own_capability() -> int:
    """The compute capability of the GPU as a number: 90 for 9.0, 0 on the emulator."""
    return int(cp.cuda.Device().compute_capability) if ON_GPU else 0


@cache
def pretended() -> int | None:
    """The older compute capability that ``COURSE_PRETEND_SM`` asks for, None if it does not.

    Raises :class:`~course_utils.devices.selection.DeviceError` for one that the course does not
    know, and for one later than the GPU's own.
    """
    text = os.environ.get(PRETEND, "")
    if not text or not ON_GPU:
        return None
    known = [number for number in SHARED_KILOBYTES if number <= own_capability()]
    if text not in map(str, known):
        raise DeviceError(
            f"{PRETEND} is {text!r}. This GPU, sm_{own_capability()}, can stand in for one of "
            f"these: {', '.join(map(str, known))}."
        )
    return int(text)


def capability() -> int:
    """The compute capability that the course goes by: 90 for 9.0, 0 on the emulator."""
    return pretended() or own_capability()


def shared_limit(own: int) -> int:
    """Bytes of shared memory that a block can ask for, where the GPU itself allows ``own``."""
    as_old = pretended()
    return min(own, SHARED_KILOBYTES[as_old] * 1024) if as_old else own
