"""cuFFT's transforms. They aren't divided by their length, as cuFFT's."""

from __future__ import annotations

import math

import numpy as np

from .library_operands import LibraryCall

FORWARD = -1
# By cufftType: the cudaDataType of the input and of the output.
KINDS = {0x29: (4, 4), 0x2A: (0, 4), 0x2C: (4, 0), 0x69: (5, 5), 0x6A: (1, 5), 0x6C: (5, 1)}
REAL = (0, 1)


def transform(call: LibraryCall) -> None:
    """A batch of transforms. The words are the plan's and the two addresses."""
    kind, direction, rank, *size = call.take(6)
    (batch,) = call.take(1)
    size = size[:rank]
    half = [*size[:-1], size[-1] // 2 + 1]
    kinds = KINDS[kind]
    ends = [call.take(6) for _ in kinds]  # address, step, sizes that are stored, distance
    in_place = ends[0][0] == ends[1][0]
    real = any(each in REAL for each in kinds)
    operands = []
    for each, (address, step, *stored, distance), what in zip(
        kinds, ends, ("reads", "writes"), strict=True
    ):
        shape = size if each in REAL or not real else half
        if step:
            stored = stored[:rank]
        else:
            step = 1
            stored = [*size[:-1], 2 * half[-1]] if each in REAL and in_place else shape
            distance = math.prod(stored)
        steps = [step * math.prod(stored[axis + 1 :]) for axis in range(rank)]
        operands.append(call.array(address, each, (batch, *shape), (distance, *steps), what))
    source, target = operands
    axes = tuple(range(1, rank + 1))
    values: np.ndarray = source.values
    made: np.ndarray
    if not real:
        made = (np.fft.fftn if direction == FORWARD else np.fft.ifftn)(values, axes=axes)
    elif kinds[0] in REAL:
        made = np.fft.rfftn(values, axes=axes)
    else:
        made = np.fft.irfftn(values, size, axes=axes)
    target.store(made if direction == FORWARD else made * math.prod(size))
