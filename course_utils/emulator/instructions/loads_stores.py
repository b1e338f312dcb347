"""Loads and stores: ld, ldu, st in every width, vector and state space.

Source: PTX ISA, "Data Movement and Conversion Instructions: ld, st".

Most kernels read ``[base + constant]`` again and again from one base register. What the check and
the gather need to know of that register (:class:`AddressPattern`) is worked out once and kept for
as long as the register holds the same value, so that a further access costs a few comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..isa import ptx
from ..isa.instruction_set import DTYPES, Traits, step
from ..machine.accesses import Site
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.operands import Get, Put
from ..machine.program import Builder


@step("add")
def add(b: Builder, i: ptx.Instruction) -> Step | None:
    """An addition like any other; but a pointer moved by the same amount in every lane needs no
    second look, and loops that walk through memory live on that."""
    act = b.compute(i)
    if act is None:
        return None
    target, pointer, amount = i.operands
    if i.modifiers[-1] not in ("s64", "u64") or not isinstance(pointer, ptx.Register):
        return act
    if not isinstance(target, ptx.Register):
        return act
    get = b.read(amount, "s64")
    source, sink = pointer.slot, target.slot

    def move(group: Group) -> None:
        register, offset = group.R[source], get(group.R)
        act(group)
        pattern = group.patterns.get(source)
        if pattern is not None and pattern.register is register and len(offset) == 1:
            moved = pattern.moved(group.R[sink], int(offset[0]))
            if moved is not None:
                group.patterns[sink] = moved

    return move


def _parts(i: ptx.Instruction) -> tuple[str, int]:
    count = next((int(m[1:]) for m in i.modifiers if m in ("v2", "v4", "v8")), 1)
    return i.modifiers[-1], count


@step("ld", "ldu", traits=Traits(memory="load"))
def ld(b: Builder, i: ptx.Instruction) -> Step:
    """A load of 1, 2, 4 or 8 elements. A ``.param`` variable is in registers."""
    kind, count = _parts(i)
    target, address = i.operands[0], ptx.address(i.operands[1])
    targets = ptx.items(target)
    if "param" in "".join(i.modifiers) and isinstance(address.base, ptx.Symbol):
        return _load_parameter(b, i, targets, address, kind)
    site = Site(b, i, address, kind, count)
    puts = [b.write(t, kind) for t in targets]
    needed, written = tuple(b.reads), tuple(b.writes)
    dtype = site.dtype

    locate, put_one = site.locate, puts[0]

    def act_one(group: Group) -> None:
        found = locate(group)
        if found is None:
            _in_pieces(site, group, act_one, needed, written)
            return
        region, first, index = found
        put_one(group.R, region.view(dtype)[first:].take(index))

    def act(group: Group) -> None:
        found = locate(group)
        if found is None:
            _in_pieces(site, group, act, needed, written)
            return
        region, first, index = found
        view, R = region.view(dtype), group.R
        for n, put in enumerate(puts, first):
            put(R, view[n:].take(index))

    return act_one if len(puts) == 1 else act


def _load_parameter(
    b: Builder, i: ptx.Instruction, targets: Sequence[ptx.Operand], address: ptx.Address, kind: str
) -> Step:
    variable = i.scope.variable(ptx.symbol(address.base).name)
    puts = [b.write(t, kind) for t in targets]
    dtype = DTYPES[kind]
    if b.function.is_entry and variable in b.function.parameters:
        name, offset = variable.name, address.offset

        def act(group: Group) -> None:
            for n, put in enumerate(puts):
                start = offset + n * dtype.itemsize
                data = group.batch.launch.parameters[name][start : start + dtype.itemsize]
                put(group.R, np.frombuffer(data, dtype))

        return act
    gets = [
        b.read(_slot_register(b, variable, address.offset + n * dtype.itemsize, kind), kind)
        for n in range(len(targets))
    ]
    return _moved(gets, puts)


def _moved(gets: list[Get], puts: list[Put]) -> Step:
    """Values that are passed on from register to register."""

    def act(group: Group) -> None:
        for get, put in zip(gets, puts, strict=True):
            put(group.R, get(group.R))

    return act


def _slot_register(b: Builder, variable: ptx.Variable, offset: int, kind: str) -> ptx.Register:
    slot = b.parameter(variable, offset, kind)
    return ptx.Register(slot, b.function.slot_types[slot], variable.name)


@step("st", traits=Traits(results=0, memory="store"))
def st(b: Builder, i: ptx.Instruction) -> Step:
    """A store of 1, 2, 4 or 8 elements. A ``.param`` variable is in registers."""
    kind, count = _parts(i)
    where, source = i.operands
    address = ptx.address(where)
    sources = ptx.items(source)
    gets = [b.read(s, kind) for s in sources]
    if "param" in "".join(i.modifiers):
        variable = i.scope.variable(ptx.symbol(address.base).name)
        width = DTYPES[kind].itemsize
        puts = [
            b.write(_slot_register(b, variable, address.offset + n * width, kind), kind)
            for n in range(count)
        ]
        return _moved(gets, puts)
    site = Site(b, i, address, kind, count)
    site.values = gets
    needed = tuple(b.reads)
    dtype = site.dtype

    def act(group: Group) -> None:
        found = site.locate(group)
        if found is None:
            _in_pieces(site, group, act, needed, ())
            return
        region, first, index = found
        view = region.view(dtype)
        for n, get in enumerate(gets):
            value = get(group.R)
            view[first + n :][index] = value if len(value) <= len(index) else value[-1:]

    return act


def _in_pieces(
    site: Site, group: Group, act: Step, needed: tuple[int, ...], written: tuple[int, ...]
) -> None:
    """An access whose lanes reach several regions: one region after another."""
    for index in site.pieces(group):
        part = group.subset(index, needed)
        act(part)
        for slot in written:
            value = np.array(group.full(group.R[slot].view(part.R[slot].dtype)))
            value[index] = part.R[slot]
            group.R[slot] = value
