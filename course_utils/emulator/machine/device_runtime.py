"""The functions of CUDA's device runtime (libcudadevrt), by which kernels launch kernels.

``child<<<grid, block>>>(x)`` in a kernel becomes two calls. ``__cudaCDP2GetParameterBufferV2``
gives memory for the arguments, and ``__cudaCDP2LaunchDeviceV2`` launches. Every lane that calls
them launches its own grid.
Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", "Device-side Launch from PTX".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..findings.causes import Cause
from ..findings.report import LAUNCH_REFUSED, OUT_OF_BOUNDS, WARNING, KernelFault
from ..findings.wording import shape_text
from ..isa.gpu_constants import Triple
from ..isa.symbols import readable_name
from ..memory.address_space import GLOBAL, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_SIZE
from . import device_memory
from .child_launches import (
    DEEPEST,
    MOST_PENDING,
    ChildLaunch,
    DeviceStatus,
    new_buffer,
)
from .device_call import Call, Struct
from .lanes import Group
from .program import not_defined

if TYPE_CHECKING:
    from ..isa import ptx

Function = Callable[[Call], int]

PREFIXES = "__cudaCDP2", "cuda"  # since CUDA 12, and before
MOST_GRID = (2**31 - 1, 65_535, 65_535)
MOST_BLOCK = (1024, 1024, 64)
NON_BLOCKING = 1


# --- launches ---


def _prepare(call: Call, address: int, grid: Triple, block: Triple, shared: int) -> int:
    """The address for the arguments of a launch, 0 for one that is refused."""
    module = call.launch.module
    name = module.function_at(address, call.instruction)
    shape = f"<<<{shape_text(grid)}, {shape_text(block)}>>>"
    error = DeviceStatus.cudaErrorInvalidConfiguration
    size, threads_allowed = module.kernel_needs(name)
    if size < 0:
        wrong, error = "it is no kernel of this module", DeviceStatus.cudaErrorInvalidDeviceFunction
    elif call.children.depth >= DEEPEST:
        wrong = f"{DEEPEST} launches lie around it, which is as deep as they go"
        error = DeviceStatus.cudaErrorLaunchMaxDepthExceeded
    else:
        wrong = _wrong_shape(grid, block, threads_allowed)
    if wrong:
        call.refuse(name, shape, wrong, error)
        return 0
    thread, parent_block = call.batch.thread_and_block(call.lane)
    child = ChildLaunch(
        name,
        grid,
        block,
        shared,
        new_buffer(name, size),
        thread,
        parent_block,
        call.instruction.location,
    )
    return call.children.buffer(child)


def _wrong_shape(grid: Triple, block: Triple, allowed: int) -> str:
    """The mistake in the shape of a launch, or ""."""
    for what, shape in (("blocks", grid), ("threads", block)):
        if min(shape) < 1:
            return f"{shape_text(shape)} has no {what}"
    if math.prod(block) > allowed:
        return f"a block has {math.prod(block):,} threads, of which it may have {allowed:,}"
    for what, shape, most in (("grid", grid, MOST_GRID), ("block", block, MOST_BLOCK)):
        if any(n > limit for n, limit in zip(shape, most, strict=True)):
            return f"a {what} of {shape_text(shape)} is larger than {most}"
    return ""


def _launch(call: Call, address: int, stream: int) -> DeviceStatus:
    """The arguments are there: the kernel may run, once this grid has ended."""
    child = call.children.buffers.pop(address, None)
    if child is None:
        return call.fail(DeviceStatus.cudaErrorInvalidValue)
    if not call.children.knows(stream):
        GLOBAL.free(child.arguments)
        why = "its stream is none that this kernel has made"
        shape = f"<<<{shape_text(child.grid)}, {shape_text(child.block)}>>>"
        return call.refuse(child.name, shape, why, DeviceStatus.cudaErrorInvalidResourceHandle)
    _check_addresses(call, child)
    call.children.ask(child, stream)
    if call.children.pending == MOST_PENDING + 1:
        text = (
            f"Launch refused: more than {MOST_PENDING:,} launches wait to begin, with that of "
            f"{readable_name(child.name)} by {call.who()}.\n"
            "  Warning: it runs here. A GPU refuses it unless earlier ones have begun by then. "
            "Launch\n  fewer and larger grids, or raise cudaLimitDevRuntimePendingLaunchCount."
        )
        cause = Cause.CHILD_LAUNCHES_PENDING
        finding = call.finding(LAUNCH_REFUSED, cause, text, WARNING)
        call.launch.findings.add((LAUNCH_REFUSED, "pending"), finding)
    return DeviceStatus.cudaSuccess


def _check_addresses(call: Call, child: ChildLaunch) -> None:
    """Raise KernelFault where an argument is an address of this thread's local memory, or of its
    block's shared memory, which another kernel can't reach."""
    data = child.arguments.storage
    for place in range(0, data.size - 7, 8):
        address = int(data[place : place + 8].view(np.uint64)[0])
        for window, memory in ((LOCAL_WINDOW, "local"), (SHARED_WINDOW, "shared")):
            inside = window <= address < window + WINDOW_SIZE
            region = call.batch.memory.region_at(address) if inside else None
            if region is not None:
                text = (
                    f"Out of bounds: {call.who()} launches {readable_name(child.name)} with the "
                    f"address of {region.name}, which is {memory} memory.\n  Another kernel can't "
                    "reach it. Pass an address of global memory."
                )
                cause = Cause.CHILD_GETS_OWN_MEMORY
                raise KernelFault(call.finding(OUT_OF_BOUNDS, cause, text))


def _get_parameter_buffer_v2(call: Call) -> int:
    return _prepare(call, call.number(0), call.triple(1), call.triple(2), call.number(3))


def _launch_device_v2(call: Call) -> DeviceStatus:
    return _launch(call, call.number(0), call.number(1))


# --- errors, streams, events ---


def _make_handle(call: Call) -> DeviceStatus:
    ok = call.store(call.number(0), call.children.new_handle().to_bytes(8, "little"))
    return DeviceStatus.cudaSuccess if ok else call.fail(DeviceStatus.cudaErrorInvalidValue)


def _create_stream(call: Call) -> DeviceStatus:
    """A kernel's streams must be made with cudaStreamNonBlocking."""
    if call.number(1) != NON_BLOCKING:
        return call.fail(DeviceStatus.cudaErrorInvalidValue)
    return _make_handle(call)


def _known(call: Call) -> DeviceStatus:
    """A use of a stream or an event, which needs nothing here."""
    if call.children.knows(call.number(0)):
        return DeviceStatus.cudaSuccess
    return call.fail(DeviceStatus.cudaErrorInvalidResourceHandle)


# --- numbers ---


def _store_number(value: int) -> Function:
    def store(call: Call) -> DeviceStatus:
        ok = call.store(call.number(0), value.to_bytes(4, "little"))
        return DeviceStatus.cudaSuccess if ok else call.fail(DeviceStatus.cudaErrorInvalidValue)

    return store


FUNCTIONS: dict[str, Function] = {
    "GetParameterBufferV2": _get_parameter_buffer_v2,
    "LaunchDeviceV2": _launch_device_v2,
    "GetLastError": lambda call: call.last_error(keep=False),
    "PeekAtLastError": lambda call: call.last_error(keep=True),
    "StreamCreateWithFlags": _create_stream,
    "StreamDestroy": _known,
    "StreamWaitEvent": _known,
    "EventCreateWithFlags": _make_handle,
    "EventRecord": _known,
    "EventDestroy": _known,
    "MemcpyAsync": device_memory.copy,
    "MemsetAsync": device_memory.fill_memory,
    "Malloc": device_memory.allocate,
    "Free": device_memory.free,
    "GetDevice": _store_number(0),
    "GetDeviceCount": _store_number(1),
}
WIDE = {"GetParameterBufferV2"}  # their results have 64 bits, all others' 32


def device_function(name: str) -> str:
    """The name of a function of the device runtime in :data:`FUNCTIONS`, or ""."""
    for prefix in PREFIXES:
        if name.startswith(prefix) and name.removeprefix(prefix) in FUNCTIONS:
            return name.removeprefix(prefix)
    return ""


def call_runtime(
    name: str, group: Group, instruction: ptx.Instruction, arguments: list[Struct]
) -> np.ndarray:
    """Call the function ``name`` of :data:`FUNCTIONS` for each lane. Returns its results, (n,).
    Raises KernelFault where the arguments don't fit that function."""
    kind = np.uint64 if name in WIDE else np.uint32
    results = np.zeros(group.n, kind)
    for at in range(group.n):
        try:
            results[at] = FUNCTIONS[name](Call(group, at, instruction, arguments))
        except (KeyError, IndexError):
            raise not_defined(instruction, f"cuda{name}") from None
    return results
