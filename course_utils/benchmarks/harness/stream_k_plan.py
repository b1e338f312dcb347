"""Which tile and which grid ``sgemm_stream_k.cu`` gets for the shape of a product."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import LessonError
from ...integers import ceil_div

FULL_ENOUGH = 0.9  # of the rounds of a grid that has a block for each tile


def bytes_of_tiles(BM: int, BN: int, BK: int, STAGES: int) -> int:
    """Bytes of shared memory of STAGES tiles of A, transposed and padded by 4, and of B, for a
    block of ``sgemm_autotuned.cu`` and of the rungs after it."""
    return STAGES * BK * (BM + 4 + BN) * 4


@dataclass(frozen=True)
class BlockTile:
    """The block's tile of C, how its warps and threads divide it, and a block's stages of BK.

    The fields are the kernel's macros, sizes in elements. ``BLOCKS`` share a multiprocessor.
    """

    BM: int
    BN: int
    BK: int
    WM: int
    WN: int
    TM: int
    TN: int
    STAGES: int
    BLOCKS: int

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return self.BM // self.WM * (self.BN // self.WN) * 32

    @property
    def shared_bytes(self) -> int:
        """The dynamic shared memory of a block."""
        return bytes_of_tiles(self.BM, self.BN, self.BK, self.STAGES)

    @property
    def defines(self) -> dict[str, int | str]:
        """The kernel's macros. Only the large tile has an order of products that a search found."""
        macros: dict[str, int | str] = dict(vars(self))
        if (self.TM, self.TN) != (8, 16):
            macros["ROWS"] = ",".join(map(str, range(self.TM)))
            macros["COLUMNS"] = ",".join(map(str, range(self.TN)))
        return macros


LARGE = BlockTile(128, 256, 8, 64, 64, 8, 16, STAGES=4, BLOCKS=1)
MEDIUM = BlockTile(64, 128, 16, 32, 64, 8, 8, STAGES=4, BLOCKS=3)
FEW_MEDIUM = BlockTile(
    64, 128, 16, 32, 64, 8, 8, STAGES=4, BLOCKS=1
)  # more registers for each thread
SMALL = BlockTile(32, 64, 32, 16, 32, 4, 4, STAGES=3, BLOCKS=2)
# The larger the tile, the fewer loads for each product, as long as there are tiles enough: the
# first tile that divides the shape and of which each multiprocessor gets at least this many. From a
# search over tiles and grids on an H200, 512 to 8192.
CHOICES = ((LARGE, 0.9), (MEDIUM, 1.75), (FEW_MEDIUM, 0.35), (SMALL, 0.0))


@dataclass(frozen=True)
class Plan:
    """A tile, and the blocks of the grid that share all tiles of C."""

    tile: BlockTile
    tiles: int
    grid: int


def plan(m: int, n: int, k: int, multiprocessors: int) -> Plan:
    """How ``sgemm_stream_k`` multiplies an (m, k) by a (k, n) matrix on so many multiprocessors.

    The grid has a block for each tile where they fit at once and fill their rounds, otherwise as
    many blocks as fit, which then share tiles, and no more than there are steps along k.
    Raises LessonError where no tile divides the shape.
    """
    for tile, least in CHOICES if min(m, n, k) > 0 else ():
        tiles = m // tile.BM * (n // tile.BN)
        if m % tile.BM or n % tile.BN or k % tile.BK or tiles < least * multiprocessors:
            continue
        fit = multiprocessors * tile.BLOCKS
        rounds = ceil_div(tiles, multiprocessors)
        whole = tiles <= fit and tiles >= FULL_ENOUGH * rounds * multiprocessors
        return Plan(tile, tiles, tiles if whole else min(fit, tiles * (k // tile.BK)))
    raise LessonError(
        f"sgemm_stream_k takes whole tiles: M a multiple of {SMALL.BM}, N of {SMALL.BN}, K of "
        f"{SMALL.BK}, at least one of each. Got M = {m}, N = {n}, K = {k}: pad with zeros."
    )
