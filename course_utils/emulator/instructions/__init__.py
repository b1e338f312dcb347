"""The instructions that compute values, a family to a module, in the order of the PTX manual."""

import numpy as np

from course_utils.emulator.instructions import (  # noqa: F401  (each fills the table)
    convert,
    floating,
    half,
    integer,
    logic,
)
from course_utils.emulator.instructions.table import DTYPES, TABLE, Op, instruction

__all__ = ["DTYPES", "TABLE", "Op", "instruction"]

# glibc gives the memory of a freed temporary back to the system at once, and the next temporary
# then pays for its pages again: up to five times the work of an instruction. Freeing one large
# block makes it keep more (mallopt(3), "dynamic mmap threshold"); elsewhere this does nothing.
np.empty(31 << 20, np.uint8)
