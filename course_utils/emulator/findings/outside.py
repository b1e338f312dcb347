"""Explains an access outside every array: the array that it misses, or its address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..isa.location import Location
from ..isa.ptx import Address
from ..isa.symbols import readable_name
from .bases import base_of, has_product
from .causes import Cause
from .origins import condition_before, loads_of, of_thread_alone, step_of
from .reported_state import (
    ReportedAccess,
    ReportedArray,
    ReportedArrays,
    ReportedBatch,
    ReportedGroup,
)
from .wording import plural

RANGE = 2**32  # values of an int, or of an unsigned
MOST_BELOW = 2**20
NEIGHBOURS = 2  # elements from a thread's own number that are still the thread's
MOST_WRAPS = 8  # times that an index is taken to have passed the range of an int
NEAR = 2**40  # bytes from an array within which an access is said to miss it
NEAR_ON_HOST = 2**20  # the same among the many things at addresses of the host
IN_TABLE = 2**20  # bytes from an address in a table of addresses to the access
SEARCHED = 2**26  # bytes of an argument that is searched for an address
SMALL_INTEGER = 2**20
LOCAL = "a local array"  # the name of each: PTX doesn't keep the source's
HOST_ADDRESSES = ((0x55 << 40, 0x57 << 40), (0x7E << 40, 0x80 << 40))  # usual on Linux
PASSED = (
    "\n  2^31 was passed: an int ends at 2,147,483,647. One factor must be long long or size_t."
)
MAYBE_PASSED = " Has an int passed 2^31? Then one factor must be long long or size_t."


@dataclass(frozen=True)
class Miss:
    """An access outside every array. ``text`` follows the thread and its verb. ``array``,
    ``index`` and ``past`` are as in a :class:`~.report.Finding`. ``meant``: the index before it
    lost its upper bits. ``condition``: the line of a condition that let the access through.
    ``index_from``: the arrays that a part of the index was read from."""

    text: str
    cause: Cause
    array: str | None = None
    index: int | None = None
    past: int = 0
    meant: int | None = None
    condition: Location | None = None
    index_from: frozenset[str] = frozenset()


def explain(
    batch: ReportedBatch,
    site: ReportedAccess,
    group: ReportedGroup,
    address: int,
    inside: ReportedArray | None,
    at: str,
    own: Sequence[int],
) -> Miss:
    """The array that an access at a generic address misses, or what the address is. ``inside``: the
    array that it begins in. ``at``: its line in words. ``own``: the thread's numbers in the grid
    along x, y and z, and its block's."""
    regions, width = batch.memory.regions_of(address), site.width
    near = nearest(regions, address, inside)
    if inside is None and (wrapped := _wrapped(regions, site, address)) is not None:
        array, meant = wrapped
        index = meant % RANGE - RANGE
        text = f"{array.name}[{index}]{at}, and means {array.name}[{meant}].{PASSED}"
        return Miss(text, Cause.INDEX_OVERFLOW, array.name, index, meant=meant)
    # An index below 0 that has become unsigned: meant is the array just after the address.
    meant_array = nearest(regions, address - RANGE * width)
    if meant_array is not None and _is_wrapped((address - meant_array.start) // width):
        near = meant_array
    elif inside is None:
        meant_array = batch.memory.argument(base_of(group.code, site.instruction))
        if meant_array is not None and batch.memory.regions_of(meant_array.start) is regions:
            near = meant_array  # the line's own, however near the address is to another
    within = NEAR_ON_HOST if _of_host(address) else NEAR
    if near is None or min(abs(address - near.end), abs(near.start - address)) > within:
        return _nowhere(batch, address, at)
    index = (address - near.start) // width
    past = max(0, index - near.size // width + 1)
    text, cause = _miss(site, group, near, address, index, past, at), Cause.OUTSIDE_ARRAY
    condition = condition_before(group.code, group.block, site.instruction)
    unit = (address - near.start) // site.bytes
    if site.space == "shared":
        cause = Cause.OUTSIDE_SHARED_ARRAY
    elif not _is_own(unit, own) and not of_thread_alone(group.code, group.block, site.instruction):
        cause = Cause.OUTSIDE_ARRAY_COMPUTED
    if near.dynamic and index >= 0:
        cause = Cause.DYNAMIC_SHARED_TOO_SMALL
    elif condition is not None:
        cause = Cause.OUTSIDE_ARRAY_GUARDED
    if _is_wrapped(index):
        cause = Cause.INDEX_BELOW_ZERO
        text += f" As an unsigned index, {index - RANGE} is {index}."
    elif -RANGE // 2 <= index < -RANGE // 4 and has_product(group.code, site.instruction):
        text += MAYBE_PASSED
    names = _read_for(batch, group, site)
    return Miss(text, cause, near.name, index, past, condition=condition, index_from=names)


def _read_for(batch: ReportedBatch, group: ReportedGroup, site: ReportedAccess) -> frozenset[str]:
    """The names of the arrays that a part of an index was read from."""
    place = next((o for o in site.instruction.operands if isinstance(o, Address)), None)
    names = set()
    for load in () if place is None else loads_of(group.code, place.base):
        base = base_of(group.code, load)
        array = batch.memory.argument(base)
        names.add(readable_name(base) if array is None else array.name)
    return frozenset(names)


def _is_own(index: int, own: Sequence[int]) -> bool:
    """Whether an index may be the thread's own number, or one next to it: along x, in rows of any
    length, or its block's."""
    x, y, z, *blocks = own
    row, rest = divmod(index - x, y) if y else (0, index - x)
    return z > 0 or (row > 0 == rest) or min(abs(index - n) for n in (x, *blocks)) <= NEIGHBOURS


def nearest(
    regions: ReportedArrays | None, address: int, inside: ReportedArray | None = None
) -> ReportedArray | None:
    """The array that ends or begins nearest to an address. ``inside``: one that it is in."""
    below = inside or (regions.below(address) if regions else None)
    above = regions.above(address) if regions else None
    if (
        above is not None
        and above.size
        and (below is None or above.start - address < address - below.end)
    ):
        return above
    return below


def _is_wrapped(index: int) -> bool:
    return -MOST_BELOW <= index - RANGE < 0


def _wrapped(
    regions: ReportedArrays | None, site: ReportedAccess, address: int
) -> tuple[ReportedArray, int] | None:
    """(array, index) that an access would reach if its index hadn't lost its upper bits."""
    for unit in dict.fromkeys((site.width, site.bytes)):
        for times in range(1, MOST_WRAPS + 1):
            whole = address + times * RANGE * unit
            array = regions.below(whole) if regions else None
            if array is None or whole >= array.end:
                continue
            index = (whole - array.start) // unit
            if index - times * RANGE < 0:
                return array, index * unit // site.width
    return None


def _miss(
    site: ReportedAccess,
    group: ReportedGroup,
    array: ReportedArray,
    address: int,
    index: int,
    past: int,
    at: str,
) -> str:
    """The array and index that an access misses, and how long the array is."""
    width, name = site.width, array.name
    shared = site.space if site.space in ("shared", "local") else ""
    place = f" in {shared} memory" if shared else ""
    step = None if shared else step_of(group.code, site.instruction)
    if step is not None and step > site.bytes:
        return _miss_of_struct(site, array, address, step, at)
    if array.dynamic and not array.size:
        return (
            f"{name}[{index}]{place}{at}, but the launch gives no dynamic shared memory: {name} is "
            "declared extern __shared__, and its bytes come with the launch."
        )
    count = array.size // width
    if index < 0:
        distance = f"{plural(-index, 'element')} before its start"
    elif past:
        distance = f"{plural(past, 'element')} past its end"
    else:
        distance = "across its end"
    unit = f" of {plural(width, 'byte')}" if site.bytes > width else ""
    has = f"{plural(count, 'element')}{unit}"
    dtype = array.dtype
    if dtype is not None and dtype.itemsize != width:
        has = (
            f"{plural(array.size, 'byte')}, {plural(count, 'element')} of "
            f"{plural(width, 'byte')}. The array holds {dtype}"
        )
    if name == LOCAL:
        return f"element {index} of {name}{at}, {distance}: the array has {has}."
    return f"{name}[{index}]{place}{at}, {distance}: {name} has {has}."


def _miss_of_struct(
    site: ReportedAccess, array: ReportedArray, address: int, step: int, at: str
) -> str:
    """The same in bytes, for elements larger than the access: structs, or rows."""
    place, name = address - array.start, array.name
    past = place + site.bytes - array.size
    distance = f"{plural(-place, 'byte')} before its start"
    if place >= 0:
        distance = f"{plural(past, 'byte')} past its end"
    return (
        f"{plural(site.bytes, 'byte')} at byte {place} of {name}{at}, {distance}: {name} has "
        f"{plural(array.size, 'byte')}.\n  The kernel takes elements of {plural(step, 'byte')}: "
        f"this is element {place // step}, and {name} has room for {array.size // step}."
    )


def _nowhere(batch: ReportedBatch, address: int, at: str) -> Miss:
    """An address that is near no array, as numbers or as an address of the host."""
    text = f"address {address:#x}{at}, where there is no array."
    numbers, found = _numbers(address), _found_in_table(batch, address)
    if found is not None:
        array, place, value = found
        numbers = _numbers(value, array.dtype)
        name = f"{array.name}[{place}]"
        if numbers:
            text = (
                f"address {address:#x}{at}, which isn't an address: {name} was read as a pointer "
                f"and holds {numbers}.\n  {array.name} is an array of numbers, not a table of "
                "pointers."
            )
            return Miss(text, Cause.NUMBERS_AS_ADDRESS, array.name, place)
    if _of_host(address):
        source = f" {name} holds it." if found is not None else ""
        text += f"{source} It looks like an address of the host, which a kernel can't reach."
        return Miss(text, Cause.HOST_ADDRESS, found[0].name if found else None)
    if numbers.startswith("the floats"):
        text += (
            f"\n  As numbers its halves are {numbers}: a pointer was read from an array of them."
        )
        return Miss(text, Cause.NUMBERS_AS_ADDRESS)
    return Miss(text, Cause.ADDRESS_NOT_ALLOCATED)


def _found_in_table(batch: ReportedBatch, address: int) -> tuple[ReportedArray, int, int] | None:
    """(array, index, value): the element of an argument, of 8 bytes, from which an address comes,
    and its value."""
    for array in batch.memory.arguments():
        words = array.storage[: min(array.size, SEARCHED) // 8 * 8].view(np.uint64)
        distance = np.uint64(address) - words
        close = np.flatnonzero(distance < IN_TABLE)
        if len(close):
            first = int(close[np.argmin(distance[close])])
            return array, first, int(words[first])
    return None


def _numbers(value: int, dtype: np.dtype | None = None) -> str:
    """Eight bytes as two floats, one double or two small integers, "" where none is likely.
    ``dtype``: of the array that holds them, None where it isn't known."""
    data = np.array([value], np.uint64)
    if dtype == np.float64:
        return f"the double {data.view(np.float64)[0]}"
    pair, double = data.view(np.float32), float(data.view(np.float64)[0])
    if all(x == 0 or 1e-6 < abs(x) < 1e6 for x in pair.tolist()) and pair[1]:
        return f"the floats {pair[0]}, {pair[1]}"
    if 1e-6 < abs(double) < 1e6:
        return f"the double {double}"
    low, high = data.view(np.int32).tolist()
    if 0 < abs(high) < SMALL_INTEGER and abs(low) < SMALL_INTEGER:
        return f"the ints {low}, {high}"
    return ""


def _of_host(address: int) -> bool:
    return any(low <= address < high for low, high in HOST_ADDRESSES)
