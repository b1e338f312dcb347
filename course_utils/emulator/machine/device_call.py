"""A call of CUDA's device runtime by one lane: its arguments, its thread's last error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..findings.causes import Cause
from ..findings.report import LAUNCH_REFUSED, Finding
from ..findings.wording import where
from ..isa.gpu_constants import Triple
from ..isa.symbols import readable_name
from .child_launches import ChildLaunches, DeviceStatus
from .lanes import Group

if TYPE_CHECKING:
    from ..isa import ptx

Struct = dict[int, np.ndarray]  # the values in an argument, by byte


class Call:
    """A call by one lane. ``arguments`` hold that lane's values."""

    def __init__(
        self, group: Group, at: int, instruction: ptx.Instruction, arguments: list[Struct]
    ) -> None:
        self.batch, self.instruction = group.batch, instruction
        self.launch = group.batch.launch
        self.lane = int(group.lanes[at])
        self._arguments = [
            {offset: value[at if len(value) > 1 else 0] for offset, value in struct.items()}
            for struct in arguments
        ]

    @property
    def children(self) -> ChildLaunches:
        """The work that the grid has asked for."""
        return self.launch.children

    def number(self, n: int, offset: int = 0) -> int:
        """An integer among the arguments, unsigned, ``offset`` bytes into the ``n``-th."""
        value = self._arguments[n][offset]
        return int(value.view(f"u{value.itemsize}"))

    def triple(self, n: int) -> Triple:
        """A dim3 among the arguments. Its parts may have been stored two at once."""
        data = bytearray(12)
        for offset, value in self._arguments[n].items():
            data[offset : offset + value.itemsize] = value.tobytes()
        x, y, z = np.frombuffer(data[:12], np.uint32).tolist()
        return x, y, z

    def fail(self, error: DeviceStatus) -> DeviceStatus:
        """Keep an error for cudaGetLastError()."""
        self.children.errors[self._thread] = error
        return error

    def last_error(self, *, keep: bool) -> DeviceStatus:
        """The thread's last error, which is forgotten unless it is to be kept."""
        errors = self.children.errors
        if keep:
            return errors.get(self._thread, DeviceStatus.cudaSuccess)
        return errors.pop(self._thread, DeviceStatus.cudaSuccess)

    @property
    def _thread(self) -> tuple[int, int]:
        slot, thread = divmod(self.lane, self.batch.lanes_per_block)
        return self.batch.first + slot, thread

    def store(self, address: int, data: bytes) -> bool:
        """Put bytes into memory, as the runtime does. False where there is none."""
        region = self.batch.memory.region_at(address)
        if region is None or address + len(data) > region.end:
            return False
        copy = {"all": 0, "block": self.lane // self.batch.lanes_per_block, "lane": self.lane}
        start = copy[region.owner] * region.stride + address - region.start
        region.storage[start : start + len(data)] = np.frombuffer(data, np.uint8)
        return True

    def finding(self, kind: str, cause: Cause, text: str, level: str = "error") -> Finding:
        """``text`` about the thread's call."""
        thread, block = self.batch.thread_and_block(self.lane)
        at = self.instruction.location
        return Finding(kind, text, at, thread, block, level=level, cause=cause)

    def who(self) -> str:
        """The thread and the line, in words."""
        thread, block = self.batch.thread_and_block(self.lane)
        at = f" at {self.instruction.location}" if self.instruction.location else ""
        return f"{where(thread, block)}{at}"

    def refuse(self, name: str, shape: str, why: str, error: DeviceStatus) -> DeviceStatus:
        """A launch that a GPU refuses. On a GPU only cudaGetLastError() says so."""
        text = (
            f"Launch refused: {self.who()} launches {readable_name(name)}{shape}, and {why}.\n"
            f"  The kernel doesn't run. Only cudaGetLastError() in the kernel that launches it "
            f"would say so: {error.name}."
        )
        key = LAUNCH_REFUSED, self.instruction.location, error
        finding = self.finding(LAUNCH_REFUSED, Cause.CHILD_LAUNCH_REFUSED, text)
        self.launch.findings.add(key, finding)
        return self.fail(error)
