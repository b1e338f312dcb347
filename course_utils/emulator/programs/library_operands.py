"""The operands of a call of a library: vectors, matrices and arrays in a program's memory."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .call_state import Words
from .cuda_errors import CudaStatus
from .host_memory import HOST, HostMemory, Side, shadow_of
from .host_mistakes import HostMistake
from .program_allocations import DEVICE, bytes_at
from .refusals import Refused

# By cudaDataType: as the elements are stored, and as they are computed with.
BF16 = 14
STORED = {0: "f4", 1: "f8", 2: "f2", 3: "i1", 4: "c8", 5: "c16", 10: "i4", BF16: "u2", 24: "i8"}
COMPUTED = {**STORED, 2: "f4", BF16: "f4", 3: "i4"}


class WrongArgument(ValueError):
    """An argument that a library refuses. The message says why."""


class NotThere(ValueError):
    """A case that a library has and the emulator lacks."""


def decoded(stored: np.ndarray, kind: int) -> np.ndarray:
    """Elements as numbers to compute with."""
    if kind == BF16:
        return (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(COMPUTED[kind])


def encoded(values: np.ndarray, kind: int) -> np.ndarray:
    """Numbers as the elements of a type, rounded to nearest even."""
    if kind != BF16:
        with np.errstate(over="ignore"):
            return values.astype(STORED[kind])
    bits = values.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values), 0x7FFF, rounded).astype(np.uint16)


@dataclass(frozen=True)
class LibraryOperand:
    """Elements of the program's memory. ``view`` holds them as they are stored, ``marks`` is
    nonzero at bytes without a value: uint8 (elements…, bytes of one). ``note`` gets the number of
    such elements when they are read."""

    view: np.ndarray
    kind: int
    marks: np.ndarray | None = None
    note: Callable[[int], None] | None = None

    @property
    def values(self) -> np.ndarray:
        """Copies of the elements as numbers to compute with."""
        return self.read(np.ones(self.view.shape, bool))

    def read(self, mask: np.ndarray) -> np.ndarray:
        """Copies of the elements. Only those of ``mask`` are used: bool, shaped as the view."""
        if self.marks is not None and self.note is not None:
            unset = np.count_nonzero(self.marks.any(axis=-1) & mask)
            if unset:
                self.note(int(unset))
        return decoded(self.view, self.kind)

    def store(self, values: np.ndarray) -> None:
        """Write all elements."""
        self.view[...] = encoded(np.asarray(values), self.kind)
        if self.marks is not None:
            self.marks[...] = 0


class LibraryCall:
    """A call of ``name``. ``words``: first whether scalars are on the device, then the arguments,
    which are taken one by one. ``what`` an operand is used for: "reads" or "writes".
    ``noted``: whether kernels note which memory they set."""

    def __init__(self, memory: HostMemory, name: str, words: Words, noted: bool) -> None:
        self.memory, self.name = memory, name
        self._noted = noted
        self._words: Iterator[int] = iter(words)
        self.on_device = bool(next(self._words))  # whether scalars and results are
        self.mistakes: list[Refused] = []  # that the library doesn't answer with an error

    def take(self, count: int) -> list[int]:
        """The next words."""
        return [next(self._words) for _ in range(count)]

    def sizes(self, count: int) -> list[int]:
        """The next words, which are numbers of elements. Raises WrongArgument for one below 0."""
        found = self.take(count)
        if min(found) < 0:
            raise WrongArgument(f"{self.name} is called with a size of {min(found)}.")
        return found

    def scalar(self) -> complex:
        """The next scalar: its type, address and bytes. Raises WrongArgument for a null pointer."""
        kind, address, low, high = self.take(4)
        self._known(kind)
        if address == -1:
            raise WrongArgument(f"{self.name} is called with a null pointer for a scalar.")
        size = np.dtype(STORED[kind]).itemsize
        data = struct.pack("<qq", low, high)[:size]
        if address:
            data = bytes_at(self._side(address, size, "reads").real, size).tobytes()
        return decoded(np.frombuffer(data, STORED[kind]), kind)[0].item()

    def result(self, address: int, kind: int, value: object) -> None:
        """Write a result to where the handle's pointer mode has it."""
        self._known(kind)
        data = encoded(np.asarray([value]), kind).tobytes()
        place = self.memory.store(address, data, self.name)
        if place in (HOST, DEVICE) and (place == DEVICE) != self.on_device:
            mode = "CUBLAS_POINTER_MODE_" + ("DEVICE" if self.on_device else "HOST")
            text = f"{self.name} stores its result in memory of the {place}, and the mode is {mode}"
            self.mistakes.append(
                Refused(CudaStatus.cudaSuccess, HostMistake.WRONG_DIRECTION, f"{text}.")
            )

    def next_vector(self, count: int, what: str) -> LibraryOperand:
        """The vector of ``count`` elements whose type, address and step come next."""
        kind, address, step = self.take(3)
        return self.vector(address, kind, count, step, what)

    def vector(self, address: int, kind: int, count: int, step: int, what: str) -> LibraryOperand:
        """``count`` elements, every ``step``-th. A negative step begins at the last. Raises
        WrongArgument for a step of 0."""
        size = self.bytes_of(kind)
        if step == 0 and count > 1:
            raise WrongArgument(f"{self.name} is called with an increment of 0.")
        span = (1 + (count - 1) * abs(step)) * size if count else 0
        found = self._elements(address, kind, span, (count,), (abs(step) * size,), what)
        if step < 0:
            marks = None if found.marks is None else found.marks[::-1]
            return LibraryOperand(found.view[::-1], kind, marks, found.note)
        return found

    def matrix(
        self, name: str, address: int, kind: int, shape: tuple[int, int], ld: int, what: str
    ) -> LibraryOperand:
        """A matrix of ``shape``, whose columns are ``ld`` elements apart. Raises WrongArgument for
        an ``ld`` that is less than a column."""
        rows, columns = shape
        if ld < max(1, rows):
            raise WrongArgument(
                f"{self.name} is called with ld{name.lower()} = {ld}, and {name} has {rows} rows. "
                "Matrices are stored by columns: the leading dimension is the distance of two."
            )
        size = self.bytes_of(kind)
        span = ((columns - 1) * ld + rows) * size if rows and columns else 0
        return self._elements(address, kind, span, shape, (size, ld * size), what, f" as {name}")

    def array(
        self,
        address: int,
        kind: int,
        shape: tuple[int, ...],
        steps: tuple[int, ...],
        what: str,
    ) -> LibraryOperand:
        """An array whose elements are ``steps`` elements apart along each axis."""
        size = self.bytes_of(kind)
        last = sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
        span = (last + 1) * size if all(shape) else 0
        return self._elements(address, kind, span, shape, tuple(size * s for s in steps), what)

    def addresses(self, table: int, count: int) -> list[int]:
        """The pointers of an array of the device."""
        found = self._side(table, 8 * count, "reads")
        return list(map(int, bytes_at(found.real, 8 * count).view(np.uint64)))

    def bytes_of(self, kind: int) -> int:
        """The bytes of an element. Raises NotThere."""
        self._known(kind)
        return np.dtype(STORED[kind]).itemsize

    # --- memory ---

    def _known(self, kind: int) -> None:
        if kind not in STORED:
            raise NotThere(f"{self.name} is called with elements of the cudaDataType {kind}")

    def _elements(
        self,
        address: int,
        kind: int,
        span: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        what: str,
        role: str = "",
    ) -> LibraryOperand:
        stored = np.dtype(STORED[kind])
        if span == 0:
            return LibraryOperand(np.empty(shape, stored), kind)
        side = self._side(address, span, what, role)
        data = bytes_at(side.real, span)
        view = np.ndarray(shape, stored, data.data, 0, strides)
        marks, shadow = None, shadow_of(side.region)
        if shadow is not None and self._noted:
            part = shadow.bytes[side.offset : side.offset + span]
            deep = (*shape, stored.itemsize)
            marks = np.lib.stride_tricks.as_strided(part, deep, (*strides, 1))
        title = self.memory.title(address)

        def note(count: int) -> None:
            text = f"{self.name} reads {count:,} elements of {title}{role} that nothing has set."
            self.mistakes.append(Refused(CudaStatus.cudaSuccess, HostMistake.NO_VALUE, text))

        return LibraryOperand(view, kind, marks, note)

    def _side(self, address: int, size: int, what: str, role: str = "") -> Side:
        """Memory that a kernel of the library accesses. Raises Refused for memory of the host."""
        found = self.memory.side(address, size, self.name, what)
        if found.place == HOST:
            raise Refused(
                CudaStatus.cudaErrorIllegalAddress,
                HostMistake.NOT_ALLOCATED,
                f"{self.name} {what} {size:,} bytes of the host's memory{role}: copy them to the "
                "device first.",
            )
        return found
