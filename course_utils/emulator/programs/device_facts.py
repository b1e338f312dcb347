"""The GPU as a program sees it: the values of cudaDeviceGetAttribute.

They describe an H200, whose shape the emulator has. It has no clock, so the clock rates are 1.
Source: CUDA Runtime API, "cudaDeviceAttr".
"""

from __future__ import annotations

from ..isa.gpu_constants import BLOCKS_PER_SM, MAX_THREADS, SHARED_PER_SM, SMS, THREADS_PER_SM, WARP

MOST_GRID = (2**31 - 1, 65535, 65535)
MOST_BLOCK = (MAX_THREADS, MAX_THREADS, 64)
WITHOUT_ASKING = 48 << 10  # bytes of shared memory of a block, before cudaFuncSetAttribute
REGISTERS = 65536

ATTRIBUTES = {
    1: MAX_THREADS,
    2: MOST_BLOCK[0],
    3: MOST_BLOCK[1],
    4: MOST_BLOCK[2],
    5: MOST_GRID[0],
    6: MOST_GRID[1],
    7: MOST_GRID[2],
    8: WITHOUT_ASKING,
    9: 64 << 10,  # constant memory
    10: WARP,
    11: 2**31 - 1,  # the most bytes of a pitch
    12: REGISTERS,
    13: 1,  # kHz of the clock
    14: 512,  # alignment of textures
    15: 1,  # copies while a kernel runs
    16: SMS,
    17: 0,  # a limit on a kernel's time
    18: 0,  # integrated
    19: 1,  # host memory can be mapped
    20: 0,  # compute mode
    31: 1,  # kernels at once
    32: 0,  # ECC
    36: 1,  # kHz of the memory's clock
    37: 6144,  # bits of the memory's bus
    38: 50 << 20,  # bytes of L2
    39: THREADS_PER_SM,
    40: 1,  # copy engines
    41: 1,  # unified addresses
    51: 32,  # alignment of a texture's pitch
    75: 9,  # compute capability
    76: 0,
    78: 1,  # priorities of streams
    79: 1,  # L1 caches global memory
    80: 1,  # and local
    81: SHARED_PER_SM + 1024,
    82: REGISTERS,
    83: 1,  # managed memory
    86: 1,  # atomics on the host's memory
    87: 2,  # single to double precision
    88: 0,  # pageable memory
    89: 1,  # managed memory from both at once
    90: 1,  # preemption
    91: 1,  # a registered pointer is the host's
    95: 1,  # cooperative launches
    97: SHARED_PER_SM,  # of a block that asks
    106: BLOCKS_PER_SM,
    108: 32 << 20,  # bytes of L2 that can be set apart
    109: 128 << 20,  # bytes of a window of accesses with a policy
    111: 1024,  # shared memory that the system keeps
    115: 1,  # pools of memory
    120: 1,  # clusters
}
