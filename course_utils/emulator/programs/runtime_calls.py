"""The answers to a program's calls of the CUDA runtime."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from .array_calls import ArrayCalls
from .call_state import Words, put
from .cuda_errors import UNKNOWN_TEXT, CudaStatus
from .driver_calls import DriverCalls
from .graph_calls import GraphCalls
from .host_mistakes import HostFinding, HostMistake
from .library_calls import LibraryCalls
from .program_allocations import DEVICE, bytes_at
from .program_launches import AskedLaunch
from .random_calls import RandomCalls
from .refusals import Refused
from .runtime_compiler import CompilerCalls

NO_STREAM = -1


class RuntimeCalls(GraphCalls, ArrayCalls, DriverCalls, RandomCalls, LibraryCalls, CompilerCalls):
    """Answers each call by the method of its name, after an underscore."""

    ALWAYS = frozenset(
        {
            "register_binary",
            "register_part",
            "register_function",
            "register_variable",
            "register_managed",
            "cudaGetLastError",
            "cudaPeekAtLastError",
            "cudaGetErrorString",
            "cudaGetErrorName",
            "cuGetErrorName",
            "nvrtc_library",
            "cudaDeviceGetAttribute",
            "cudaSetDevice",
            "missing_function",
            "host_fault",
            "program_ends",
        }
    )

    def answer(self, name: str, words: Words, stream: int = NO_STREAM) -> int:
        """The result of a call: mostly a ``cudaError_t``. ``stream``: the one that it is put
        into."""
        with self._turn:
            method: Callable[[Words], int | None] = getattr(self, f"_{name}")
            plain = name not in self.ALWAYS
            if plain and self.pending:
                self.sticky, self.pending = self.pending, CudaStatus.cudaSuccess
            if plain and self.sticky:
                return self._error(name, self.sticky)
            self.call, self.replayed, self.captured = name, None, False
            try:
                if self.captures and self.recorded(name, words, stream):
                    return 0
                return method(words) or 0
            except Refused as refused:
                if refused.mistake is not None:
                    self._tell(refused)
                return self._error(name, refused.error)

    def _error(self, name: str, error: CudaStatus) -> int:
        if error and error != CudaStatus.cudaErrorNotReady:
            self.last = error
            if name != "launch":  # the program may read the error that a call returns
                self.unread = None if error == self.sticky else self.unread
            elif self.unread is None:
                self.unread = name, error, self.line()
        return error

    # --- the program's parts ---

    def _register_binary(self, w: Words) -> None:
        self.kernels.add_binary(w[0])

    def _register_part(self, w: Words) -> None:
        self.kernels.add_part(w[0], w[1])

    def _register_function(self, w: Words) -> None:
        self.kernels.functions[w[1]] = w[0], ctypes.string_at(w[2]).decode()

    def _register_variable(self, w: Words) -> None:
        self.kernels.variables[w[1]] = w[0], ctypes.string_at(w[2]).decode()

    def _register_managed(self, w: Words) -> None:
        name = ctypes.string_at(w[2]).decode()
        start = self.kernels.share(
            w[0], name, lambda size: bytes_at(self.library.emulator_pages(size), size)
        )
        put(w[1], start)
        self.kernels.variables[w[1]] = self.kernels.variables[start] = w[0], name

    def asked_launch(self, words: Words) -> AskedLaunch:
        """A launch with its arguments. Raises Refused for no kernel."""
        packed = words[13] if len(words) > 13 else 0
        return AskedLaunch(
            function=words[0],
            grid=(words[1], words[2], words[3]),
            block=(words[4], words[5], words[6]),
            arguments=self.kernels.packed_arguments(words[0], packed)
            if packed
            else self.kernels.arguments(words[0], words[7]),
            shared=words[8],
            cooperative=bool(words[9]),
            cluster=(words[10], words[11], words[12]),
            line=self.line(),
        )

    def run_launch(self, asked: AskedLaunch) -> None:
        """Run a launch now. Launches are asynchronous, so the next call that waits sees its
        error, and each call after it."""
        self.call, self.replayed = "launch", asked.line
        error = self.kernels.launch(asked)
        if error:
            self.pending = error
            self.unread = self.call, error, asked.line

    def _launch(self, w: Words) -> None:
        self.run_launch(self.asked_launch(w))

    # --- errors ---

    def _cudaGetLastError(self, _: Words) -> int:
        error, self.last = self.last, self.sticky
        self._read()
        return self.sticky or error

    def _cudaPeekAtLastError(self, _: Words) -> int:
        self._read()
        return self.sticky or self.last

    def _read(self) -> None:
        """The program asks for the last error. It can't see that of a launch that may still run."""
        if not self.pending:
            self.unread = None

    def _cudaGetErrorString(self, w: Words) -> int:
        known = w[0] in CudaStatus._value2member_map_
        return self._text(CudaStatus(w[0]).text if known else UNKNOWN_TEXT)  # type: ignore[call-arg]

    def _cudaGetErrorName(self, w: Words) -> int:
        known = w[0] in CudaStatus._value2member_map_
        return self._text(CudaStatus(w[0]).name if known else UNKNOWN_TEXT)  # type: ignore[call-arg]

    # --- the end ---

    def _missing_function(self, w: Words) -> None:
        name = ctypes.string_at(w[0]).decode()
        self.log.write("missing", name=name, line=str(self.line()))

    def _host_fault(self, w: Words) -> None:
        """The program's own code accessed memory that it may not. ``w``: its registers."""
        line = self.line()
        self.log.write("crash", line=str(line) if line.file else "")
        found = (self.memory.allocation_at(w[1 + n]) for n in range(w[0]) if w[1 + n] > 0)
        used = next((a for a in found if a is not None and a.place == DEVICE), None)
        if used is not None:
            text = (
                f"The host reads or writes {used}. That is memory of the device: copy it with "
                "cudaMemcpy, or allocate it with cudaMallocManaged."
            )
            mistake = HostMistake.DEVICE_MEMORY_ON_HOST
            self.log.host(HostFinding(mistake, "", text, line))

    def _program_ends(self, _: Words) -> None:
        """Log the end: an error that the program never read, and memory that it never freed."""
        unread = None
        if self.unread is not None:
            name, error, line = self.unread
            call = "A launch" if name == "launch" else name
            unread = {
                "call": call,
                "line": str(line) if line.file else "",
                "text": f"{call}{line.at} gave {error.name} ({error.text}), and the program ends "
                "without asking for it.",
            }
        # After a fault in a kernel cudaFree fails as well, so nothing is known of leaks.
        left = [] if self.sticky else self.memory.allocations.values()
        leaks = [
            {
                "call": found.call,
                "line": str(found.line) if found.line.file else "",
                "bytes": found.size,
                "text": f"{found} is never freed.",
            }
            for found in left
            if not found.registered and found.start not in self.graph_memory
        ]
        self.log.write("end", unread=unread, leaks=leaks, launches=self.kernels.launched)
