"""cudaMemcpyAsync, cudaMemsetAsync, cudaMalloc and cudaFree as a kernel calls them."""

from __future__ import annotations

from ..memory.address_space import GLOBAL, Region
from .child_launches import DeviceStatus
from .device_call import Call


def _global(call: Call, address: int, size: int) -> tuple[Region, int] | None:
    """The array of global memory at an address with ``size`` bytes from there on, and where it is
    in it."""
    region = call.batch.memory.region_at(address)
    inside = region is not None and region.space == "global" and address + size <= region.end
    return (region, address - region.start) if inside and region is not None else None


def copy(call: Call) -> DeviceStatus:
    """cudaMemcpyAsync(to, from, bytes, kind, stream), between arrays of global memory."""
    to, source, size = (call.number(n) for n in range(3))
    target, origin = _global(call, to, size), _global(call, source, size)
    if target is None or origin is None:
        return call.fail(DeviceStatus.cudaErrorInvalidValue)
    (a, first), (b, start) = target, origin

    def move() -> None:
        a.storage[first : first + size] = b.storage[start : start + size].copy()

    call.children.ask(move, call.number(4))
    return DeviceStatus.cudaSuccess


def fill_memory(call: Call) -> DeviceStatus:
    """cudaMemsetAsync(to, value, bytes, stream)."""
    to, value, size = (call.number(n) for n in range(3))
    target = _global(call, to, size)
    if target is None:
        return call.fail(DeviceStatus.cudaErrorInvalidValue)
    region, first = target

    def fill() -> None:
        region.storage[first : first + size] = value & 0xFF

    call.children.ask(fill, call.number(3))
    return DeviceStatus.cudaSuccess


def allocate(call: Call) -> DeviceStatus:
    """cudaMalloc(pointer, bytes): from the heap of ``malloc``."""
    address = call.launch.module.heap.take(call.number(1))
    if not address or not call.store(call.number(0), address.to_bytes(8, "little")):
        return call.fail(DeviceStatus.cudaErrorMemoryAllocation)
    return DeviceStatus.cudaSuccess


def free(call: Call) -> DeviceStatus:
    """cudaFree(pointer): of what :func:`allocate` or ``malloc`` gave."""
    region = GLOBAL.regions.below(call.number(0))
    if call.number(0) == 0:
        return DeviceStatus.cudaSuccess
    if region is None or region.start != call.number(0) or region.heap is None:
        return call.fail(DeviceStatus.cudaErrorInvalidValue)
    region.heap.give_back(region)
    return DeviceStatus.cudaSuccess
