"""How fast wgmma instructions follow each other on a multiprocessor, by their shape and by where A
lies: in shared memory, whose bandwidth narrow instructions use up, or in registers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...devices.properties import need_gpu, sm_count
from ...devices.selection import cp
from ...errors import LessonError
from ...launching.modules import load
from ...paths import kernel_file

KERNEL = kernel_file("wgmma_rate", "08_cute_tma_blackwell")
BESIDE_TMA = kernel_file("wgmma_beside_tma", "08_cute_tma_blackwell")
SOURCES = KERNEL, BESIDE_TMA
WIDTHS = {
    "shared": (8, 16, 32, 64, 128, 192, 256),
    "registers": (32, 64, 128, 256),
}  # N, by A's place
GROUPS = 1, 2  # warpgroups of a block
ROUNDS, EACH = 2000, 4  # instructions: so many rounds of so many
LOADED = 64, 128, 256  # N, of products beside loads by TMA
DEPTHS, LOAD_BYTES = (0, 1, 2, 4), 8192  # loads in flight, and the bytes of one


def measure() -> dict[str, Any]:
    """FLOPs per clock of a multiprocessor: for each number of warpgroups, by A's place, a list of
    [N, rate]. ``beside_tma``: for each number of warpgroups and N, by the loads in flight, the rate
    and the bytes per clock that TMA brings meanwhile.

    Raises LessonError where there is no GPU, and for a wrong sum.
    """
    need_gpu()
    return {
        "k": 16,
        "groups": {
            str(groups): {
                place: [[n, rate(n, place, groups)] for n in widths]
                for place, widths in WIDTHS.items()
            }
            for groups in GROUPS
        },
        "beside_tma": {
            str(groups): {
                str(n): [[depth, *rate_beside_tma(n, groups, depth)] for depth in DEPTHS]
                for n in LOADED
            }
            for groups in GROUPS
        },
    }


def rate(n: int, place: str, groups: int) -> float:
    """FLOPs per clock of m64nNk16 in bf16: the median of all multiprocessors."""
    defines = {"N": n, "GROUPS": groups, "A_IN_REGISTERS": int(place == "registers")}
    clocks = _clocks(KERNEL, defines, 128 * groups, _tile_bytes(n, groups))
    return round(_flops(n, groups) / clocks, 1)


def rate_beside_tma(n: int, groups: int, depth: int) -> tuple[int, float]:
    """FLOPs per clock of m64nNk16, and bytes per clock by TMA with ``depth`` loads in flight."""
    source, loads = cp.ones(LOAD_BYTES, cp.float32), cp.zeros(sm_count(), cp.int32)
    shared = _tile_bytes(n, groups) + 128 + 4 * LOAD_BYTES
    defines = {"N": n, "GROUPS": groups}
    clocks = _clocks(BESIDE_TMA, defines, 128 * groups + 32, shared, source, loads, depth)
    brought = float(np.median(loads.get())) * LOAD_BYTES
    return round(_flops(n, groups) / clocks), round(brought / clocks, 1)


def _clocks(file: str, defines: dict[str, int], block: int, shared: int, *more: Any) -> float:
    """Of all rounds of a kernel, a block on each multiprocessor: the median of their slowest
    warpgroups. ``more`` are arguments after the rounds."""
    kernel = load(file, arch="sm_90a", defines=defines).kernel
    blocks, groups = sm_count(), defines["GROUPS"]
    held, clocks = cp.zeros(blocks * groups * 128, cp.float32), cp.zeros(blocks * groups, cp.int64)
    for _ in range(2):  # the first one warms up
        kernel(blocks, block, (held, clocks, ROUNDS, *more), shared_mem=shared)
    if not np.all(held.get() == 64.0 * ROUNDS):
        raise LessonError(f"{file}: a sum of N = {defines['N']} is wrong.")
    return float(np.median(clocks.get().reshape(blocks, groups).max(axis=1)))


def _tile_bytes(n: int, groups: int) -> int:
    return 128 * (64 * groups + max(n, 64))


def _flops(n: int, groups: int) -> int:
    return groups * ROUNDS * EACH * 2 * 64 * n * 16
