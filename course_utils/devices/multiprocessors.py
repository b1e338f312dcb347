"""The resources of one streaming multiprocessor (SM) of each compute capability."""

from __future__ import annotations

from dataclasses import dataclass

from ..emulator import BLOCKS_PER_SM, SHARED_PER_SM, THREADS_PER_SM

KIB = 1024
REGISTERS = 64 * KIB  # of an SM, and the most that one block may have
REGISTER_UNIT = 256  # registers are given to a warp in multiples of this
PARTITIONS = 4  # of an SM. A warp is in one of them, with a quarter of the registers


@dataclass(frozen=True)
class Multiprocessor:
    """The resources of one SM: ``shared`` bytes in all, ``shared_block`` for a block. ``reserved``
    of a block's are the driver's, and they are given out in multiples of ``shared_unit``.
    ``barriers``: named barriers of all blocks together."""

    threads: int
    blocks: int
    shared: int
    shared_block: int
    barriers: int
    reserved: int = KIB
    shared_unit: int = 128


# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". The units in which
# registers, shared memory and barriers are given out: cuda_occupancy.h of the toolkit. The
# emulator's machine is an sm_90.
MULTIPROCESSORS = {
    "sm_75": Multiprocessor(1024, 16, 64 * KIB, 64 * KIB, 32, reserved=0, shared_unit=256),
    "sm_80": Multiprocessor(2048, 32, 164 * KIB, 163 * KIB, 64),
    "sm_86": Multiprocessor(1536, 16, 100 * KIB, 99 * KIB, 16),
    "sm_89": Multiprocessor(1536, 24, 100 * KIB, 99 * KIB, 24),
    "sm_90": Multiprocessor(THREADS_PER_SM, BLOCKS_PER_SM, SHARED_PER_SM, 227 * KIB, 64),
    "sm_100": Multiprocessor(2048, 32, 228 * KIB, 227 * KIB, 64),
    "sm_120": Multiprocessor(1536, 24, 100 * KIB, 99 * KIB, 24),
}
