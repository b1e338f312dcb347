"""Functions that the device runtime supplies: vprintf, __assertfail, malloc, free.

Source: CUDA C++ Programming Guide, "Formatted Output", "Assertion", "Dynamic Global Memory
Allocation".
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..findings.causes import Cause
from ..findings.fault_messages import free_fault
from ..findings.report import ASSERTION, Finding, KernelFault
from ..findings.wording import where
from ..memory.address_space import GLOBAL
from ..numerics.rounding import round_up
from .lanes import Group

if TYPE_CHECKING:
    from ..isa import ptx

PRINT_LIMIT = 1 << 20  # characters kept of one launch, the size of CUDA's own buffer
MOST_ARGUMENTS = 32  # of one printf, after its format
WIDEST = 1000  # characters of one number
_SPEC = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|j|z|t|L)?([diouxXeEfFgGaAcsp%])")


def read_bytes(group: Group, lane: int, address: int, size: int) -> bytes:
    """``size`` bytes at a generic address, as one lane sees them; fewer at a region's end."""
    region = group.batch.memory.region_at(address)
    if region is None:
        return b""
    copy = {"all": 0, "block": int(lane) // group.batch.lanes_per_block, "lane": int(lane)}
    start = copy[region.owner] * region.stride + address - region.start
    return region.storage[start : start + min(size, region.end - address)].tobytes()


def read_string(group: Group, lane: int, address: int) -> str:
    """The C string at a generic address, as one lane sees it, at most 64 KB."""
    data = read_bytes(group, lane, address, 1 << 16)
    return data.split(b"\0", 1)[0].decode("utf-8", "replace")


def format_text(text: str, take: Callable[[int], bytes], string: Callable[[int], str]) -> str:
    """C's printf. ``take(size)`` gives the next argument's bytes; ``string(address)`` a string. As
    on a GPU, what asks for more than 32 arguments stays as it is."""
    left = MOST_ARGUMENTS

    def replace(match: re.Match[str]) -> str:
        nonlocal left
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        left -= 1 + (width == "*") + (precision == "*")
        if left < 0:
            return match[0]
        numbers = ["" if n is None else n for n in (width, precision)]
        for n, number in enumerate(numbers):
            if number == "*":
                numbers[n] = str(struct.unpack("<i", take(4))[0])
            if number:
                numbers[n] = str(max(-WIDEST, min(int(numbers[n][:9]), WIDEST)))
        exact = precision is not None and not numbers[1].startswith("-")
        form = "%" + flags + numbers[0] + (f".{numbers[1]}" if exact else "")
        if kind in "eEfFgGaA":
            value = struct.unpack("<d", take(8))[0]
            return value.hex() if kind in "aA" else (form + kind) % value
        if kind == "c":
            return (form + "c") % chr(take(4)[0])
        if kind == "s":
            return (form + "s") % string(struct.unpack("<Q", take(8))[0])
        if kind == "p":
            return (form + "s") % hex(struct.unpack("<Q", take(8))[0])
        size = 8 if length in ("l", "ll", "j", "z", "t") else 4
        value = int.from_bytes(take(size), "little", signed=kind in "di")
        if length in ("h", "hh"):
            bits = 8 if length == "hh" else 16
            value &= (1 << bits) - 1
            value -= (value >> (bits - 1) << bits) if kind in "di" else 0
        return (form + ("d" if kind in "diu" else kind)) % value

    return _SPEC.sub(replace, text)


def vprintf(group: Group, instruction: ptx.Instruction, arguments: list[np.ndarray]) -> np.ndarray:
    """printf(format, buffer): keep the text of each lane until the limit is reached. Returns 0."""
    batch = group.batch
    launch = batch.launch
    formats, buffers = (group.full(a) for a in arguments)
    moment = batch.scheduler.tick()
    limit = PRINT_LIMIT if launch.options.most_printed is None else launch.options.most_printed
    for n, lane in enumerate(group.lanes.tolist()):
        if launch.printed_size > limit:
            launch.unprinted += len(group.lanes) - n
            break
        place = [int(buffers[n])]

        def take(size: int, place: list[int] = place, lane: int = lane) -> bytes:
            place[0] = round_up(place[0], size)
            data = read_bytes(group, lane, place[0], size)
            place[0] += size
            return data.ljust(size, b"\0")

        def string(address: int, lane: int = lane) -> str:
            return read_string(group, lane, address)

        text = format_text(read_string(group, lane, int(formats[n])), take, string)
        slot, thread = divmod(lane, batch.lanes_per_block)
        launch.printed.append(((batch.first + slot, thread >> 5, moment, thread), text))
        launch.printed_size += len(text)
    return np.zeros(1, np.uint32)


def assertfail(group: Group, instruction: ptx.Instruction, arguments: list[np.ndarray]) -> None:
    """A failed assert(message, file, line, ...). Raises KernelFault for the first lane."""
    lane = int(group.lanes[0])
    message, file = (read_string(group, lane, int(group.full(a)[0])) for a in arguments[:2])
    line = int(group.full(arguments[2])[0])
    thread, block = group.batch.thread_and_block(lane)
    text = f"Assertion failed: {message} at {file}:{line}, {where(thread, block)}."
    cause = Cause.ASSERTION_FAILED
    raise KernelFault(Finding(ASSERTION, text, instruction.location, thread, block, cause=cause))


def malloc(group: Group, instruction: ptx.Instruction, arguments: list[np.ndarray]) -> np.ndarray:
    """malloc(bytes): the address that each lane gets, u64 (n,), or 0 where the heap is full."""
    heap = group.batch.launch.module.heap
    sizes = group.full(arguments[0]).tolist()
    return np.array([heap.take(size) for size in sizes], np.uint64)


def free(group: Group, instruction: ptx.Instruction, arguments: list[np.ndarray]) -> None:
    """free(address) of each lane. Raises KernelFault for an address that malloc did not give, or
    gave and took back."""
    for lane, address in zip(group.lanes, group.full(arguments[0]).tolist(), strict=True):
        region = GLOBAL.regions.below(address) if address else None
        if region is not None and region.start == address and region.heap is not None:
            region.heap.give_back(region)
        elif address:
            raise free_fault(group.batch, int(lane), instruction, address)


BUILTINS = {"vprintf": vprintf, "__assertfail": assertfail, "malloc": malloc, "free": free}
