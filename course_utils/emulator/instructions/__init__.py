"""The instructions, a family to a module, in the order of the PTX manual; each fills the tables.

Importing this package is what makes the machine know them.
"""

import numpy as np

from ..isa.instruction_set import DTYPES, TABLE, Op
from . import (  # noqa: F401  (each fills the tables)
    async_copies,
    atomics,
    bit_fields,
    bulk_copies,
    control,
    convert,
    device_maps,
    floating,
    half,
    integer,
    launch_control,
    loads_stores,
    logic,
    matrix,
    matrix_moves,
    mbarrier,
    moves,
    surfaces,
    tcgen05,
    textures,
    warp,
    wgmma,
)

__all__ = ["DTYPES", "TABLE", "Op"]

# glibc gives the memory of a freed temporary back to the system at once, and the next temporary
# then pays for its pages again: up to five times the work of an instruction. Freeing one large
# block makes it keep more (mallopt(3), "dynamic mmap threshold"); elsewhere this does nothing.
np.empty(31 << 20, np.uint8)
