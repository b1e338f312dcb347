"""Control flow and barriers: bra, brx, call, ret, exit, trap, bar.

Source: PTX ISA, "Control Flow Instructions" and "Parallel Synchronization and Communication
Instructions: bar, barrier".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..findings.causes import Cause
from ..findings.report import TRAP, Finding, KernelFault
from ..isa import ptx
from ..isa.instruction_set import Traits, ending, step
from ..machine.code import Ending, Step
from ..machine.device_runtime import call_runtime, device_function
from ..machine.lanes import Frame, Group
from ..machine.program import Builder, not_defined
from ..machine.runtime_functions import BUILTINS


def _choose(b: Builder, i: ptx.Instruction, taken: Ending, skipped: Ending) -> Ending:
    """An ending that sends lanes whose guard is true to ``taken`` and the others to ``skipped``."""
    guard = b.read(ptx.register(i.guard), "pred")

    def end(group: Group) -> Group | None:
        chosen = guard(group.R)
        if len(chosen) == 1:
            return taken(group) if chosen[0] else skipped(group)
        count = np.count_nonzero(chosen)
        if count == 0:
            return skipped(group)
        if count == len(chosen):
            return taken(group)
        group.batch.scheduler.diverge(group, chosen, taken, skipped)
        return None

    return end


def _leaving(b: Builder, i: ptx.Instruction, act: Ending) -> Ending:
    """An ending after which lanes do not fall through, except those whose guard is false."""
    if i.guard is None:
        b.falls_through = False
        return act
    return _choose(b, i, act, _go(b.next_block))


def _by_value(group: Group, values: np.ndarray) -> Iterator[tuple[int, Group]]:
    """(value, the lanes of the group that hold it), for each value that differs between lanes."""
    for value in np.unique(values):
        yield int(value), group.split_off(np.flatnonzero(values == value))


def _go(block: int) -> Callable[[Group], Group]:
    def end(group: Group) -> Group:
        group.block = block
        return group

    return end


def _then_on(b: Builder, act: Step) -> Ending:
    """An ending that runs ``act`` and lets all lanes go on."""
    back = b.next_block

    def end(group: Group) -> Group:
        act(group)
        group.block = back
        return group

    return end


@ending("bra", traits=Traits(results=0, branch="guarded"))
def bra(b: Builder, i: ptx.Instruction) -> Ending:
    """A jump to a label, of the lanes whose guard is true."""
    return _leaving(b, i, _go(b.block_at[b.label(ptx.symbol(i.operands[0]).name, i.scope)]))


@ending("brx", traits=Traits(branch="indexed"))
def brx(b: Builder, i: ptx.Instruction) -> Ending:
    """brx.idx: a jump through a table of labels."""
    labels = i.scope.table(ptx.symbol(i.operands[1]).name)
    blocks = np.array([b.block_at[b.label(name, i.scope)] for name in labels])
    get = b.read(i.operands[0], "u32")
    b.falls_through = False

    def end(group: Group) -> Group | None:
        targets = blocks[np.minimum(get(group.R), len(blocks) - 1)]
        if (targets == targets[0]).all():
            group.block = int(targets[0])
            return group
        group.batch.launch.observers.lanes_diverge(group, targets)
        for target, part in _by_value(group, targets):
            part.block = target
            group.batch.scheduler.add(part)
        return None

    return end


@ending("exit", traits=Traits(branch="guarded"))
def exit_(b: Builder, i: ptx.Instruction) -> Ending:
    """The lanes whose guard is true end."""

    def leave(group: Group) -> Group | None:
        group.batch.finish(group)
        return None

    return _leaving(b, i, leave)


@ending("ret", traits=Traits(branch="guarded"))
def ret(b: Builder, i: ptx.Instruction) -> Ending:
    """Back to the caller with the results. From the kernel itself it is an ``exit``."""

    def back(group: Group) -> Group | None:
        if not group.stack:
            group.batch.finish(group)
            return None
        frame = group.stack[-1]
        group.stack = group.stack[:-1]
        registers, callee = list(frame.registers), group.code
        for here, there in frame.results:
            registers[here] = group.R[there]
        group.R, group.code, group.block = registers, frame.code, frame.block
        pairs = [(there, here) for here, there in frame.results]
        group.batch.launch.observers.registers_pass(group, len(group.stack) + 1, callee, pairs)
        group.local_top = frame.local_top
        group.patterns = {}
        return group

    return _leaving(b, i, back)


def _listed(operands: list[ptx.Operand]) -> tuple[ptx.Operand, ...]:
    """The items of the list that comes next, which is taken out, or none."""
    if operands and isinstance(operands[0], ptx.OperandList):
        return ptx.elements(operands.pop(0))
    return ()


def _variable(i: ptx.Instruction, operand: ptx.Operand) -> ptx.Variable:
    return i.scope.variable(ptx.symbol(operand).name)


@ending("call", traits=Traits(branch="guarded"))
def call(b: Builder, i: ptx.Instruction) -> Ending:
    """call (results), function, (arguments): a name, or a register holding a function's address."""
    operands = list(i.operands)
    results = _listed(operands)
    callee = operands.pop(0)
    sent = [b.slots_of_parameter(_variable(i, a)) for a in _listed(operands)]
    returned = [_variable(i, r) for r in results]
    for slots in sent:
        b.reads.update(slots.values())
    back = b.next_block
    name = callee.name if isinstance(callee, ptx.Symbol) else ""
    get = None if isinstance(callee, ptx.Symbol) else b.read(callee, "u64")

    def enter(group: Group, name: str) -> Group:
        received = [b.slots_of_parameter(v) for v in returned]  # known once all is decoded
        launch = group.batch.launch
        builtin = BUILTINS.get(name)
        group.block = back
        if builtin is not None:
            if not sent or any(0 not in slots for slots in sent):
                raise ptx.PtxError("an argument was never stored")
            value = builtin(group, i, [group.R[s[0]] for s in sent])
            if received and 0 in received[0] and value is not None:
                group.R[received[0][0]] = value
            return group
        if not launch.module.defines(name):
            runtime = device_function(name)
            if not runtime:
                raise not_defined(i, name)
            structs = [{at: group.R[slot] for at, slot in slots.items()} for slots in sent]
            value = call_runtime(runtime, group, i, structs)
            if received and 0 in received[0]:
                group.R[received[0][0]] = value
            return group
        caller = group.code
        code = launch.entry.code_for(launch.code_is_clustered, name)
        registers = list(code.blank)
        for formal, slots in zip(code.parameters, sent, strict=True):
            for offset, slot in formal.items():
                if offset not in slots:
                    raise ptx.PtxError(f"argument byte {offset} was never stored")
                registers[slot] = group.R[slots[offset]]
        links = [
            (slots[offset], slot)
            for slots, formal in zip(received, code.results, strict=True)
            for offset, slot in formal.items()
            if offset in slots
        ]
        frame = Frame(group.code, back, group.R, tuple(links), group.local_top)
        group.stack = (*group.stack, frame)
        group.R, group.code, group.block, group.patterns = registers, code, 0, {}
        group.batch.frames.begin(group)
        pairs = [
            (slots[offset], slot)
            for formal, slots in zip(code.parameters, sent, strict=True)
            for offset, slot in formal.items()
        ]
        launch.observers.registers_pass(group, len(group.stack) - 1, caller, pairs)
        return group

    def end(group: Group) -> Group | None:
        if get is None:
            return enter(group, name)
        addresses = get(group.R)
        name_at = group.batch.launch.module.function_at
        if (addresses == addresses[0]).all():
            return enter(group, name_at(int(addresses[0]), i))
        for address, part in _by_value(group, addresses):
            group.batch.scheduler.add(enter(part, name_at(address, i)))
        return None

    if i.guard is None:
        return end
    return _choose(b, i, end, _go(back))


_WHOLE_GRID = (
    "\n  A barrier of the whole grid needs a cooperative launch: cooperative=True for load, "
    "--cooperative on\n  the command line, enable_cooperative_groups=True for cp.RawModule, "
    "cudaLaunchCooperativeKernel in C++."
)


@step("trap")
def trap(b: Builder, i: ptx.Instruction) -> Step:
    """Ends the launch: raises KernelFault for the first lane that comes to it."""

    def act(group: Group) -> None:
        thread, block = group.batch.thread_and_block(group.lanes[0])
        grid = group.batch.launch.wants_whole_grid
        text = (
            f"The kernel stopped itself with a trap at {i.location} (thread {thread} of block "
            f"{block}).{_WHOLE_GRID if grid else ''}"
        )
        cause = Cause.LAUNCH_NOT_COOPERATIVE if grid else Cause.TRAP
        raise KernelFault(Finding(TRAP, text, i.location, thread, block, cause=cause))

    return act


@step(
    "brkpt",
    "pragma",
    "nanosleep",
    "prefetch",
    "prefetchu",
    "applypriority",
    "discard",
    "griddepcontrol",
    "setmaxnreg",
)
def nothing(b: Builder, i: ptx.Instruction) -> Step:
    """Instructions with no effect on values."""
    return lambda group: None


def _fence_traits(modifiers: tuple[str, ...]) -> Traits:
    """Fences of a proxy, or for new mbarriers, do not order ordinary memory."""
    return Traits(fence=not {"proxy", "mbarrier_init"} & {*modifiers})


@step("membar", "fence", traits=_fence_traits)
def fence(b: Builder, i: ptx.Instruction) -> Step:
    """The machine runs one instruction at a time for all lanes, so memory is always in order. But
    what needs a fence to be seen, by other threads or by the asynchronous proxy, is reported."""
    return lambda group: group.batch.launch.observers.fence(group, i)


def _barrier_traits(modifiers: tuple[str, ...]) -> Traits:
    return Traits(barrier=next((m for m in modifiers if m in ("warp", "cluster")), "block"))


@ending("bar", "barrier", traits=_barrier_traits)
def bar(b: Builder, i: ptx.Instruction) -> Ending | None:
    """bar.sync, bar.arrive, bar.red on one of 16 named barriers; bar.warp.sync; barrier.cluster."""
    if "warp" in i.modifiers:

        def warp_sync(group: Group) -> Group | None:
            group.batch.launch.observers.warps_meet(group)
            group.block = back
            return group

        back = b.next_block
        return warp_sync
    if "cluster" in i.modifiers:
        return None
    operands = list(i.operands)
    reduction = "red" in i.modifiers
    put = (
        b.write(operands.pop(0), "pred" if "popc" not in i.modifiers else "u32")
        if reduction
        else None
    )
    votes = b.read(operands.pop(), "pred") if reduction else None
    number = b.read(operands[0], "u32")
    count = b.read(operands[1], "u32") if len(operands) > 1 else None
    operation = next((m for m in i.modifiers if m in ("and", "or", "popc")), "")
    arrive_only = "arrive" in i.modifiers
    back = b.next_block

    def end(group: Group) -> Group | None:
        R = group.R
        batch = group.batch
        numbers = number(R)
        if len(numbers) > 1 and (numbers != numbers[0]).any():  # warps at different barriers
            for _, part in _by_value(group, numbers):
                resumed = end(part)
                if resumed is not None:
                    batch.scheduler.add(resumed)
            return None
        vote = group.full(votes(R)) if votes is not None else None
        threads = int(count(R)[0]) if count is not None else None
        group.block = back
        return batch.barriers.arrive(
            group, i, int(numbers[0]), threads, arrive_only, operation, vote, put
        )

    if i.guard is None:
        return end
    return _choose(b, i, end, _go(back))
