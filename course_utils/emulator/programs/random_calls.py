"""The answers to cuRAND's host functions: numbers of the right law, from NumPy.

They are other numbers than a GPU's, whose generators this does not repeat.
"""

from __future__ import annotations

import struct

import numpy as np

from .call_state import CallState, Words, put
from .cuda_errors import CudaStatus
from .host_memory import HOST
from .host_mistakes import HostMistake
from .program_allocations import DEVICE
from .refusals import Refused

_SEED = 0  # of a generator that is given none
_NO_GENERATOR, _WRONG_PLACE = 101, 201  # CURAND_STATUS_NOT_INITIALIZED, _LAUNCH_FAILURE
_BITS, _UNIFORM, _NORMAL, _LOG_NORMAL, _POISSON = range(5)


def _draw(
    random: np.random.Generator, law: int, size: int, count: int, first: float, second: float
) -> np.ndarray:
    """``count`` numbers of ``size`` bytes. ``first`` and ``second`` are mean and deviation."""
    if law == _BITS:
        return random.integers(0, 1 << 8 * size, count, f"u{size}")
    if law == _POISSON:
        return random.poisson(first, count).astype(np.uint32)
    if law == _UNIFORM:  # 0 is left out, and 1 is not
        drawn = 1 - random.random(count, np.float32 if size == 4 else np.float64)
    elif law == _NORMAL:
        drawn = random.normal(first, second, count)
    else:
        drawn = random.lognormal(first, second, count)
    return drawn.astype(f"f{size}")


class RandomCalls(CallState):
    """Each call is answered by the method of its name."""

    def _curandCreateGenerator(self, w: Words) -> None:
        number = len(self.generators) + 1
        self.generators[number] = np.random.default_rng(_SEED), DEVICE if w[2] else HOST
        put(w[0], number)
        self.log.write("random")

    def _curandSetPseudoRandomGeneratorSeed(self, w: Words) -> int:
        if w[0] not in self.generators:
            return _NO_GENERATOR
        _, place = self.generators[w[0]]
        self.generators[w[0]] = np.random.default_rng(w[1] & (1 << 64) - 1), place
        return 0

    def _curand_draw(self, w: Words) -> int:
        generator, out, count, law, size = w[0:5]
        if generator not in self.generators:
            return _NO_GENERATOR
        random, place = self.generators[generator]
        first, second = struct.unpack("<dd", struct.pack("<qq", *w[5:7]))
        values = _draw(random, law, size, count, first, second)
        try:
            found = self.memory.store(out, values.tobytes(), "curandGenerate")
        except Refused as refused:
            self._tell(refused)
            return _WRONG_PLACE
        if found in (DEVICE, HOST) and found != place:
            message = f"curandGenerate of a generator of the {place} fills memory of the {found}."
            self._tell(Refused(CudaStatus.cudaSuccess, HostMistake.WRONG_DIRECTION, message))
        return 0
