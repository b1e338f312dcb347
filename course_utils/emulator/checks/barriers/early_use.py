"""A static check: results of asynchronous instructions that are used before the wait for them.

wgmma and tcgen05.ld fill registers some time after they were issued. The emulator fills them at
once: the compiler may put ``mov`` between the instruction and the wait, which copy registers in
flight and mean nothing on a GPU. So it is looked for in the program itself, on every path through a
function, whether the right wait comes between the instruction and each use of its result.

For tcgen05.ld the manual promises that a use of the very register waits ("Register dependencies,
same thread"), and nothing else does; no kernel should rest on that, and no library is known to.
Source: PTX ISA, "wgmma.wait_group", "tcgen05.wait".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from ...findings.causes import Cause
from ...findings.report import DATA_RACE, Finding
from ...isa import ptx
from ...isa.instruction_set import traits_of
from ...isa.location import Location
from ...machine.code import Code
from ...machine.launch_state import LaunchState
from ...machine.observer import Observer

# register -> (age, the instruction that fills it), and uses of such registers by the lines of both
Flight = dict[int, tuple[int, ptx.Instruction]]
Early = dict[tuple[Location | None, Location | None], tuple[ptx.Instruction, ptx.Instruction]]

FILLS = ("fills", "fills in groups")
_OLDEST = 9  # wait_group takes 0 … 7; older groups are all alike


def slots_of(operand: ptx.Operand) -> list[int]:
    """The registers of an operand."""
    if isinstance(operand, ptx.Register):
        return [operand.slot]
    if isinstance(operand, ptx.OperandList):
        return [slot for item in operand.items for slot in slots_of(item)]
    return slots_of(operand.base) if isinstance(operand, ptx.Address) else []


_found: WeakKeyDictionary[Code, list[Finding]] = WeakKeyDictionary()  # looked for once


class EarlyUseCheck(Observer):
    """Looks at the program of a launch before it runs."""

    def __init__(self, launch: LaunchState) -> None:
        if launch.code not in _found:
            _found[launch.code] = unwaited(launch.code) + unfenced(launch.code)
        for finding in _found[launch.code]:
            launch.findings.add(("too early", finding.message), finding)


def _follow(i: ptx.Instruction, flight: Flight, early: Early) -> None:
    """Bring ``flight`` up to date: register -> (age, what fills it). The age counts the groups of
    wgmma committed since; 0 is not committed. Uses of what is in flight are entered in ``early``"""
    traits = traits_of(i)
    act = traits.registers
    if act == "commits":
        flight.update({s: (min(age + 1, _OLDEST), w) for s, (age, w) in flight.items()})
    elif act == "waits":
        pending = ptx.integer(i.operands[0])
        for slot in [s for s, (age, _) in flight.items() if age > pending]:
            del flight[slot]
    elif act == "waits for all":
        flight.clear()
    else:
        results = [s for o in i.operands[: traits.results] for s in slots_of(o)]
        used = [s for o in i.operands[traits.results :] for s in slots_of(o)]
        carried = [flight.get(slot) for slot in used]
        if act != "copies":
            early.update({(i.location, w.location): (i, w) for _, w in filter(None, carried)})
        for slot in results:
            flight.pop(slot, None)
            if act in FILLS:
                flight[slot] = (0, i)
            elif act == "copies" and any(carried):
                flight[slot] = next(filter(None, carried))


def _instructions(code: Code) -> list[ptx.Instruction]:
    return [i for block in code.blocks for i in block.instructions]


def unwaited(code: Code) -> list[Finding]:
    """Instructions that may use the result of a wgmma or a tcgen05.ld too early: on some path
    through the function no wait comes between the two."""
    if not any(traits_of(i).registers in FILLS for i in _instructions(code)):
        return []
    at_start: list[Flight] = [{} for _ in code.blocks]
    early: Early = {}
    todo = set(range(len(code.blocks)))
    while todo:
        number = todo.pop()
        flight = dict(at_start[number])
        for i in code.blocks[number].instructions:
            _follow(i, flight, early)
        for successor in code.blocks[number].successors:
            known_there = at_start[successor]
            for slot, entry in flight.items():
                if slot not in known_there or entry[0] < known_there[slot][0]:
                    known_there[slot] = entry
                    todo.add(successor)
    return [_finding(use, filler) for use, filler in early.values()]


def _finding(use: ptx.Instruction, filler: ptx.Instruction) -> Finding:
    if traits_of(filler).registers == "fills in groups":
        name, why = "wgmma", "may not have completed"
        cure = "wgmma.commit_group and wgmma.wait_group come first"
    else:
        name, why = "tcgen05.ld", "is loaded asynchronously"
        cure = "tcgen05.wait::ld comes first"
    symptom = (
        f"Result used too early: {use.location} uses a result of the {name} at {filler.location}, "
        f"which {why}."
    )
    return Finding(
        DATA_RACE,
        f"{symptom} {cure}.",
        use.location,
        other_location=filler.location,
        cause=Cause.REGISTER_READ_BEFORE_WAIT,
        symptom=symptom,
    )


# --- fences that are missing ----------------------------------------------------------------------


@dataclass
class _Fences:
    """Whether a wgmma.fence has come since the start (``ever``) and since the last wait_group
    (``since``), and by which instruction registers were ``computed`` since then."""

    ever: bool = False
    since: bool = False
    computed: dict[int, ptx.Instruction] = field(default_factory=dict)

    def copy(self) -> _Fences:
        return _Fences(self.ever, self.since, dict(self.computed))

    def joined(self, other: _Fences) -> _Fences:
        """The state where two paths meet."""
        computed = {**self.computed, **other.computed}
        return _Fences(self.ever and other.ever, self.since and other.since, computed)


# by the line of a wgmma: the wgmma, the instruction that computed a register of it, and whose
Unfenced = dict[Location | None, tuple[ptx.Instruction, ptx.Instruction | None, str]]
OPERANDS = ("its accumulators", "its operand A")


def _fenced(i: ptx.Instruction, state: _Fences, missing: Unfenced) -> None:
    """Bring ``state`` up to date, and enter a wgmma that lacks a fence in ``missing``."""
    traits = traits_of(i)
    act = traits.registers
    if act == "fences":
        state.ever, state.since, state.computed = True, True, {}
    elif act == "waits":
        state.since, state.computed = False, {}
    elif act == "fills in groups":
        used = [
            (slot, name)
            for operand, name in zip(i.operands, OPERANDS, strict=False)
            if isinstance(operand, ptx.OperandList)
            for slot in slots_of(operand)
        ]
        if not state.ever:
            missing.setdefault(i.location, (i, None, ""))
        elif not state.since:
            for slot, name in used:
                if slot in state.computed:
                    missing.setdefault(i.location, (i, state.computed[slot], name))
        for slot, _ in used:
            state.computed.pop(slot, None)
    elif traits.results and i.operands:
        sources = [s for o in i.operands[1:] for s in slots_of(o)]
        for slot in slots_of(i.operands[0]):
            if act != "copies":
                state.computed[slot] = i
            elif sources and sources[0] in state.computed:
                state.computed[slot] = state.computed[sources[0]]
            else:
                state.computed.pop(slot, None)


def unfenced(code: Code) -> list[Finding]:
    """wgmma instructions that no wgmma.fence comes before: none at all on some path from the start,
    or none since the last wait_group although registers that they use were computed since. What
    stands between a fence and its wgmma is left alone: the compiler moves arithmetic about."""
    if not any(traits_of(i).registers == "fills in groups" for i in _instructions(code)):
        return []
    at_start = {0: _Fences()}  # by block
    missing: Unfenced = {}
    todo = {0}
    while todo:
        number = todo.pop()
        state = at_start[number].copy()
        for i in code.blocks[number].instructions:
            _fenced(i, state, missing)
        for successor in code.blocks[number].successors:
            known_there = at_start.get(successor)
            if known_there is None:
                at_start[successor] = state.copy()
                todo.add(successor)
                continue
            joined = state.joined(known_there)
            if joined != known_there:
                at_start[successor] = joined
                todo.add(successor)
    findings = []
    for i, changed, operand in missing.values():
        why = "with no wgmma.fence before it"
        if changed is not None:
            why = f"with no wgmma.fence since {changed.location} set a register of {operand}"
        findings.append(
            Finding(
                DATA_RACE,
                f"Missing fence: the wgmma at {i.location} starts {why}. wgmma.fence orders what "
                "threads did to registers before what the tensor cores do to them.",
                i.location,
                other_location=None if changed is None else changed.location,
                cause=Cause.WGMMA_FENCE_MISSING,
            )
        )
    return findings
