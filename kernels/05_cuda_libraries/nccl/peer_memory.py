"""Memory of every rank's GPU that all ranks of one machine can address, through CUDA IPC."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch.distributed as dist

from course_utils import cp

LAZY_PEER_ACCESS = 1  # cudaIpcMemLazyEnablePeerAccess
ALIGNMENT = 256


class PeerMemory:
    """``bytes_each`` bytes of every rank's GPU, as one arena on each, at 0 in the beginning.

    Every rank takes the same pieces in the same order, so a piece lies at the same place in each
    arena; the addresses of the arenas differ. Keep it as long as any rank uses it.
    """

    def __init__(self, rank: int, ranks: int, bytes_each: int) -> None:
        """Collective: all ranks make it together, each with its own GPU current."""
        self.rank, self.size, self._taken = rank, bytes_each, 0
        runtime = cp.cuda.runtime
        own = runtime.malloc(bytes_each)  # not from a pool: a handle stands for a whole allocation
        runtime.memset(own, 0, bytes_each)
        runtime.deviceSynchronize()
        handles: list[Any] = [None] * ranks
        dist.all_gather_object(handles, runtime.ipcGetMemHandle(own))
        self.bases = [
            own if other == rank else runtime.ipcOpenMemHandle(handle, LAZY_PEER_ACCESS)
            for other, handle in enumerate(handles)
        ]

    def take(self, elements: int, dtype: Any) -> list[Any]:
        """An array of each rank's arena, as this rank addresses them. Raises MemoryError."""
        nbytes = elements * np.dtype(dtype).itemsize
        first = self._taken
        self._taken += -(-nbytes // ALIGNMENT) * ALIGNMENT
        if self._taken > self.size:
            raise MemoryError(f"the arena has {self.size:,} bytes, {self._taken:,} are asked for")
        here = cp.cuda.Device().id
        return [
            cp.ndarray(elements, dtype, _pointer(base + first, nbytes, self, here))
            for base in self.bases
        ]

    def start_again(self) -> None:
        """Forget what was taken, and clear this rank's arena. Collective."""
        dist.barrier()
        cp.cuda.runtime.memset(self.bases[self.rank], 0, self.size)
        cp.cuda.runtime.deviceSynchronize()
        self._taken = 0
        dist.barrier()


def _pointer(address: int, nbytes: int, owner: Any, device: int) -> Any:
    memory = cp.cuda.UnownedMemory(address, nbytes, owner, device)
    return cp.cuda.MemoryPointer(memory, 0)
