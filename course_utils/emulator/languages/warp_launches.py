"""NVIDIA Warp on the emulator: ``wp.launch(kernel, dim, inputs)`` of a ``@wp.kernel`` function.

Warp writes CUDA C++ and compiles it to PTX with its own compiler, which needs no GPU. Its
arrays on the device "cpu" are shared with the kernel, at the addresses that they have there.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..findings.language_words import Language
from ..findings.options import ALL_CHECKS, Options
from ..launching.launch_result import LaunchResult
from ..memory.address_space import GLOBAL, Region, address_of
from ..numerics.rounding import ceil_div
from .host_arrays import HostArrays, LanguageError, is_array
from .prepared_launch import Emulation, PreparedLaunch, PythonSource, entry_of, instead

INSTALL = "Install it: pip install warp-lang (150 MB; no GPU is needed)."
THREADS = 256  # of a block, unless the launch says otherwise


@contextmanager
def warp_on_emulator(arch: int = 90, *, options: Options | None = None) -> Iterator[Emulation]:
    """Inside the ``with``, ``wp.launch`` runs kernels on the emulator.

    Arrays are Warp's on the device "cpu", or NumPy's, and hold the kernel's results. Findings,
    faults, ``options`` and ``arch`` are as for
    :func:`~.triton_launches.triton_on_emulator`. Raises LanguageError
    where warp-lang is missing.
    """
    warp = _warp()
    emulation = Emulation(options or Options(checks=ALL_CHECKS), arch)

    def launch(
        kernel: Any,
        dim: Any,
        inputs: Sequence[Any] = (),
        outputs: Sequence[Any] = (),
        adj_inputs: Sequence[Any] = (),
        adj_outputs: Sequence[Any] = (),
        device: Any = None,
        stream: Any = None,
        adjoint: bool = False,
        record_tape: bool = True,
        record_cmd: bool = False,
        max_blocks: int = 0,
        block_dim: int | None = None,
    ) -> None:
        if adjoint or record_cmd:
            raise LanguageError(
                f"{kernel.key}: the emulator launches forward kernels at once. Leave adjoint and "
                "record_cmd out."
            )
        args = (*inputs, *outputs)
        _run(emulation, prepared_warp(kernel, dim, block_dim, args, emulation.arch))

    with instead(warp, launch=launch):
        yield emulation


def emulated_warp(
    kernel: Any,
    dim: int | Sequence[int],
    *args: Any,
    block_dim: int = THREADS,
    options: Options | None = None,
    arch: int = 90,
) -> LaunchResult:
    """Run ``wp.launch(kernel, dim, args, block_dim=block_dim)`` on the emulator. The result has the
    findings.

    The rest is as for :func:`warp_on_emulator`.
    """
    emulation = Emulation(options or Options(checks=ALL_CHECKS), arch, warn=False)
    _run(emulation, prepared_warp(kernel, dim, block_dim, args, arch))
    return emulation.results[-1]


def is_warp(kernel: Any) -> bool:
    """Whether it is a kernel of ``@wp.kernel``."""
    return type(kernel).__module__ == "warp._src.context" and type(kernel).__name__ == "Kernel"


def _run(emulation: Emulation, prepared: PreparedLaunch) -> None:
    try:
        emulation.launch(prepared)
    finally:
        prepared.keep.free()


class SharedArrays:
    """Arrays of one launch that kernels reach at the host's addresses, until :meth:`free` or until
    the launch is forgotten."""

    def __init__(self) -> None:
        self._regions: list[Region] = []
        self._owners: list[Any] = []
        weakref.finalize(self, _free, self._regions).atexit = False

    def add(self, name: str, start: int, size: int, owner: Any) -> None:
        """Share ``size`` bytes from the address ``start``, which ``owner`` owns."""
        known = [region for region in self._regions if region.start <= start < region.end]
        if not size or known:
            return
        storage = np.frombuffer(memoryview((ctypes.c_uint8 * size).from_address(start)), np.uint8)
        self._regions.append(GLOBAL.share(name, storage))
        self._owners.append(owner)

    def free(self) -> None:
        """Share them no more."""
        _free(self._regions)


def _free(regions: list[Region]) -> None:
    while regions:
        GLOBAL.free(regions.pop())


def prepared_warp(
    kernel: Any, dim: Any, block_dim: int | None, args: Sequence[Any], arch: int = 90
) -> PreparedLaunch:
    """The launch ``wp.launch(kernel, dim, args, block_dim=block_dim)`` without running it. Its
    ``keep`` are the :class:`SharedArrays`, to be freed after it.

    Raises LanguageError for no Warp kernel, and for arguments or a ``dim`` that it can't take.
    """
    warp = _warp()
    context = importlib.import_module("warp._src.context")
    if not is_warp(kernel):
        name = getattr(kernel, "__name__", type(kernel).__name__)
        raise LanguageError(f"{name} isn't a Warp kernel: @wp.kernel belongs above it.")
    labels = [argument.label for argument in kernel.adj.args]
    if len(args) != len(labels):
        raise LanguageError(
            f"{kernel.key}: {len(args)} arguments, and it takes {len(labels)}: {', '.join(labels)}."
        )
    if kernel.is_generic:
        kernel = kernel.add_overload(kernel.infer_argument_types(list(args)))
    extents = (dim,) if isinstance(dim, (int, np.integer)) else tuple(dim)
    threads = int(block_dim or THREADS)
    if not extents or min(extents) < 1 or threads < 1:
        raise LanguageError(f"{kernel.key}: dim is {dim!r}, and its extents are positive integers.")
    shared, arrays = SharedArrays(), HostArrays()
    cpu = warp.get_device("cpu")
    values = []
    try:
        for argument, value in zip(kernel.adj.args, args, strict=True):
            where = f"{kernel.key}, {argument.label}"
            given = _given(warp, argument, value, arrays, where)
            _share(shared, argument.label, given)
            try:
                packed = context.pack_arg(kernel, argument.type, argument.label, given, cpu)
            except (RuntimeError, ValueError, TypeError) as error:
                raise LanguageError(str(error)) from None
            values.append(bytes(memoryview(packed)))
        entry = _compiled(warp, kernel, arch, threads)
        bounds = context._build_launch_bounds_from_tuple(extents, kernel.adj.kernel_dim)
    except BaseException:
        shared.free()
        raise
    blocks = ceil_div(prod(extents), threads)
    return PreparedLaunch(
        kernel.key,
        entry,
        (blocks, 1, 1),
        (threads, 1, 1),
        (bytes(memoryview(bounds)), *values),
        ("dim", *labels),
        PythonSource.of(kernel.func.__code__.co_filename),
        keep=shared,
        language=Language.WARP,
    )


def _warp() -> Any:
    try:
        warp = importlib.import_module("warp")
    except ImportError as error:
        raise LanguageError(f"Warp cannot be imported ({error}). {INSTALL}") from None
    if not hasattr(warp, "kernel"):
        raise LanguageError(f"The module `warp` is not NVIDIA's. {INSTALL}")
    if getattr(importlib.import_module("warp._src.context"), "runtime", None) is None:
        _start_quietly(warp)
    return warp


def _start_quietly(warp: Any) -> None:
    """Warp's start without its list of devices, and without the warning of its C++ that there is no
    driver: the emulator needs none."""
    level, error_output = warp.config.log_level, os.dup(2)
    silent = os.open(os.devnull, os.O_WRONLY)
    sys.stderr.flush()
    try:
        os.dup2(silent, 2)
        warp.config.log_level = warp.LOG_ERROR
        warp.init()
    finally:
        os.dup2(error_output, 2)
        os.close(error_output)
        os.close(silent)
        warp.config.log_level = level


def _given(warp: Any, argument: Any, value: Any, arrays: HostArrays, where: str) -> Any:
    """``value`` as Warp's: an array of another library becomes one that shares its memory."""
    if isinstance(value, warp.array):
        if not value.device.is_cpu:
            raise LanguageError(f'{where}: the array is on {value.device}. Make it on "cpu".')
        return value
    if is_array(value):
        array = arrays.array(value, where)
        made = warp.array(array, dtype=argument.type.dtype, copy=False, device="cpu")
        if made.ptr != address_of(array):
            raise LanguageError(
                f"{where}: Warp would copy the array of {array.dtype} to make one of "
                f"{argument.type.dtype.__name__}. Pass a contiguous array of the kernel's type."
            )
        return made
    return value


def _share(shared: SharedArrays, name: str, value: Any) -> None:
    """Let the kernel reach an array, or the arrays of a struct."""
    if hasattr(value, "ptr") and hasattr(value, "capacity"):
        if value.ptr:
            shared.add(name, int(value.ptr), int(value.capacity), value)
        if getattr(value, "grad", None) is not None:
            _share(shared, f"{name}.grad", value.grad)
    elif hasattr(value, "_cls") and hasattr(value._cls, "vars"):
        for field in value._cls.vars:
            _share(shared, f"{name}.{field}", getattr(value, field))


def _compiled(warp: Any, kernel: Any, arch: int, threads: int) -> Any:
    """The kernel's PTX, compiled with its whole module, once for each size of a block."""
    module = kernel.module
    key = (module.get_module_hash(threads).hex(), arch, threads)
    known = module.__dict__.setdefault("_of_emulator", {})
    if key not in known:
        options = {**module.options, "lineinfo": True, "line_directives": True}
        options["block_dim"] = threads
        before, module.options = module.options, options
        module.mark_modified()
        try:
            with tempfile.TemporaryDirectory() as folder:
                paths = warp.compile_aot_module(
                    module, arch=arch, module_dir=folder, use_ptx=True, strip_hash=None
                )
                known[key] = Path(paths[-1]).read_text()
        finally:
            module.options = before
            module.mark_modified()
    name = importlib.import_module("warp._src.codegen").cuda_kernel_forward_name(kernel)
    entries = module.__dict__.setdefault("_entries_of_emulator", {})
    if (key, name) not in entries:
        entries[key, name] = entry_of(known[key], name, kernel.func.__code__.co_filename)
    return entries[key, name]
