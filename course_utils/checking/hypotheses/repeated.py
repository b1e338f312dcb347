"""A sum that was added to once too often, and a counter that stopped."""

from __future__ import annotations

import numpy as np

from ...devices.last_launches import KEPT
from .. import error_kinds as kinds
from ..error_kinds import Slip
from ..evidence import Diagnosis, Evidence
from ..tolerance import wide

# By the bits of the significand: where adding 1 doesn't change a number any more.
COUNTERS = {24: "float", 11: "half", 8: "bfloat16"}


def added_again(e: Evidence) -> Diagnosis | None:
    """The kernel was launched several times on its output, and this is as many times the expected
    one."""
    kernel = e.launches[-1].kernel if e.launches else ""
    count = sum(launched.kernel == kernel for launched in e.launches)
    if count < 2 or e.actual.dtype.kind not in "iufc" or not e.wrong[e.expected != 0].all():
        return None
    at = int(np.argmax(e.wrong))
    ratio = complex(e.actual.reshape(-1)[at] / e.expected.reshape(-1)[at]).real
    if not np.isfinite(ratio):
        return None
    factor = round(ratio)
    if factor < 2 or (factor > count and len(e.launches) < KEPT):
        return None
    if not e.close(wide(e.actual) / factor, wide(e.expected)).all():
        return None
    many = f"{count} times" if factor <= count else "many times"
    return Diagnosis(
        kinds.SCALED,
        f"{e.all_of} is {factor} times the expected one, and {kernel} was launched {many} on it.",
        Slip.ADDED_AGAIN,
    )


def stuck(e: Evidence) -> Diagnosis | None:
    """Each wrong element is the number at which a float counter stops."""
    if e.actual.dtype.kind not in "iuf" or not e.is_whole():
        return None
    found, wanted = wide(e.actual[e.wrong]), wide(e.expected[e.wrong])
    own = round(1 - float(np.log2(e.roundoff))) - 1 if e.roundoff else 0
    for bits in {own, 24} & {*COUNTERS}:
        limit = 1 << bits
        if (found == limit).all() and (wanted > limit).all():
            return Diagnosis(
                kinds.WRONG,
                f"{e.wrong_ones} is {limit:,} (2^{bits}), where a counter of type "
                f"{COUNTERS[bits]} stops: adding 1 to it changes nothing.",
                Slip.STUCK,
            )
    return None
