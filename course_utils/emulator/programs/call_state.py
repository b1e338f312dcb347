"""The state that all answers to a program's calls of the CUDA runtime share."""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Sequence

import numpy as np

from ..memory.texels import Surface, Texture
from .cuda_errors import CudaStatus
from .host_lines import HostLine, HostLines
from .host_memory import HostMemory
from .host_mistakes import HostFinding, ProgramLog
from .program_arrays import ProgramArray
from .program_graphs import Capture, GraphNode
from .program_launches import ProgramKernels
from .refusals import Refused

Words = Sequence[int]  # the arguments of a call, pointers as addresses


def put(address: int, value: int) -> None:
    """Write eight bytes for the program."""
    if address:
        ctypes.c_uint64.from_address(address).value = value & (1 << 64) - 1


def words_at(address: int, count: int) -> list[int]:
    """Read ``count`` words of eight bytes from the program."""
    return list((ctypes.c_int64 * count).from_address(address)) if count else []


def addresses_at(address: int, count: int) -> list[int]:
    """Read ``count`` pointers from the program."""
    return list((ctypes.c_uint64 * count).from_address(address)) if count else []


def put_int(address: int, value: int) -> None:
    """Write an int for the program."""
    ctypes.c_int.from_address(address).value = value


class CallState:
    """A program's memory, kernels and errors.

    ``library`` is the runtime library that asks. ``call`` is the function that the program called.
    """

    def __init__(
        self, library: ctypes.CDLL, kernels: ProgramKernels, lines: HostLines, log: ProgramLog
    ) -> None:
        self.library, self.kernels, self.lines, self.log = library, kernels, lines, log
        self.memory = HostMemory(library)
        self.last = self.sticky = CudaStatus.cudaSuccess
        self.pending = CudaStatus.cudaSuccess  # of a launch, until a call waits for it
        self.unread: tuple[str, CudaStatus, HostLine] | None = None  # of a launch
        self.call = ""
        self.captured = False  # whether the call's stream is
        self.replayed: HostLine | None = None  # of a call that waited in a graph
        self.objects: dict[int, object] = {}  # graphs, their nodes and executable graphs
        self.numbers = itertools.count(1)
        self.captures: dict[int, Capture] = {}  # by stream
        self.event_tips: dict[int, tuple[Capture, list[GraphNode]]] = {}
        self.capture_mode = 0
        self.graph_memory: set[int] = set()  # allocations that belong to a graph
        self.arrays: dict[int, ProgramArray] = {}
        self.textures: dict[int, Texture | Surface] = {}
        self.generators: dict[int, tuple[np.random.Generator, str]] = {}  # and where numbers go
        self.links: dict[int, list[str]] = {}  # PTX that the program's linker joins
        self._turn = threading.RLock()
        self._texts: dict[str, ctypes.c_char_p] = {}
        self._frames = (ctypes.c_void_p * 16).in_dll(library, "emulator_frames")
        self._count = ctypes.c_int.in_dll(library, "emulator_frame_count")

    def line(self) -> HostLine:
        """The line of the program that makes the present call, or made it in a graph."""
        if self.replayed is not None:
            return self.replayed
        return self.lines.line([frame or 0 for frame in self._frames[: self._count.value]])

    def _tell(self, refused: Refused) -> None:
        assert refused.mistake is not None
        self.log.host(HostFinding(refused.mistake, self.call, refused.message, self.line()))

    def _text(self, text: str) -> int:
        kept = self._texts.setdefault(text, ctypes.c_char_p(text.encode()))
        return ctypes.cast(kept, ctypes.c_void_p).value or 0
