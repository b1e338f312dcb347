"""Reports of arrivals and fences by some lanes of a warp, for another lane's access."""

from __future__ import annotations

import numpy as np

from ...machine.accesses import WatchedAccess
from .checked_access import CheckedAccess
from .lane_releases import ReleaseInterval
from .severity import in_lockstep

LANES_IN_STEP = (
    "Warning: lanes of a warp are mostly converged, so this often works. Neither the compiler nor\n"
    "  a GPU since Volta guarantees that the other lanes are done by then."
)


def lanes_left_out(access: CheckedAccess, release: ReleaseInterval, entry: int) -> str:
    """Why a release that this access comes after doesn't order the earlier access ``entry``."""
    batch, i = access.group.batch, release.instruction
    first = access.earlier(entry) & ~31
    places = np.flatnonzero(release.lanes)
    thread = batch.thread_and_block(first + int(places[0]))[0]
    by = f"thread {thread}" if len(places) == 1 else f"{len(places)} threads of the warp"
    where = f" at {i.location}" if i is not None and i.location else ""
    what = "fence" if i is not None and i.opcode in ("fence", "membar") else "arrival"
    return (
        f"and the {what}{where} is by {by} alone: it doesn't order\n  what other lanes of the warp "
        f"did. Put {batch.launch.options.words.warp_barrier} before it."
    )


def usually_done(
    access: CheckedAccess, there: WatchedAccess, entries: np.ndarray, positions: list[int]
) -> bool:
    """Whether all that is wrong with the order of the earlier accesses at ``positions`` is that
    another lane of their warp arrives for them, on the way on from the access ``there``."""
    paths = access.races.paths(access.group.code)
    found = {}
    for at in positions:
        release = access.clocks.left_out(int(access.group.lanes[at]), int(entries[at]))
        if release is None:
            return False
        found[id(release.instruction)] = release.instruction
    return in_lockstep(there.instruction) and all(
        i is not None and paths.connected(there.instruction, i) for i in found.values()
    )
