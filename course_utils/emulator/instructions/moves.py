"""Data movement that touches no memory: mov, cvta, isspacep, special registers.

Source: PTX ISA, "Data Movement and Conversion Instructions: mov, cvta, isspacep, createpolicy",
"Special Registers".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..isa import ptx
from ..isa.instruction_set import DTYPES, Traits, step
from ..machine.code import Step
from ..machine.lanes import Group, lane_masks
from ..machine.program import Builder
from ..memory.address_space import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_SIZE

POLICY = 1 << 60
CLOCKS = {
    "clock": "u32",
    "clock_hi": "u32",
    "clock64": "u64",
    "globaltimer": "u64",
    "globaltimer_lo": "u32",
    "globaltimer_hi": "u32",
}
WINDOWS = {
    "shared": SHARED_WINDOW,
    "shared::cta": SHARED_WINDOW,
    "shared::cluster": SHARED_WINDOW,
    "local": LOCAL_WINDOW,
}


@step("mov", traits=Traits(registers="copies"))
def mov(b: Builder, i: ptx.Instruction) -> Step | None:
    """A copy of a register, a constant or an address. A vector is packed or unpacked."""
    target, source = i.operands
    kind = i.modifiers[-1]
    if isinstance(target, ptx.OperandList):
        return _unpack(b, target.items, source, kind)
    if isinstance(source, ptx.OperandList):
        return _pack(b, target, source.items, kind)
    if isinstance(source, ptx.Special) and source.name in CLOCKS:
        return _clock(b, target, source.name)
    if isinstance(source, ptx.Special) and source.name == "cc":
        kind = "pred"
    get, put = b.read(source, kind), b.write(target, kind)

    def act(group: Group) -> None:
        put(group.R, get(group.R))

    return act


def _clock(b: Builder, target: ptx.Operand, name: str) -> Step:
    """Clocks count the instructions issued by the batch: an order of events, not a time."""
    kind = CLOCKS[name]
    put, dtype = b.write(target, kind), DTYPES[kind]
    shift = 32 if name.endswith("_hi") else 0
    before = b.position - b.start  # instructions of this basic block that come first

    def act(group: Group) -> None:
        ticks = group.batch.launch.issued + group.batch.scheduler.issued + before
        put(group.R, np.array([ticks >> shift], np.uint64).astype(dtype))

    return act


def _unpack(b: Builder, targets: Sequence[ptx.Operand], source: ptx.Operand, kind: str) -> Step:
    bits = DTYPES[kind].itemsize * 8 // len(targets)
    part = DTYPES[f"u{bits}"]
    get = b.read(source, f"b{bits * len(targets)}")
    puts = [b.write(t, f"b{bits}") for t in targets]

    def act(group: Group) -> None:
        value = np.ascontiguousarray(get(group.R))
        parts = value.view(part).reshape(len(value), len(puts))
        for n, put in enumerate(puts):
            put(group.R, np.ascontiguousarray(parts[:, n]))

    return act


def _pack(b: Builder, target: ptx.Operand, sources: Sequence[ptx.Operand], kind: str) -> Step:
    bits = DTYPES[kind].itemsize * 8 // len(sources)
    whole = DTYPES[f"u{bits * len(sources)}"]
    gets = [b.read(s, f"b{bits}") for s in sources]
    put = b.write(target, f"b{bits * len(sources)}")

    def act(group: Group) -> None:
        values = np.broadcast_arrays(*(get(group.R) for get in gets))
        put(group.R, np.stack(values, axis=1).view(whole)[:, 0].copy())

    return act


@step("cvta")
def cvta(b: Builder, i: ptx.Instruction) -> Step:
    """Between an address in a state space and the generic address of the same byte."""
    kind = i.modifiers[-1]
    space = next(m for m in i.modifiers if m not in ("to", kind))
    window = np.uint64(WINDOWS.get(space, 0))
    to_space = "to" in i.modifiers
    get, put = b.read(i.operands[1], kind), b.write(i.operands[0], kind)

    is_param = space.partition("::")[0] == "param"

    def act(group: Group) -> None:
        value = get(group.R)
        if window:
            value = value - window if to_space else value + window
        elif is_param:  # its name is a generic address, and a 32-bit register keeps the lower half
            value = value | np.uint64(PARAM_WINDOW)
        put(group.R, value)

    return act


@step("isspacep")
def isspacep(b: Builder, i: ptx.Instruction) -> Step:
    """Whether a generic address is in a state space."""
    space = i.modifiers[0]
    get, put = b.read(i.operands[1], "u64"), b.write(i.operands[0], "pred")
    window = WINDOWS.get(space)

    def act(group: Group) -> None:
        address = get(group.R)
        if window is None:
            below = address < np.uint64(SHARED_WINDOW)  # shared with the host
            put(group.R, below | (address >= np.uint64(LOCAL_WINDOW + WINDOW_SIZE)))
        else:
            put(group.R, (address - np.uint64(window)) < np.uint64(WINDOW_SIZE))

    return act


@step("activemask")
def activemask(b: Builder, i: ptx.Instruction) -> Step:
    """The mask (u32) of the lanes of the warp that run together now."""
    put = b.write(i.operands[0], "b32")

    def act(group: Group) -> None:
        warps, masks = lane_masks(group)
        put(group.R, masks[np.searchsorted(warps, group.lanes >> 5)])

    return act


@step("createpolicy")
def createpolicy(b: Builder, i: ptx.Instruction) -> Step:
    """A cache policy: a number for ``.L2::cache_hint`` that is never looked at."""
    put = b.write(i.operands[0], "b64")

    def act(group: Group) -> None:
        put(group.R, np.array([POLICY], np.uint64))

    return act


@step("alloca", "stacksave", "stackrestore")
def dynamic_stack(b: Builder, i: ptx.Instruction) -> Step | None:
    """Not known: arrays whose size is known only when they are allocated."""
    return None
