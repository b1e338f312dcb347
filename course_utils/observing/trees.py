"""Which thread of a block adds which number, from traces of a reduction in shared memory."""

from __future__ import annotations

import numpy as np

from ..devices.selection import cp
from ..emulator import WARP
from ..errors import LessonError
from ..launching.modules import Module, load
from .warp_traces import trace

THREADS = "kThreads = 256"
ADDITION = "tree[t] +="


def line_of(kernel: Module) -> int:
    """The line of ``tree[t] += tree[…]``. Raises LessonError where the source has none."""
    for number, text in enumerate(kernel.source.splitlines(), 1):
        if text.strip().startswith(ADDITION):
            return number
    raise LessonError(f"{kernel.filename} has no line that begins with `{ADDITION}`.")


def steps(kernel: Module, threads: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """(values, sources) for ``figures.reduction_tree``: the kernel in one block of ``threads``, at
    most a warp, which adds 1, 2, 3, …

    ``values``, (steps + 1, threads): the value of each thread at first and after each step.
    ``sources``, (steps, threads): whose value a thread added to its own, −1 for none.
    """
    small = load(source=kernel.source.replace(THREADS, f"kThreads = {threads}"), filename="small")
    numbers = cp.arange(1, threads + 1, dtype=cp.float32)
    made = trace(small, (1,), (threads,), (numbers, cp.empty(1, cp.float32), threads))
    accesses = [step.access for step in made.at(line_of(kernel)) if step.access]
    reads = [access.elements[:threads] for access in accesses if not access.store]
    values, sources = [numbers.get().astype(int)], []
    for one, two in zip(reads[::2], reads[1::2], strict=True):  # its own element and another
        other = np.where(one == np.arange(threads), two, one)
        values.append(values[-1] + np.where(other < 0, 0, values[-1][other]))
        sources.append(other)
    return np.array(values), np.array(sources)


def working_lanes(kernel: Module) -> np.ndarray:
    """(steps, warps): how many lanes add in each step of a block of 256 threads."""
    threads = 256
    arguments = cp.ones(threads, cp.float32), cp.empty(1, cp.float32), threads
    counts = np.zeros((threads.bit_length() - 1, threads // WARP), int)
    line = line_of(kernel)
    for warp in range(threads // WARP):
        step = -1
        for made in trace(kernel, (1,), (threads,), arguments, warp=warp):
            step += made.opcode.startswith("bar")  # a barrier begins each step
            if made.line == line and made.access and made.access.store:
                counts[step, warp] = made.active.sum()
    return counts
