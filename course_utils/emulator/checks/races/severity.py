"""How bad a race is: an error, or one that mostly comes out right though nothing promises it.

Lanes of one warp that pass each other values through memory with no ``__syncwarp()`` mostly run
together: a warning. It is an error where they overwrite each other's results, where they met in
parts of their warp, and where neither of the two accesses leads to the other, as on the two sides
of a branch. A warning, too, is the last block of a grid that counts the blocks with an atomic and
reads what the others wrote before their fences, with no fence of its own.

Source: CUDA C++ Programming Guide, "Independent Thread Scheduling", "Warp Shuffle Functions" (no
memory barrier), "Memory Fence Functions".
"""

from __future__ import annotations

from collections.abc import Callable

from ...findings.options import Options
from ...isa.ptx import Instruction
from ...machine.code import Code
from ...machine.lanes import Group

ORDINARY = {"ld", "ldu", "st", "atom", "red", "ldmatrix", "stmatrix", "wmma", "cp"}
TOGETHER = {"shfl": "shuffle", "vote": "vote", "match": "match", "redux": "warp reduction"}

IN_STEP = (
    "Warning: lanes of a warp are mostly converged, so this often works. Neither the compiler nor\n"
    "  a GPU since Volta guarantees it: put {barrier} between the two."
)
ONE_STAYS = (
    "Warning: lanes of a warp are mostly converged, so mostly the value that is stored last stays."
)
IN_LOOP = (
    "Warning: this works on a GPU that lets diverged lanes take turns, as those since Volta do,\n"
    "  if the compiler reads memory each time. Nothing promises either: make both accesses atomic."
)
WITH_SHUFFLE = (
    "Warning: the warp is converged at the {what} at {where}, so this usually works. But\n"
    "  a {what} doesn't order accesses to memory: put {barrier} next to it."
)
NO_ACQUIRE = (
    "Warning: after an atomic that counts blocks the writes are usually visible. They aren't if\n"
    "  the SM has an older copy in its L1 cache, or if the compiler moves the access up."
)
TWO_LINES = (
    "Warning: a GPU counts the warps that arrive, at whichever line, so this works while each\n"
    "  branch has as many barriers. CUDA C++ promises nothing where threads wait at two lines."
)
NO_TENSOR_FENCE = (
    "Warning: public kernels for sm_100 come without this fence and give right results. The PTX\n"
    "  manual promises the order only with it."
)
LEFT_BEHIND = (
    "Warning: the destination is dead, so a run seldom shows it. But by then that memory may be\n"
    "  another block's: wait for all copies (cp.async.wait_all) before the end."
)


def whole_warps_left(options: Options) -> str:
    """That whole warps have ended before a barrier, in the words of the kernel's language."""
    return (
        "Warning: whole warps have ended. A barrier waits only for threads that haven't exited, "
        "as\n"
        f"  PTX promises and GPUs since Volta do. But {options.language.value} allows a "
        f"{options.words.block_barrier}\n"
        "  in a branch only if the whole block takes it."
    )


def in_lockstep(i: Instruction) -> bool:
    """Whether lanes do it themselves, all at once; wgmma and bulk copies go on beside them."""
    return i.opcode in ORDINARY and "bulk" not in i.modifiers


def is_block_counter(i: Instruction) -> bool:
    """Whether it is an atomic by which blocks count themselves, and not one that takes a lock."""
    return i.opcode == "atom" and not {"cas", "exch"} & {*i.modifiers}


class Paths:
    """Which instructions of a function lead to which."""

    def __init__(self, code: Code) -> None:
        self._blocks, self._ranks = code.blocks, code.block_ranks
        self._at = {
            id(i): (block.number, n)
            for block in code.blocks
            for n, i in enumerate(block.instructions)
        }
        self._together = [
            i for block in code.blocks for i in block.instructions if i.opcode in TOGETHER
        ]
        self._known: dict[tuple[int, int], bool] = {}

    def connected(self, a: Instruction, b: Instruction) -> bool:
        """Whether one leads to the other on a way that goes round no loop. False as well where one
        of them belongs to another function."""
        if not {id(a), id(b)} <= self._at.keys():
            return False
        blocks = self._at[id(a)][0], self._at[id(b)][0]
        if blocks not in self._known:
            first, last = sorted(blocks, key=self._ranks.__getitem__)
            self._known[blocks] = first == last or last in self._behind(first, onwards=True)
        return self._known[blocks]

    def leads(self, a: Instruction, b: Instruction) -> bool:
        """Whether ``a`` leads to ``b`` on a way that goes round no loop."""
        return self.connected(a, b) and self._place(a) < self._place(b)

    def _behind(self, first: int, *, onwards: bool) -> set[int]:
        """The blocks that can come after one; ``onwards`` by no way back, as a loop has it."""
        waiting, seen = [first], set[int]()
        while waiting:
            block = waiting.pop()
            after = set(self._blocks[block].successors) - seen
            if onwards:
                after = {s for s in after if self._ranks[s] > self._ranks[block]}
            waiting += after
            seen |= after
        return seen

    def comes_after(self, a: Instruction, b: Instruction) -> bool:
        """Whether ``b`` can come after ``a``, by a loop as well. True where one of them belongs to
        another function."""
        if not {id(a), id(b)} <= self._at.keys():
            return True
        (first, before), (last, after) = self._at[id(a)], self._at[id(b)]
        return last in self._behind(first, onwards=False) or (first == last and before < after)

    def convergence_between(self, a: Instruction, b: Instruction) -> Instruction | None:
        """A shuffle, or another instruction for which a warp gathers, in the text between ``a`` and
        a later ``b``; where ``b`` comes first, so that only a loop leads to it, one outside."""
        first, last = self._place(a), self._place(b)
        for i in self._together:
            here = self._place(i)
            if first < here < last or (last < first and not last < here < first):
                return i
        return None

    def _place(self, i: Instruction) -> tuple[int, int]:
        block, n = self._at[id(i)]
        return self._ranks[block], n


def bypassed_barrier(
    paths: Callable[[Code], Paths], group: Group, here: Instruction, earlier: int, lane: int
) -> str:
    """That the lane ``earlier`` comes to a barrier of its block which ``lane``, one of ``group`` at
    the instruction ``here``, has passed by; "" where it is not so. ``paths``: of a function."""
    batch = group.batch
    if (
        not group.R  # lanes of a copy
        or group.stack
        or earlier in group.lanes
        or earlier // batch.lanes_per_block != lane // batch.lanes_per_block
    ):
        return ""
    barrier = batch.barriers.ahead_of(earlier)
    if barrier is None or paths(group.code).comes_after(here, barrier):
        return ""
    other, thread = batch.thread_and_block(earlier)[0], batch.thread_and_block(lane)[0]
    return (
        f"\n  Thread {other} arrives at the barrier at {barrier.location}, and thread {thread} has "
        f"skipped it: the barrier is in a divergent branch of the block."
    )
