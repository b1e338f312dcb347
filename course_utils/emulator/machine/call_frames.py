"""What a function's call needs before its first instruction: special registers, local arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..findings.fault_messages import endless_loop, unknown_register
from ..isa.gpu_constants import LOCAL_LIMIT
from ..isa.ptx import Variable
from ..numerics.rounding import round_up
from .block_memory import make_local
from .special_registers import special_register

if TYPE_CHECKING:
    from .batch import Batch
    from .lanes import Group

MAX_CALL_DEPTH = 4096


class CallFrames:
    """Begins the functions of one batch, and keeps where their local arrays are."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._offsets: dict[tuple[int, int, str], int] = {}
        self._end = 0

    def begin(self, group: Group) -> None:
        """Set the special registers that a function uses and make room for its local arrays.
        Raises KernelFault where the stack is full."""
        code = group.code
        for name, slot in code.specials.items():
            if name == "cc":
                continue
            if not name.startswith("local:"):
                value = special_register(name, group)
                if value is None:
                    raise unknown_register(code, name)
                group.R[slot] = value
        for variable in code.locals:
            offset = self._local_offset(group, variable)
            if (
                group.local_top > LOCAL_LIMIT
                or len(group.stack) > MAX_CALL_DEPTH
                or not make_local(self._batch, offset, variable.size)
            ):
                raise endless_loop(self._batch, group, recursion=True)
            own = code.specials.get("local:" + variable.name)
            if own is not None:
                group.R[own] = np.array([offset], np.uint64)
        self._batch.launch.observers.function_starts(group)

    def _local_offset(self, group: Group, variable: Variable) -> int:
        """Where a local array of the function that begins is: for another depth of the stack and
        another function it's elsewhere, because other lanes may be there now."""
        key = group.local_top, id(group.code), variable.name
        size, align = variable.size + 128, max(variable.align, 16)
        group.local_top = round_up(group.local_top, align) + size
        offset = self._offsets.get(key)
        if offset is None:
            offset = self._offsets[key] = round_up(self._end, align)
            self._end = offset + size
        return offset
