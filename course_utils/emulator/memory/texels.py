"""Textures and surfaces: arrays that a kernel reaches through an object, by coordinates.

Source: CUDA C++ Programming Guide, "Texture and Surface Memory", "Texture Fetching", "Texture
Gather"; PTX ISA, "Texture Instructions", "Surface Instructions".

How an H200 rounds on the way was measured (FIDELITY.md says how well this agrees): coordinates from
0 to 1 are cut off after 21 bits, the weights of the texels are whole 256ths whose sum is one, and
what is mixed of integers or of halves is rounded to 16 bits.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakValueDictionary

import numpy as np

from .address_space import GLOBAL

OBJECT_WINDOW = 0x0005_0000_0000_0000  # no memory lies here
WRAP, CLAMP, MIRROR, BORDER = ADDRESSING = ("wrap", "clamp", "mirror", "border")
STEPS = 256  # from one texel to the next: a position has 8 bits of fraction
NORMALIZED_BITS = 21  # of the fraction of a coordinate that goes from 0 to 1
FARTHEST = float(1 << 24)  # texels; no array is as long
FACES = (  # of a cube: axis of the largest coordinate, its sign, and what s and t are made of
    ((0, 1), (2, -1), (1, -1)),
    ((0, -1), (2, 1), (1, -1)),
    ((1, 1), (0, 1), (2, 1)),
    ((1, -1), (0, 1), (2, -1)),
    ((2, 1), (0, 1), (1, -1)),
    ((2, -1), (0, -1), (1, -1)),
)

_objects: WeakValueDictionary[int, Texture | Surface] = WeakValueDictionary()
_numbers = itertools.count(1)


@dataclass(frozen=True, eq=False)
class Texels:
    """Elements of 1, 2 or 4 channels. ``elements``: (depth or layers, height, width, channels).

    ``dimensions``: 1, 2 or 3, layers not counted. ``cube``: the first axis counts faces, six to a
    cube. ``linear``: plain memory, for whole-numbered coordinates only.
    """

    elements: np.ndarray
    dimensions: int
    layered: bool = False
    cube: bool = False
    linear: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """Elements along x, y, z: as many as there are dimensions."""
        return self.elements.shape[2::-1][: self.dimensions]

    @property
    def stacked(self) -> bool:
        """Whether the first axis counts layers or faces, and not z."""
        return self.layered or self.cube

    @property
    def layers(self) -> int:
        """Layers of a layered array, faces of a cubemap, or 1 for any other."""
        return self.elements.shape[0] if self.stacked else 1

    @property
    def channels(self) -> int:
        """Elements of a texel: 1, 2 or 4."""
        return self.elements.shape[3]

    @property
    def texel_bytes(self) -> int:
        """Bytes of a texel."""
        return self.channels * self.elements.itemsize

    @property
    def shape_name(self) -> str:
        """The array in words, such as "layered 2D"."""
        what = "cubemap" if self.cube else f"{self.dimensions}D"
        return f"layered {what}" if self.layered else what

    def address(self, column: np.ndarray, row: np.ndarray, slice_: np.ndarray) -> np.ndarray:
        """Generic addresses of bytes, ``column`` bytes into each row; uint64."""
        depth, height, _, _ = self.elements.strides
        offset = column + row * height + slice_ * depth
        return np.uint64(GLOBAL.pointer(self.elements)) + offset.astype(np.uint64)


class Handle:
    """Has a number that kernels know it by; it is valid for as long as it lives."""

    @cached_property
    def handle(self) -> int:
        """The number, which is no address of memory."""
        number = OBJECT_WINDOW + 64 * next(_numbers)
        _objects[number] = self  # type: ignore[assignment]  # there are two kinds, both below
        return number


def object_at(handle: int) -> Texture | Surface | None:
    """The object with this number, or None where there is none, or no longer."""
    return _objects.get(handle)


@dataclass(frozen=True, eq=False)
class Surface(Handle):
    """An array that kernels read and write by surface instructions."""

    texels: Texels


@dataclass(frozen=True, eq=False)
class Texture(Handle):
    """``modes``: what becomes of coordinates outside, along x, y and z. ``linear``: interpolate.
    ``normalized``: coordinates go from 0 to 1. ``unit``: integers are read as fractions of the
    largest. ``border``: what lies outside, where a mode is "border"."""

    texels: Texels
    modes: tuple[str, ...] = (CLAMP,) * 3
    linear: bool = False
    normalized: bool = False
    unit: bool = False
    border: tuple[float, ...] = (0.0,) * 4

    def nearest(self, axis: int, at: np.ndarray) -> np.ndarray:
        """The number of the texel at a coordinate, perhaps outside; int64."""
        if at.dtype.kind == "i":
            return at.astype(np.int64)
        return np.floor(self._position(axis, at)).astype(np.int64)

    def between(self, axis: int, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The number of the texel whose middle is at or before a coordinate, and how many 256ths
        of the way to the next it is."""
        steps = np.floor(self._position(axis, at) * STEPS + 0.5).astype(np.int64) - STEPS // 2
        return steps // STEPS, steps % STEPS

    def _position(self, axis: int, at: np.ndarray) -> np.ndarray:
        """In texels; f64."""
        position = np.clip(np.nan_to_num(at.astype(np.float64)), -FARTHEST, FARTHEST)
        if not self.normalized and not self.texels.cube:
            return position
        cut = np.floor(position * (1 << NORMALIZED_BITS)) / (1 << NORMALIZED_BITS)
        return cut * self._size(axis)

    def _size(self, axis: int) -> int:
        return self.texels.elements.shape[2 - axis]

    def inside(self, axis: int, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(number of the texel that is meant, whether it is one and not the border)."""
        size, mode = self._size(axis), self.modes[axis]
        if self.texels.linear or mode == BORDER:
            return np.clip(number, 0, size - 1), (number >= 0) & (number < size)
        if self.normalized and mode == WRAP:
            number = number % size
        elif self.normalized and mode == MIRROR:
            number = number % (2 * size)
            number = np.minimum(number, 2 * size - 1 - number)
        return np.clip(number, 0, size - 1), np.ones(number.shape, bool)

    @property
    def as_float(self) -> bool:
        """Whether texels are read as f32."""
        return self.unit or self.texels.elements.dtype.kind == "f"

    def values(self, numbers: list[np.ndarray], layer: np.ndarray) -> np.ndarray:
        """Texels as (channels, n): f64 where they are read as f32, else int64."""
        places, valid = [], np.ones(layer.shape, bool)
        for axis, number in enumerate(numbers):
            place, known = self.inside(axis, number)
            places.append(place)
            valid &= known
        x, y, z = (*places, *[np.zeros_like(layer)] * 3)[:3]
        elements = self.texels.elements
        found = elements[layer if self.texels.stacked else z, y, x].T
        if not self.as_float:
            return np.where(valid, found.astype(np.int64), 0)
        scale = np.iinfo(elements.dtype).max if elements.dtype.kind in "iu" else 1
        border = np.array(self.border[: len(found)])[:, None]
        return np.where(valid, np.maximum(found.astype(np.float64) / scale, self.least), border)

    @property
    def least(self) -> float:
        """-1 where signed integers are read as fractions: the lowest of them would be below."""
        return -1.0 if self.texels.elements.dtype.kind == "i" else -np.inf

    def fetch(self, at: list[np.ndarray], layer: np.ndarray) -> np.ndarray:
        """What a fetch gives: u32 (4, n), the bits of f32 or of integers."""
        if self.linear and at[0].dtype.kind == "f":
            found = self._interpolated(at, layer)
        else:
            found = self.values([self.nearest(axis, x) for axis, x in enumerate(at)], layer)
        return self.bits(found)

    def gather(self, at: list[np.ndarray], layer: np.ndarray, channel: int) -> np.ndarray:
        """One channel of the four texels around a place, from the lower left one on: u32 (4, n)."""
        (x, y), one = (self.between(axis, place)[0] for axis, place in enumerate(at)), 1
        corners = ((x, y + one), (x + one, y + one), (x + one, y), (x, y))
        if channel >= self.texels.channels:
            return np.zeros((4, len(x)), np.uint32)
        return np.concatenate(
            [self.bits(self.values([*c], layer))[channel : channel + 1] for c in corners]
        )

    def bits(self, values: np.ndarray) -> np.ndarray:
        """Values of some channels as u32 (4, n); what is missing is 0."""
        out = np.zeros((4, values.shape[1]), np.uint32)
        with np.errstate(all="ignore"):
            raw = values.astype(np.float32).view(np.uint32) if self.as_float else values
        out[: len(values)] = raw.astype(np.uint32) if self.as_float else raw & 0xFFFFFFFF
        return out

    def _interpolated(self, at: list[np.ndarray], layer: np.ndarray) -> np.ndarray:
        if len(at) == 1 and self.modes[1] == BORDER:  # a row at y = 0, half way into the border
            at = [*at, np.zeros_like(at[0])]
        places = [self._clamped(axis, *self.between(axis, x)) for axis, x in enumerate(at)]
        total = np.zeros((self.texels.channels, len(layer)))
        for corner, weight in weights([steps for _, steps in places]).items():
            numbers = [number + next_ for (number, _), next_ in zip(places, corner, strict=True)]
            total += np.where(weight > 0, weight * self.values(numbers, layer), 0)
        return self._rounded(total / STEPS)

    def _clamped(
        self, axis: int, number: np.ndarray, steps: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of a place that is clamped to the middle of a texel, that texel alone counts."""
        if self.modes[axis] == BORDER or (self.normalized and self.modes[axis] != CLAMP):
            return number, steps
        last = self._size(axis) - 1
        return np.clip(number, 0, last), np.where((number < 0) | (number >= last), 0, steps)

    def _rounded(self, mixed: np.ndarray) -> np.ndarray:
        """To the 16 bits that are kept of integers and of halves."""
        dtype = self.texels.elements.dtype
        if self.unit:
            largest = np.iinfo(f"{dtype.kind}2").max
            return np.floor(mixed * largest + 0.5 + 1e-6) / largest
        if dtype.itemsize == 2:  # a tie goes away from 0
            return (mixed * (1 + 2.0**-30)).astype(np.float16).astype(np.float64)
        return mixed


def weights(steps: list[np.ndarray]) -> dict[tuple[int, ...], np.ndarray]:
    """The weight of each of 2, 4 or 8 texels, in 256ths, from the steps along x, y and z; a key has
    1 along the axes where it is the next texel.

    What x shares out is shared out again along z, and then along y, each time in whole 256ths; a
    tie goes to the texels that are next along x.
    """
    shares: dict[tuple[int, ...], np.ndarray] = {(0,): STEPS - steps[0], (1,): steps[0]}
    for axis in range(len(steps) - 1, 0, -1):
        halves: dict[tuple[int, ...], np.ndarray] = {}
        for corner, share in shares.items():
            half = STEPS // 2 - 1 + corner[0]
            next_ = (share * steps[axis] + half) // STEPS
            x, *others = corner
            halves[x, 0, *others], halves[x, 1, *others] = share - next_, next_
        shares = halves
    return shares


def on_cube(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, ...]:
    """(face, s, t) of directions: which of the six, and where on it, both from 0 to 1."""
    ways = np.stack([x, y, z]).astype(np.float64)
    size = np.abs(ways)
    axis = np.where(
        (size[2] >= size[0]) & (size[2] >= size[1]), 2, np.where(size[1] >= size[0], 1, 0)
    )
    major = np.take_along_axis(ways, axis[None], axis=0)[0]
    face = 2 * axis + (np.signbit(major) & (major != 0))
    s, t = (
        np.choose(face, [sign * ways[which] for which, sign in pairs])
        for pairs in ([f[1] for f in FACES], [f[2] for f in FACES])
    )
    with np.errstate(all="ignore"):
        s, t = ((v / np.abs(major) + 1) / 2 for v in (s, t))
    return face, s.astype(np.float32), t.astype(np.float32)
