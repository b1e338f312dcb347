"""A kernel that is called as CuPy's are, its every launch checked.

A call is compared with the kernel's parsed signature before anything runs, in the same way on a GPU
and on the emulator, because a launch itself checks nothing: raw bytes go to the device.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol

from ..compiling.nvrtc import Compiled
from ..compiling.signature import Signature
from ..devices import emulated_cupy, gpu
from ..devices.compute_capability import shared_limit
from ..devices.emulated_kernels import recorder_options
from ..devices.last_launches import Launched, remember
from ..devices.limits import LaunchError, Limits, check_residence, check_shape, dimensions
from ..devices.selection import EMULATOR, cp
from ..emulator import Finding, KernelFault, LaunchTooLong, Options
from ..errors import LessonError, more
from ..symptoms import heading
from . import older_gpus
from .arguments import bring_back, carry_over, converted

if TYPE_CHECKING:
    from ..emulator import LaunchResult


Grid = tuple[int, int, int]  # blocks of a grid, or threads of a block, along x, y and z


class LaunchFault(KernelFault, LessonError):
    """A kernel's fault on the emulator: ``finding`` has its line, thread and block."""

    def __init__(self, finding: Finding, earlier: list[Finding] | None = None):
        super().__init__(finding, earlier)
        self.symptom = heading(finding.kind)
        self.add_note(more(self.symptom))


class KernelModule(Protocol):
    """The origin of a :class:`Kernel`: a module of ``load``, a PTX file, or the code of a raw
    kernel. ``filename`` is the name of ``source`` in errors and reports."""

    source: str
    filename: str
    device: str

    def __getitem__(self, name: str) -> Kernel: ...

    def compiled(self, arch: str, *options: str) -> Compiled:
        """The source as NVRTC compiles it for ``arch``, without loading it."""

    @property
    def emulated(self) -> KernelModule:
        """The same module on the emulator, whatever the machine."""


class Kernel:
    """One kernel: ``kernel(grid, block, args, shared_mem=bytes)``.

    ``grid`` and ``block`` are ints or tuples (x, y, z). ``args`` is a tuple of cp arrays and
    numbers, which are converted to the parameters' C types. A call that cannot be right raises
    :class:`~course_utils.devices.limits.LaunchError` and launches nothing. On a GPU the call waits
    until the kernel has ended, so that a fault appears in the cell that caused it. A kernel on the
    emulator also takes arrays of a GPU: it works on copies, and brings them back.

    ``signature`` is None where the kernel's definition could not be found in the source: its
    arguments are then passed as CuPy does, unchecked.
    """

    def __init__(
        self,
        module: KernelModule,
        name: str,
        raw_module: Any,
        signature: Signature | None = None,
        prints: bool = False,
    ):
        self.module, self.name, self._prints = module, name, prints
        self.signature = signature.specialise(name) if signature else None
        self._raw_module = raw_module
        self.stands_in = False  # on the emulator, for a GPU later than the one at hand

    @cached_property
    def raw(self) -> Any:
        """CuPy's kernel, or the emulator's."""
        return self._raw_module.get_function(self.name)

    @property
    def source(self) -> str:
        """The CUDA C++ that it was compiled from."""
        return self.module.source

    @property
    def filename(self) -> str:
        """The name of the source in errors and reports."""
        return self.module.filename

    @property
    def last_launch(self) -> LaunchResult | None:
        """The last launch as the emulator saw it. None before it, and on a GPU."""
        return self.raw.last_launch if self.device == EMULATOR else None

    @property
    def device(self) -> str:
        """Where it runs: "cuda" or "emulator"."""
        return self.module.device

    @property
    def attributes(self) -> dict[str, int]:
        """Facts about the compiled kernel, its registers and local memory on a GPU only."""
        return dict(self.raw.attributes)

    @cached_property
    def emulated(self) -> Kernel:
        """The same kernel on the emulator, whatever the machine."""
        return self.module.emulated[self.name]

    def __repr__(self) -> str:
        return f"<kernel {self.signature or self.name} of {self.module.filename}>"

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0) -> None:
        self.launch(grid, block, args, shared_mem=shared_mem)

    def launch(
        self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0, options: Any = None
    ) -> LaunchResult | None:
        """Check, launch and wait. On the emulator, return its result (also in ``last_launch``).

        ``options`` are the emulator's (:class:`course_utils.emulator.Options`). Raises LaunchError
        for them on a GPU, and for a shape or an argument that the kernel can't take.
        """
        shape = dimensions(grid, "grid"), dimensions(block, "block")
        if self.device == EMULATOR:
            return self._emulate(shape, args, shared_mem, options)
        if options is not None:
            raise LaunchError("options are the emulator's: use kernel.emulated.launch(...).")
        if self.is_beyond_gpu(shared_mem):
            self._announce_stand_in(shared_mem)
            return self.emulated.launch(*shape, args, shared_mem=shared_mem)
        values = self.check(*shape, args, shared_mem)
        with gpu.readable_faults(self.name):
            self.raw(*shape, values, shared_mem=shared_mem)
            gpu.wait(prints=self._prints)
        parameters = self.signature.parameters if self.signature else ()
        remember(Launched(self.name, *shape, shared=shared_mem), args, parameters)
        return None

    def _emulate(
        self, shape: tuple[Grid, Grid], args: Any, shared_mem: int, options: Any
    ) -> LaunchResult:
        if options is None and self.stands_in:
            options = replace(recorder_options() or Options(), patience=older_gpus.PATIENCE)
        args, copies = carry_over(args)
        values = self.check(*shape, args, shared_mem)
        try:
            result: LaunchResult = self.raw.launch(
                *shape, values, shared_mem=shared_mem, options=options
            )
        except KernelFault as fault:
            raise LaunchFault(fault.finding, fault.earlier) from None
        except LaunchTooLong as error:
            raise older_gpus.too_long(self.name, error.seconds) from None
        bring_back(copies)
        return result

    def is_beyond_gpu(self, shared_mem: Any = 0) -> bool:
        """Whether the emulator stands in for the GPU at hand: this cannot run the kernel, or has
        less shared memory than a block needs and later GPUs have."""
        if self.stands_in or self.device == EMULATOR or not isinstance(shared_mem, Integral):
            return self.stands_in
        total = int(self.raw.shared_size_bytes + shared_mem)
        return _shared_limits(self.device)[1] < total <= _shared_limits(EMULATOR)[1]

    def _announce_stand_in(self, shared_mem: int) -> None:
        """Say once that the emulator stands in for want of shared memory."""
        if not self.emulated.stands_in:
            kilobytes = (self.raw.shared_size_bytes + shared_mem) // 1024
            what = f"{kilobytes} KB of shared memory for a block"
            print(older_gpus.announcement(self.name, what))
            self.emulated.stands_in = True

    def check(self, grid: Grid, block: Grid, args: Any, shared_mem: int = 0) -> tuple[Any, ...]:
        """The arguments as the device takes them. Raises LaunchError if the launch cannot be
        right."""
        if not isinstance(args, (tuple, list)):
            raise LaunchError(
                f"{self.name}: the arguments are one tuple, such as (a, b, n); "
                f"with a single argument write (a,)."
            )
        raw, (plain, most) = self.raw, _shared_limits(self.device)
        limits = Limits(raw.max_threads_per_block, raw.shared_size_bytes, most)
        check_shape(self.name, grid, block, shared_mem, limits)
        if limits.static_shared + shared_mem > plain:
            raw.max_dynamic_shared_size_bytes = shared_mem
        if getattr(self.module, "cooperative", False):
            check_residence(self.name, grid, block, self._resident_blocks(block, shared_mem))
        return self.convert(args)

    def _resident_blocks(self, block: Grid, shared_mem: int) -> int:
        """How many blocks of the kernel the device runs at once."""
        if self.device == EMULATOR:
            return int(self.raw.resident_blocks(block, shared_mem))
        each = cp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(
            self.raw.kernel.ptr, math.prod(block), shared_mem
        )
        return int(each * cp.cuda.Device().attributes["MultiProcessorCount"])

    def convert(self, args: Any) -> tuple[Any, ...]:
        """``args`` in the parameters' C types. Raises LaunchError, naming the parameter."""
        if self.signature is None:
            return tuple(args)
        parameters = self.signature.parameters
        if refused := self.signature.refused_reference():
            raise LaunchError(refused)
        if len(args) != len(parameters):
            few = "few" if len(args) < len(parameters) else "many"
            listed = ", ".join(map(str, parameters))
            missing = ""
            if few == "few":
                names = ", ".join(parameter.name for parameter in parameters[len(args) :])
                missing = f" Missing at the end, unless one was left out before: {names}."
            raise LaunchError(
                f"{self.name}: too {few} arguments: {len(args)} given, {len(parameters)} wanted "
                f"({listed}).{missing}"
            )
        space = namespace(self.device)
        given = zip(args, parameters, self._parameter_sizes(len(parameters)), strict=True)
        return tuple(
            converted(value, one, f"{self.name}, argument {number} ({one})", space, size)
            for number, (value, one, size) in enumerate(given, 1)
        )

    def _parameter_sizes(self, count: int) -> list[int | None]:
        """Bytes of each parameter, None where they aren't known: on a GPU, and where a macro
        makes some."""
        sizes = [size for size, _ in self.raw.entry.parameters] if self.device == EMULATOR else []
        return list(sizes) if len(sizes) == count else [None] * count


@cache
def _shared_limits(device: str) -> tuple[int, int]:
    """Bytes of shared memory a block may have: as it is, and when the kernel asks for more."""
    attributes = namespace(device).cuda.Device().attributes
    most = attributes["MaxSharedMemoryPerBlockOptin"]
    if device != EMULATOR:
        most = shared_limit(most)
    return attributes["MaxSharedMemoryPerBlock"], most


def namespace(device: str) -> Any:
    """CuPy, or the emulator's namespace of the same names."""
    return emulated_cupy if device == EMULATOR else cp
