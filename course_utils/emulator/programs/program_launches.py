"""A program's kernels and variables, and their launches on the emulator."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..findings.options import Options
from ..findings.report import KernelFault, LaunchTooLong
from ..findings.wording import shape_text
from ..isa.gpu_constants import MAX_CLUSTER, SHARED_PER_SM, SMS, Triple
from ..isa.linked_ptx import link
from ..isa.ptx import PtxError
from ..isa.symbols import readable_name
from ..launching.emulated_module import EmulatedModule, KernelEntry
from ..memory.address_space import GLOBAL, Region
from ..numerics.rounding import round_up
from .cuda_errors import CudaStatus, error_of
from .device_facts import MOST_BLOCK, MOST_GRID, WITHOUT_ASKING
from .fat_binary import NoPtx, ptx_at
from .host_lines import HostLine
from .host_mistakes import HostMistake, ProgramLog
from .refusals import Refused

STOPPED = 124  # the status of a program that was stopped, as timeout(1) has it


@dataclass
class AskedLaunch:
    """A launch as the program asks for it, with copies of its arguments."""

    function: int
    grid: Triple
    block: Triple
    arguments: list[bytes]
    shared: int
    cooperative: bool
    cluster: Triple
    line: HostLine


@dataclass
class ProgramKernels:
    """The modules of a program. ``options`` hold for every launch. ``flush`` writes out the host's
    buffered output."""

    log: ProgramLog
    options: Options
    flush: Callable[[], None]
    modules: dict[int, EmulatedModule | str] = field(default_factory=dict)
    parts: dict[int, list[str]] = field(default_factory=dict)  # of modules that are to be linked
    functions: dict[int, tuple[int, str]] = field(default_factory=dict)
    variables: dict[int, tuple[int, str]] = field(default_factory=dict)
    dynamic: dict[int, int] = field(default_factory=dict)  # bytes, of kernels that asked
    launched: int = 0

    def add_binary(self, wrapper: int) -> None:
        """Read the PTX of a fat binary, or note why it can't be read."""
        try:
            self.modules[wrapper] = EmulatedModule(ptx_at(wrapper))
        except (NoPtx, PtxError) as error:
            self.modules[wrapper] = str(error)

    def add_part(self, linked: int, wrapper: int) -> None:
        """Read the PTX of one of the files that the module ``linked`` is made of."""
        try:
            self.parts.setdefault(linked, []).append(ptx_at(wrapper))
            self.modules.pop(linked, None)
        except NoPtx as error:
            self.modules[linked] = str(error)

    def _link(self, linked: int) -> None:
        try:
            self.modules[linked] = EmulatedModule(link(self.parts[linked]))
        except PtxError as error:
            self.modules[linked] = str(error)

    def _module(self, wrapper: int) -> EmulatedModule:
        if wrapper not in self.modules and wrapper in self.parts:
            self._link(wrapper)
        found = self.modules[wrapper]
        if isinstance(found, str):
            raise Refused(
                CudaStatus.cudaErrorNoKernelImageForDevice,
                HostMistake.LAUNCH_REFUSED,
                f"The kernels of this program can't be read: {found}.",
            )
        return found

    def entry(self, function: int) -> KernelEntry:
        """The kernel of a host function. Raises Refused where there is none."""
        if function not in self.functions:
            raise Refused(CudaStatus.cudaErrorInvalidDeviceFunction)
        wrapper, name = self.functions[function]
        try:
            return self._module(wrapper).entry(name)
        except (KeyError, PtxError) as error:
            raise Refused(
                CudaStatus.cudaErrorInvalidDeviceFunction,
                HostMistake.LAUNCH_REFUSED,
                f"The kernel {spoken_name(name)} can't be launched: {error}",
            ) from None

    def variable(self, symbol: int) -> Region:
        """The region of a ``__device__`` or ``__constant__`` variable. Raises Refused."""
        if symbol not in self.variables:
            raise Refused(CudaStatus.cudaErrorInvalidSymbol)
        wrapper, name = self.variables[symbol]
        module = self._module(wrapper)
        if name not in module.variables:
            raise Refused(CudaStatus.cudaErrorInvalidSymbol)
        return module.region_of(name)

    def share(self, wrapper: int, name: str, pages: Callable[[int], np.ndarray]) -> int:
        """Put a ``__managed__`` variable into memory that the host reaches. Returns its address."""
        module = self._module(wrapper)
        before = module.region_of(name)
        storage = pages(before.size)
        storage[:] = before.storage
        GLOBAL.free(before)
        module._globals[name] = region = GLOBAL.share(readable_name(name), storage)
        return region.start

    # --- to launch ---

    def most_dynamic(self, function: int) -> int:
        """Bytes of dynamic shared memory that a launch may have."""
        static = self.entry(function).static_shared
        return self.dynamic.get(function, max(0, WITHOUT_ASKING - static))

    def allow_dynamic(self, function: int, size: int) -> None:
        """cudaFuncSetAttribute of the most dynamic shared memory. Raises Refused."""
        static = self.entry(function).static_shared
        if size + static > SHARED_PER_SM:
            raise Refused(
                CudaStatus.cudaErrorInvalidValue,
                HostMistake.INVALID_CALL,
                f"cudaFuncSetAttribute asks for {size:,} bytes of dynamic shared memory, and a "
                f"block has at most {SHARED_PER_SM - static:,}.",
            )
        self.dynamic[function] = size

    def arguments(self, function: int, table: int) -> list[bytes]:
        """Copies of a launch's arguments. ``table``: the address of the pointers to them. Raises
        Refused for no kernel."""
        sizes = [size for size, _ in self.entry(function).parameters]
        pointers = (ctypes.c_void_p * len(sizes)).from_address(table) if sizes else ()
        return [ctypes.string_at(at, size) for at, size in zip(pointers, sizes, strict=True)]

    def packed_arguments(self, function: int, buffer: int) -> list[bytes]:
        """Copies of a launch's arguments that are in one buffer, each at its alignment."""
        found, at = [], buffer
        for size, align in self.entry(function).parameters:
            at = buffer + round_up(at - buffer, align)
            found.append(ctypes.string_at(at, size))
            at += size
        return found

    def launch(self, asked: AskedLaunch) -> CudaStatus:
        """Run a launch to its end. Returns the error that a GPU would give. Raises Refused if a GPU
        would not begin it."""
        entry = self.entry(asked.function)
        self._check(entry, asked)
        self.launched += 1
        name = spoken_name(entry.name)
        shape = f"{name}<<<{shape_text(asked.grid)}, {shape_text(asked.block)}>>>{asked.line.at}"
        options = Options(
            checks=self.options.checks,
            patience=self.options.patience,
            quiet=self.options.quiet,
            cooperative=asked.cooperative,
            cluster=asked.cluster if math.prod(asked.cluster) else None,
        )
        result, error = None, CudaStatus.cudaSuccess
        try:
            result = entry.launch(
                asked.grid, asked.block, asked.arguments, asked.shared, options=options
            )
            findings = result.findings
        except KernelFault as fault:
            findings = [*fault.earlier, fault.finding]
            error = error_of(fault.finding.kind)
        except LaunchTooLong as too_long:
            self.log.write("note", text=f"The program was stopped in {shape}: {too_long}.")
            self.flush()
            os._exit(STOPPED)  # nothing after this launch would be of use
        except (ValueError, PtxError) as refused:
            raise Refused(
                CudaStatus.cudaErrorInvalidConfiguration, HostMistake.LAUNCH_REFUSED, str(refused)
            ) from None
        for finding in findings:
            self.log.device(finding, name, shape)
        if result is not None and result.printed:
            self.flush()
            os.write(1, result.printed.encode())
        return error

    def _check(self, entry: KernelEntry, asked: AskedLaunch) -> None:
        """Raise Refused for a shape that no GPU takes."""
        name = spoken_name(entry.name)
        threads = math.prod(asked.block)
        wrong, error = "", CudaStatus.cudaErrorInvalidConfiguration
        if min(*asked.grid, *asked.block) < 1:
            what, shape = (
                ("blocks", asked.grid) if min(asked.grid) < 1 else ("threads", asked.block)
            )
            wrong = f"it has no {what}: {shape_text(shape)}"
        elif any(n > most for n, most in zip(asked.grid, MOST_GRID, strict=True)):
            wrong = f"a grid of {shape_text(asked.grid)} has more than {MOST_GRID} blocks"
        elif threads > entry.max_threads:
            error = CudaStatus.cudaErrorInvalidValue  # as CUDA 13 has it
            wrong = f"a block of {threads:,} threads, and at most {entry.max_threads:,} are allowed"
        elif any(n > most for n, most in zip(asked.block, MOST_BLOCK, strict=True)):
            wrong = f"a block of {shape_text(asked.block)} has more than {MOST_BLOCK} threads"
        elif asked.shared > self.most_dynamic(asked.function):
            error = CudaStatus.cudaErrorInvalidValue
            wrong = (
                f"{asked.shared:,} bytes of dynamic shared memory, and it may use "
                f"{self.most_dynamic(asked.function):,}. cudaFuncSetAttribute with "
                "cudaFuncAttributeMaxDynamicSharedMemorySize allows more"
            )
        elif math.prod(asked.cluster) > MAX_CLUSTER:
            error = CudaStatus.cudaErrorInvalidClusterSize
            cluster = shape_text(asked.cluster)
            wrong = f"a cluster of {cluster}, and at most {MAX_CLUSTER} blocks make one"
        elif asked.cooperative:
            fit = entry.resident_blocks(asked.block, asked.shared)
            if math.prod(asked.grid) > fit:
                error = CudaStatus.cudaErrorCooperativeLaunchTooLarge
                wrong = f"a cooperative grid of {math.prod(asked.grid):,} blocks, and {fit:,} fit"
        if wrong:
            raise Refused(error, HostMistake.LAUNCH_REFUSED, f"{name} is not launched: {wrong}.")

    def blocks_per_sm(self, function: int, threads: int, shared: int) -> int:
        """How many blocks of ``threads`` fit on a multiprocessor. 0 if none fits."""
        entry = self.entry(function)
        if (
            threads < 1
            or threads > entry.max_threads
            or shared + entry.static_shared > SHARED_PER_SM
        ):
            return 0
        return entry.resident_blocks((threads, 1, 1), shared) // SMS


def spoken_name(mangled: str) -> str:
    """The name of a kernel as it is written in the source: without its parameters."""
    try:
        demangle = ctypes.CDLL(None)["__cxa_demangle"]  # of the program's C++ library
    except AttributeError:
        return readable_name(mangled)
    demangle.restype = ctypes.c_char_p
    text = demangle(mangled.encode(), None, None, None)
    if not text:
        return readable_name(mangled)
    text = text.decode().replace("(anonymous namespace)::", "").removeprefix("void ")
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            return text[:at]
    return text
