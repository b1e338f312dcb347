"""Litmus tests of the memory model: how often a GPU shows an outcome that no order of steps gives.

The notebook on the memory model draws what :func:`measure` found, on every machine. The names of
the tests are those of the field: MP message passing, SB store buffering, LB load buffering, CoRR
two reads of one word, IRIW independent reads of independent writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...devices.properties import need_gpu, sm_count
from ...devices.selection import cp
from ...launching.modules import load

TOPIC = "04_first_kernels/memory_model"
SOURCES = tuple(f"{TOPIC}/{name}.cu" for name in ("litmus", "litmus_count"))
WEAK = {"MP": 0b01, "SB": 0b00, "LB": 0b11, "CoRR": 0b01, "IRIW": 0b0101}
BLOCK, BLOCKS_PER_SM, ROUNDS, WORDS = 256, 4, 16, 1 << 20
LONGEST_DELAYS = (0, 32, 256)  # empty turns of a loop, at most, before each role
LAUNCHES = 60  # of each test, spread over the delays

RELAXED, PLAIN, NONE = "relaxed.gpu.", "", ""
ACQ_REL, SC = "fence.acq_rel.gpu;", "fence.sc.gpu;"
OUTCOMES = 16


@dataclass(frozen=True)
class Litmus:
    """One test: what its accesses and fences are in PTX. ``loads`` and ``stores`` are the modifiers
    of the accesses to x (the data of MP) and y (its flag); ``fences`` those of role 0 and role 1.
    ``allowed``: whether the memory model allows the weak outcome. ``near``: all in one block;
    ``warm``: the reader has read the data once before."""

    test: str
    how: str
    allowed: bool
    loads: tuple[str, str] = (RELAXED, RELAXED)
    stores: tuple[str, str] = (RELAXED, RELAXED)
    fences: tuple[str, str] = (NONE, NONE)
    near: bool = False
    warm: bool = False

    def defines(self) -> dict[str, Any]:
        """What litmus.cu is compiled with."""

        def text(opcode: str, modifiers: str) -> str:
            return f'"{opcode}.{modifiers}global.u32"'

        return {
            "TEST": self.test,
            "LOAD_X": text("ld", self.loads[0]),
            "LOAD_Y": text("ld", self.loads[1]),
            "STORE_X": text("st", self.stores[0]),
            "STORE_Y": text("st", self.stores[1]),
            "FENCE_0": f'"{self.fences[0]}"',
            "FENCE_1": f'"{self.fences[1]}"',
            "NEAR": int(self.near),
            "WARM": int(self.warm),
        }


ordered = partial(Litmus, loads=("acquire.gpu.",) * 2, stores=("release.gpu.",) * 2)
block_ordered = partial(Litmus, loads=("acquire.cta.",) * 2, stores=("release.cta.",) * 2)
passed = partial(Litmus, loads=(PLAIN, RELAXED), stores=(PLAIN, RELAXED), warm=True)  # plain data
ALL = (
    Litmus("MP", "relaxed", True),
    Litmus("MP", "fence in the writer only", True, fences=(ACQ_REL, NONE)),
    Litmus("MP", "fence in the reader only", True, fences=(NONE, ACQ_REL)),
    Litmus("MP", "fences in both", False, fences=(ACQ_REL, ACQ_REL)),
    ordered("MP", "release and acquire", False),
    block_ordered("MP", "release and acquire of the block", True),
    block_ordered("MP", "the same within a block", False, near=True),
    Litmus("MP", "relaxed within a block", True, near=True),
    passed("MP", "plain data", True),
    passed("MP", "plain data, fence in the writer only", True, fences=(ACQ_REL, NONE)),
    passed("MP", "plain data, fence in the reader only", True, fences=(NONE, ACQ_REL)),
    passed("MP", "plain data, fences in both", False, fences=(ACQ_REL, ACQ_REL)),
    Litmus("MP", "all volatile", True, loads=("volatile.",) * 2, stores=("volatile.",) * 2),
    Litmus("SB", "relaxed", True),
    ordered("SB", "release and acquire", True),
    Litmus("SB", "fences in both", True, fences=(ACQ_REL, ACQ_REL)),
    Litmus("SB", "fence.sc in one", True, fences=(SC, NONE)),
    Litmus("SB", "fence.sc in both", False, fences=(SC, SC)),
    Litmus("LB", "relaxed", True),
    ordered("LB", "release and acquire", False),
    Litmus("LB", "fences in both", False, fences=(ACQ_REL, ACQ_REL)),
    Litmus("CoRR", "plain", True, loads=(PLAIN, PLAIN), stores=(PLAIN, PLAIN)),
    Litmus("CoRR", "relaxed", False),
    Litmus("IRIW", "relaxed", True),
    ordered("IRIW", "release and acquire", True),
    Litmus("IRIW", "fence.sc in both", False, fences=(NONE, SC)),
)


def outcomes(
    litmus: Litmus, grid: int, block: int, words: int, rounds: int, delay: int, seeds: range
) -> np.ndarray:
    """How often each outcome occurred, by its bits: bit l is set where load l saw the new value.

    A launch for each seed, of ``grid`` · ``block`` instances in ``rounds`` rounds. ``delay``: empty
    turns of a loop, at most, before each role.
    """
    kernel, count = load(f"{TOPIC}/litmus.cu", defines=litmus.defines()), load(SOURCES[1])
    loads, instances = (4 if litmus.test == "IRIW" else 2), grid * block
    x, y = cp.zeros(words, cp.uint32), cp.zeros(words, cp.uint32)
    found = cp.zeros(rounds * loads * instances, cp.uint32)
    counts = cp.zeros(OUTCOMES, cp.uint64)
    for seed in seeds:
        x.fill(0)
        y.fill(0)
        kernel((grid,), (block,), (x, y, found, words, rounds, delay, seed))
        count((grid,), (block,), (found, counts, instances, rounds, loads))
    by_outcome: np.ndarray = counts.get()
    return by_outcome


def measure() -> dict[str, Any]:
    """For each test of :data:`ALL`: instances, weak outcomes, and whether those are allowed."""
    need_gpu()
    each = LAUNCHES // len(LONGEST_DELAYS)
    tests = []
    for litmus in ALL:
        total = np.zeros(OUTCOMES, np.uint64)
        for part, delay in enumerate(LONGEST_DELAYS):
            seeds = range(1 + part * each, 1 + (part + 1) * each)
            shape = sm_count() * BLOCKS_PER_SM, BLOCK, WORDS, ROUNDS
            total += outcomes(litmus, *shape, delay, seeds)
        tests.append(
            {
                "test": litmus.test,
                "how": litmus.how,
                "allowed": litmus.allowed,
                "instances": int(total.sum()),
                "weak": int(total[WEAK[litmus.test]]),
                "outcomes": {f"{bits:04b}": int(n) for bits, n in enumerate(total) if n},
            }
        )
    return {"blocks_per_sm": BLOCKS_PER_SM, "block": BLOCK, "rounds": ROUNDS, "tests": tests}
