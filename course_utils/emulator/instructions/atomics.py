"""Atomics: atom (gives the old value back) and red (does not), on every space and type.

Source: PTX ISA, "atom" and "red".

Lanes that hit one address are served one after another, in lane order. Where all addresses differ,
or the operation has a closed form for many lanes at one address, whole arrays are computed at once.
"""

from __future__ import annotations

import numpy as np

from ..isa import ptx
from ..isa.instruction_set import DTYPES, TABLE, Compute, Traits, step
from ..machine.accesses import Site
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.program import Builder
from ..numerics import floats
from .loads_stores import _in_pieces


def _increment(old: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.where(old >= value, 0, old + 1).astype(old.dtype)


def _decrement(old: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.where((old == 0) | (old > value), value, old - 1).astype(old.dtype)


OPERATIONS: dict[str, Compute] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": lambda old, value: value,
    "inc": _increment,
    "dec": _decrement,
}
# By what is done, not by its name: a bf16 is stored as an integer, and not added as one.
AT_ONCE = (np.add, np.minimum, np.maximum)


def _operation(name: str, kind: str) -> Compute | None:
    """(old, value) -> new, on arrays of the dtype of ``kind``."""
    if kind in ("f16", "bf16", "f16x2", "bf16x2"):
        found = TABLE[name](("rn", kind) if name == "add" else (kind,)) if name in TABLE else None
        return found.compute if found else None
    if name == "add" and kind == "f32":
        return lambda old, value: floats.flush(old + value)
    return OPERATIONS.get(name)


@step("atom", traits=Traits(memory="atomic"))
@step("red", traits=Traits(results=0, memory="atomic"))
def atom(b: Builder, i: ptx.Instruction) -> Step | None:
    """Of a vector each element is an atomic of its own."""
    kind = i.modifiers[-1]
    name = next((m for m in i.modifiers if m in OPERATIONS or m == "cas"), None)
    if name is None or kind not in DTYPES or (kind == "b128" and name not in ("exch", "cas")):
        return None
    operation = None if name == "cas" else _operation(name, kind)
    if operation is None and name != "cas":
        return None
    operands = list(i.operands)
    if "L2::cache_hint" in i.modifiers:
        operands.pop()
    puts = [b.write(o, kind) for o in ptx.items(operands.pop(0))] if i.opcode == "atom" else []
    values = [b.read(o, kind) for o in ptx.items(operands[-1])]
    site = Site(b, i, operands[0], kind, len(values))
    compare = b.read(operands[1], kind) if name == "cas" else None
    needed, written = tuple(b.reads), tuple(b.writes)
    dtype = DTYPES[kind]
    quick = not puts and operation in AT_ONCE and dtype.kind in "iu"
    at_once = operation if quick and isinstance(operation, np.ufunc) else None

    def act(group: Group) -> None:
        found = site.locate(group)
        if found is None:
            _in_pieces(site, group, act, needed, written)
            return
        region, first, index = found
        R = group.R
        index, olds = group.full(index), []
        expected = None if compare is None else group.full(compare(R))
        for n, value in enumerate([group.full(get(R)) for get in values], first):
            view = region.view(dtype)[n:]
            if expected is not None:
                olds.append(_compare_and_swap(view, index, expected, value))
            elif at_once is not None:
                at_once.at(view, index, value)
            elif operation is not None:
                olds.append(_in_turn(view, index, value, operation))
        for put, old in zip(puts, olds, strict=False):
            put(R, old)

    return act


def _ranks(index: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(order, sorted index, start flags) of a stable sort by address."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.ones(len(index), bool)
    starts[1:] = ordered[1:] != ordered[:-1]
    return order, ordered, starts


def _in_turn(
    view: np.ndarray, index: np.ndarray, values: np.ndarray, operation: Compute
) -> np.ndarray:
    order, ordered, starts = _ranks(index)
    if starts.all():
        old = view[index]
        view[index] = operation(old, values)
        return old
    values = values[order]
    if operation is np.add and view.dtype.kind in "iu":
        running = np.cumsum(values, dtype=view.dtype)
        before = running - values
        base = np.maximum.accumulate(np.where(starts, np.arange(len(index)), 0))
        old_sorted = view[ordered] + (before - before[base])
        ends = np.append(starts[1:], True)
        view[ordered[ends]] = (old_sorted + values)[ends]
    else:
        old_sorted = np.empty_like(values)
        group_start = np.maximum.accumulate(np.where(starts, np.arange(len(index)), 0))
        rank = np.arange(len(index)) - group_start
        by_rank = np.argsort(rank, kind="stable")
        edges = np.searchsorted(rank[by_rank], np.arange(rank.max() + 2))
        for low, high in zip(edges[:-1], edges[1:], strict=True):
            turn = by_rank[low:high]
            where = ordered[turn]
            old = view[where]
            old_sorted[turn] = old
            view[where] = operation(old, values[turn])
    old = np.empty_like(old_sorted)
    old[order] = old_sorted
    return old


def _compare_and_swap(
    view: np.ndarray, index: np.ndarray, expected: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """At every address the first lane that finds what it expects swaps, all of these at once.

    Then the lanes behind it find the new value; only where one of them expects that, lanes are
    served one after another.
    """
    bits = DTYPES[f"u{view.itemsize * 8}"]
    view, expected, values = view.view(bits), expected.view(bits), values.view(bits)
    old = view[index]
    if not (old == expected).any():
        return old
    order, ordered, starts = _ranks(index)
    expected, values, found = expected[order], values[order], old[order]
    address = np.cumsum(starts) - 1
    lanes = np.arange(len(order))
    first = np.full(address[-1] + 1, len(order))
    matching = np.flatnonzero(found == expected)
    first[address[matching[::-1]]] = matching[::-1]
    behind = lanes > first[address]
    found[behind] = values[first[address[behind]]]
    winners = first[first < len(order)]
    view[ordered[winners]] = values[winners]
    again = np.zeros(len(first), bool)
    again[address[behind & (found == expected)]] = True
    rest = np.flatnonzero(behind & again[address])
    if len(rest):
        held = dict(zip(ordered[rest].tolist(), found[rest].tolist(), strict=True))
        seen = []
        for lane in zip(*(x[rest].tolist() for x in (ordered, expected, values)), strict=True):
            place, hoped, new = lane
            seen.append(held[place])
            if held[place] == hoped:
                held[place] = new
        found[rest] = seen
        view[list(held)] = list(held.values())
    old[order] = found
    return old
