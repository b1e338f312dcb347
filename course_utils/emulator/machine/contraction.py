"""Products and sums that ptxas contracts into a multiply-add, so that both devices round alike.

NVRTC writes ``x + y * z`` as one ``fma``, but ``x - y * z`` as a ``mul`` and a ``sub`` without
rounding modifiers, which ptxas may contract (PTX ISA, "Floating Point Instructions: add": such
sequences "may be optimized"). It does, as its machine code shows, where *every* use of the product
can take the product in: each is an ``add`` or ``sub`` of the same type, flushing alike, in the same
straight run of instructions, directly or through ``neg``. One use that needs the product itself, a
store or a comparison, and all of them stay apart. Where both operands of a sum are products, the
first is taken in and the second becomes its addend.

Registers are taken as NVRTC writes them, once each. Of hand-written PTX that writes a factor again
before the sum, or moves a product to another register, ptxas contracts more than is done here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ..isa.instruction_set import Op, operation, traits_of
from ..isa.ptx import Address, Function, Instruction, Operand, OperandList, Register, register

Uses = dict[int, list[tuple[int, int]]]  # slot -> (position, operand)
Writes = dict[int, list[int]]  # slot -> positions

TYPES = {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"}


@dataclass(frozen=True, slots=True)
class MultiplyAdd:
    """What a sum computes instead: ``op`` of two factors and an addend."""

    op: Op
    sources: tuple[Operand, Operand, Operand]


@dataclass(slots=True)
class _Product:
    """A ``mul``, and the sums that take it in: position -> (operand, negated)."""

    position: int
    run: int
    instruction: Instruction
    uses: dict[int, tuple[int, bool]]


def contractions(function: Function) -> dict[int, MultiplyAdd]:
    """The sums of ``function`` that are contracted, by their position among its instructions."""
    code = function.instructions
    if not any(map(_is_product, code)):
        return {}
    runs = list(_runs(function))
    where, written = _occurrences(code)
    products = {}
    for position, instruction in enumerate(code):
        if _is_product(instruction):
            product = _Product(position, runs[position], instruction, {})
            if _taken_in(product, position, False, code, runs, where):
                products[position] = product
    _drop_second_products(products)
    found = {}
    for product in products.values():
        for position, (operand, negated) in product.uses.items():
            if _unchanged(product, position, written):
                found[position] = _multiply_add(
                    product.instruction, code[position], operand, negated
                )
    return found


def _is_product(instruction: Instruction) -> bool:
    modifiers = instruction.modifiers
    return (
        instruction.opcode == "mul"
        and modifiers[-1:] != ()
        and modifiers[-1] in TYPES
        and set(modifiers[:-1]) <= {"ftz"}
        and instruction.guard is None
        and isinstance(instruction.operands[0], Register)
    )


def _runs(function: Function) -> Iterator[int]:
    """For each instruction the number of its straight run: no branch leads into it or out of it."""
    labels = {
        position
        for instruction in function.instructions
        for position in instruction.scope.labels.values()
    }
    run, ended = 0, False
    for position, instruction in enumerate(function.instructions):
        run += ended or position in labels
        ended = bool(traits_of(instruction).branch)
        yield run


def _occurrences(code: list[Instruction]) -> tuple[Uses, Writes]:
    """For each slot the (position, operand) at which it occurs, and the positions that write it."""
    where: Uses = defaultdict(list)
    written: Writes = defaultdict(list)
    for position, instruction in enumerate(code):
        results = traits_of(instruction).results
        for number, operand in enumerate((*instruction.operands, instruction.guard)):
            for slot in _slots(operand):
                where[slot].append((position, number))
                if number < results:
                    written[slot].append(position)
    return where, written


def _slots(operand: object) -> Iterator[int]:
    if isinstance(operand, Register):
        yield operand.slot
    elif isinstance(operand, Address):
        yield from _slots(operand.base)
        for each in operand.extra:
            yield from _slots(each)
    elif isinstance(operand, OperandList):
        for each in operand.items:
            yield from _slots(each)


def _taken_in(
    product: _Product,
    made: int,
    negated: bool,
    code: list[Instruction],
    runs: list[int],
    where: Uses,
) -> bool:
    """Whether every use of the product, which instruction ``made`` leaves in its register, can take
    it in; notes them."""
    first, *uses = where[register(code[made].operands[0]).slot]
    if first != (made, 0) or not uses:
        return False
    for position, operand in uses:
        user = code[position]
        if runs[position] != product.run or operand == 0 or position in product.uses:
            return False
        if user.opcode == "neg" and user.modifiers == product.instruction.modifiers:
            if user.guard or not isinstance(user.operands[0], Register):
                return False
            if not _taken_in(product, position, not negated, code, runs, where):
                return False
        elif user.opcode in ("add", "sub") and _alike(user, product.instruction):
            product.uses[position] = operand, negated
        else:
            return False
    return True


def _alike(total: Instruction, product: Instruction) -> bool:
    return tuple(m for m in total.modifiers if m != "sat") == product.modifiers


def _drop_second_products(products: dict[int, _Product]) -> None:
    """Of two products in one sum leave the second out, from the last sum to the first: it is the
    addend there, hence needed itself."""
    uses: dict[int, dict[int, _Product]] = defaultdict(dict)  # of each sum, by operand
    for product in products.values():
        for position, (operand, _) in product.uses.items():
            uses[position][operand] = product
    for position in sorted(uses, reverse=True):
        both = [uses[position][n].position for n in (1, 2) if n in uses[position]]
        if len(both) == 2 and all(at in products for at in both):
            del products[both[1]]


def _unchanged(product: _Product, position: int, written: Writes) -> bool:
    """Whether the factors still hold at ``position`` what was multiplied."""
    slots = [slot for factor in product.instruction.operands[1:] for slot in _slots(factor)]
    return not any(
        product.position <= at < position for slot in slots for at in written.get(slot, ())
    )


def _multiply_add(
    product: Instruction, total: Instruction, operand: int, negated: bool
) -> MultiplyAdd:
    minus = total.opcode == "sub"
    addend = total.operands[3 - operand]
    op = _contracted(
        product.modifiers,
        "sat" in total.modifiers,
        negated ^ (minus and operand == 2),
        minus and operand == 1,
    )
    _, one, other = product.operands
    return MultiplyAdd(op, (one, other, addend))


@lru_cache(maxsize=64)
def _contracted(
    modifiers: tuple[str, ...], saturated: bool, minus_product: bool, minus_addend: bool
) -> Op:
    """A multiply-add that negates its product or its addend; one object for each kind, so that
    several of them can run as one (:mod:`.fusion`)."""
    more = ("sat",) if saturated else ()
    fma = operation("fma", ("rn", *modifiers[:-1], *more, modifiers[-1]))
    negate = operation("neg", modifiers[-1:])
    assert fma is not None and negate is not None
    if not (minus_product or minus_addend):
        return fma
    first = negate.compute if minus_product else _as_it_is
    last = negate.compute if minus_addend else _as_it_is
    compute = fma.compute
    return replace(fma, compute=lambda a, b, c: compute(first(a), b, last(c)))


def _as_it_is(a: np.ndarray) -> np.ndarray:
    return a
