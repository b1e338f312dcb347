"""Numbers of the GPU that is emulated, an H200: sizes that every warp, SM and launch goes by.

Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; CUDA C++ Best
Practices Guide, "Coalesced Access to Global Memory" and "Shared Memory and Memory Banks".
"""

from __future__ import annotations

Triple = tuple[int, int, int]  # x, y, z of a grid, a block or a cluster

WARP = 32  # threads

MAX_THREADS = 1024  # of a block
LOCAL_LIMIT = 512 * 1024  # bytes of local memory of a thread
MAX_CLUSTER = 16  # blocks, with the attribute for non-portable sizes; 8 without

SECTOR = 32  # bytes of global memory that are moved together
BANKS = 32  # of shared memory
BANK_BYTES = 4

SMS = 132
WARPS_PER_SM = 64
THREADS_PER_SM = WARPS_PER_SM * WARP
BLOCKS_PER_SM = 32
SHARED_PER_SM = 228 * 1024  # bytes
SHARED_UNIT = 128  # bytes in which a block gets shared memory
RESERVED_SHARED = 1024  # bytes of each block for NVIDIA's own use
RESERVED = "the reserved shared memory"  # what messages call it
