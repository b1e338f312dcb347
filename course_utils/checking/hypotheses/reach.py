"""Right exactly where the threads of a launch get with a mistaken index, if the launch is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from .. import error_kinds as kinds
from ..error_kinds import Slip
from ..evidence import Diagnosis, Evidence

FEW = 8  # elements: among fewer, the right ones are where an index leads to by chance
WARP = 32


@dataclass(frozen=True)
class Reached:
    """The elements that a mistaken index leads to, a mask of the result's shape, and the words
    about them: the end of "only 16 of 1000 elements of y are right"."""

    mask: np.ndarray
    slip: Slip
    words: str


def reached(e: Evidence) -> Diagnosis | None:
    """No thread computed the wrong elements, and the right ones are those of a mistaken index."""
    if not e.launches or e.wrong.size < FEW or e.wrong.all() or not e.untouched:
        return None
    launched = e.launches[-1]
    if launched.faulted:
        return None
    grid, block = _three(launched.grid), _three(launched.block)
    along_x = grid[1:] == block[1:] == (1, 1)
    ways = _along_x(e, grid[0], block[0]) if along_x else _over_matrix(e, grid, block)
    for way in ways:
        if way.mask.sum() > 1 and (way.mask == ~e.wrong).all():
            return _of(e, way, prod(block))
    return None


def _of(e: Evidence, way: Reached, threads: int) -> Diagnosis:
    """A launch that is less than a block short is wrong at the edge."""
    kind = kinds.FIRST_BLOCK
    if way.slip in (Slip.ROLES_SWAPPED, Slip.THREAD_INDEX_MISSING):
        kind = kinds.WRONG
    elif way.slip is Slip.GRID_TOO_SMALL and e.wrong.sum() < threads:
        kind = kinds.EDGES
    return Diagnosis(kind, way.words, way.slip)


def _along_x(e: Evidence, blocks: int, threads: int) -> Iterator[Reached]:
    """The elements that a launch along x leads to, in the order of memory."""
    count = e.wrong.size
    numbers = np.arange(count).reshape(e.wrong.shape)
    total = blocks * threads
    launch = f"{blocks} block{'s' * (blocks > 1)} of {threads}"

    def first(number: int, words: str) -> str:
        return f"only the first {number} of {count} elements of {e.name} are right{words}"

    words = f", and the launch has no more threads: {launch}."
    yield Reached(numbers < total, Slip.GRID_TOO_SMALL, first(total, words))
    if blocks == 1:
        return
    words = f", as many as one block has threads. Each of the {blocks} blocks seems to compute them"
    yield Reached(numbers < threads, Slip.BLOCK_INDEX_MISSING, first(threads, f"{words}."))
    right = int(np.argmax(e.wrong.reshape(-1)))
    stride, rest = divmod(right - threads, blocks - 1)
    if not rest and 0 < stride < threads and (stride % WARP == 0 or threads % stride == 0):
        shown = f"{stride} (gridDim.x)" if stride == blocks else f"{stride}"
        words = (
            f". {launch} threads get that far if each block starts {shown} elements after the one "
            f"before it, instead of {threads}."
        )
        yield Reached(numbers < right, Slip.BLOCK_STRIDE, first(right, words))
    for index, mask, slip in (
        (
            "blockIdx.x + threadIdx.x * blockDim.x",
            (numbers % threads < blocks) & (numbers < threads * threads),
            Slip.ROLES_SWAPPED,
        ),
        (
            "blockIdx.x * blockDim.x",
            (numbers % threads == 0) & (numbers < total),
            Slip.THREAD_INDEX_MISSING,
        ),
    ):
        words = (
            f"only {int(mask.sum())} of {count} elements of {e.name} are right, those with the "
            f"index {index} for {launch} threads."
        )
        yield Reached(mask, slip, words)


def _over_matrix(
    e: Evidence, grid: tuple[int, int, int], block: tuple[int, int, int]
) -> Iterator[Reached]:
    """The elements that a launch along x and y leads to, in the last two axes."""
    if e.wrong.ndim < 2 or prod(e.wrong.shape[:-2]) != 1 or grid[2] * block[2] > 1:
        return
    across, down = grid[0] * block[0], grid[1] * block[1]
    rows, columns = (np.indices(e.wrong.shape)[axis] for axis in (-2, -1))
    launch = f"{across} threads along x and {down} along y"

    def part(last_row: int, last_column: int, slip: Slip, words: str) -> Reached:
        sizes = zip((last_row, last_column), e.wrong.shape[-2:], strict=True)
        size = " x ".join(str(min(pair)) for pair in sizes)
        text = f"only the first {size} elements (rows x columns) of {e.name} are right{words}."
        return Reached((rows < last_row) & (columns < last_column), slip, text)

    words = f", and the launch has only {launch}"
    yield part(down, across, Slip.GRID_TOO_SMALL, words)
    if down >= e.wrong.shape[-2] and across >= e.wrong.shape[-1]:
        words = f". The launch has {launch}: x seems to select the row, and y the column"
        yield part(across, down, Slip.XY_SWAPPED, words)
    words = ", as many as one block has threads. Each block seems to compute them"
    yield part(block[1], block[0], Slip.BLOCK_INDEX_MISSING, words)


def _three(size: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (int(n) for n in [*size, 1, 1][:3])
    return x, y, z
