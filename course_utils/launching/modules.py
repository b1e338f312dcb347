"""``load``: a ``.cu`` file as a module of kernels, compiled for this machine's device."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..compiling import signature as _signature
from ..compiling.device_functions import why_no_kernel
from ..compiling.diagnostics import CompileError
from ..compiling.headers import DEVICE, STANDARD, cuda_header_paths, cute_header_paths
from ..compiling.includes import digest, included_files
from ..compiling.nvcc_options import without_nvcc_options
from ..compiling.nvrtc import (
    COMMON_OPTIONS,
    Compiled,
    compile_source,
    each_once,
    with_line_directive,
)
from ..compiling.ptx_entries import entry_names, own_name_of_symbol
from ..compiling.signature import Signature
from ..compiling.source_text import read_source, source_name, without_marks
from ..devices import emulated_cupy
from ..devices.compute_capability import capability, pretended
from ..devices.emulated_kernels import CODE_NAME
from ..devices.limits import LaunchError
from ..devices.selection import CUDA, EMULATOR, ON_GPU
from ..devices.selection import device as current_device
from ..errors import LessonError
from ..interrupts import interruptible
from ..paths import KERNELS
from . import older_gpus
from .cubins import CUBIN_TARGETS, CubinModule
from .kernel_files import find_kernel_file
from .kernels import Kernel, namespace

DEBUG = "-G"  # NVRTC's option


def load(
    path: str | os.PathLike[str] | None = None,
    *,
    source: str | None = None,
    filename: str = "kernel.cu",
    defines: Mapping[str, Any] | None = None,
    names: Iterable[str] = (),
    arch: str | None = None,
    options: Iterable[str] = (),
    cooperative: bool = False,
    device: str | None = None,
) -> Module:
    """Compile a kernel file, or ``source``, for this machine's device.

    ``path`` is relative to ``kernels/``, such as ``"04_first_kernels/threads/vec_add.cu"``. A
    ``source`` given as text is called ``filename`` in errors. ``defines`` become ``-D`` macros.
    ``names`` are name expressions of template instances (``"scale<float, 4>"``). ``arch`` asks for
    a target that CuPy cannot name (``"sm_90a"``, ``"sm_100a"``). ``options`` go to NVRTC as they
    are, and nvcc's ``--extended-lambda`` and ``--expt-relaxed-constexpr`` are understood as well.
    ``cooperative`` launches its kernels cooperatively, which a barrier of the whole grid needs.
    ``device`` is ``"emulator"`` or ``"cuda"`` for another one than the machine's own. Where none is
    named, and the GPU is too old for the kernel, it runs on the emulator, and a line says so.

    Raises :class:`~course_utils.compiling.diagnostics.CompileError` with the student's line and a
    caret, and :class:`~course_utils.errors.LessonError` for a file that does not exist or is not
    UTF-8.
    """
    _check_recipe(path, source, defines, names, options, device)
    folder = KERNELS
    if path is not None and source is None:
        file = find_kernel_file(path)
        source, folder, filename = read_source(file), file.parent, source_name(file)
    elif path is not None or source is None:
        raise LessonError(
            'load takes a path, load("04_first_kernels/threads/vec_add.cu"), or source="...".'
        )
    source = without_marks(source)
    recipe: dict[str, Any] = {
        "filename": filename,
        "folder": folder,
        "defines": dict(defines or {}),
        "names": tuple(names),
        "arch": arch,
        "options": tuple(options),
        "cooperative": bool(cooperative),
    }
    with interruptible(f"{filename} was not compiled."):
        if device is None and ON_GPU:
            return _on_gpu_if_it_can(source, recipe)
        return Module(source, device=device or current_device(), **recipe)


def _on_gpu_if_it_can(source: str, recipe: dict[str, Any]) -> Module:
    """The module on the GPU, or on the emulator where it needs a later GPU, with a line that says
    so. Raises CompileError where it compiles for none."""
    beyond = recipe["arch"] if older_gpus.is_beyond(recipe["arch"]) else None
    problem = None
    if not beyond:
        try:
            module = Module(source, device=CUDA, **recipe)
            if not pretended() or older_gpus.compiles(module, f"sm_{capability()}"):
                return module
        except CompileError as error:
            problem = error
    try:
        module = Module(source, device=EMULATOR, **recipe)
        beyond = beyond or older_gpus.needed(module)
    except CompileError as error:
        raise problem or error from None
    if beyond is None:
        assert problem is not None
        raise problem
    for kernel in module:
        kernel.stands_in = True
    print(older_gpus.announcement(module.filename, f"an {beyond} GPU"))
    return module


def _check_recipe(
    path: Any, source: Any, defines: Any, names: Any, options: Any, device: Any
) -> None:
    """Raise LessonError for an argument that ``load`` cannot take, with an example of one."""
    sequence = "a list of texts, such as"
    for name, value, kind, example in (
        ("path", path, (str, os.PathLike), 'a path, such as "04_first_kernels/threads/vec_add.cu"'),
        ("source", source, str, "a text of CUDA C++"),
        ("defines", defines, Mapping, 'a dictionary, such as {"TILE": 32}'),
        ("device", device, str, '"emulator" or "cuda"'),
    ):
        if value is not None and not isinstance(value, kind):
            raise LessonError(f"load: {name} is {example}; got {value!r:.80}.")
    for name, value, example in (
        ("names", names, '["scale<float, 4>"]'),
        ("options", options, '["--use_fast_math"]'),
    ):
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise LessonError(f"load: {name} is {sequence} {example}; got {value!r:.80}.")
    if device not in (None, EMULATOR, CUDA):
        raise LessonError(f'load: device is "emulator" or "cuda"; got {device!r:.80}.')


class Module:
    """Compiled CUDA C++. Its kernels are attributes. With one kernel, call the module itself."""

    def __init__(
        self,
        source: str,
        *,
        filename: str,
        folder: Path = KERNELS,
        defines: dict[str, Any],
        names: tuple[str, ...] = (),
        arch: str | None = None,
        options: tuple[str, ...] = (),
        cooperative: bool = False,
        device: str,
    ):
        self.source, self.filename, self.device = source, filename, device
        self.cooperative = cooperative
        self._recipe: dict[str, Any] = {
            "filename": filename,
            "folder": folder,
            "defines": defines,
            "names": names,
            "arch": arch,
            "options": options,
            "cooperative": cooperative,
        }
        headers = included_files(source, folder)
        signatures = _signatures(source, headers, defines)
        templates = [name for name in signatures if signatures[name].template]
        plain = [name for name in signatures if name not in templates]
        options = (
            *(f"-D{key}={_macro(value)}" for key, value in defines.items()),
            f"-I{KERNELS}",
            f"-I{KERNELS / 'common'}",
            f"-I{folder}",
            f"-I{DEVICE}",
            *(f"-I{path}" for path in cute_header_paths()),
            # Before a toolkit's folders: its <cccl/cuda/std/tuple> does not fit the rest of CCCL,
            # which comes from CuPy's own copy.
            f"-I{STANDARD}",
            *(f"-I{path}" for path in (cuda_header_paths() if _beyond_cupy(source) else ())),
            # Compiler caches look at the source and the options only, not at included files.
            f"-DCOURSE_HEADERS=0x{digest(headers)}",
            *options,
        )
        code, options = without_nvcc_options(source, options)
        self._code = code = with_line_directive(code, filename)
        raw, found, names = _compile_kernels(code, options, plain, names, arch, device, cooperative)
        self._flags = options, names
        prints = any("printf" in text for text in (source, *headers.values()))
        self._kernels = {
            name: Kernel(self, name, raw, signatures.get(_own_name(name)), prints) for name in found
        }
        self._raw, self._prints = raw, prints
        self._templates = templates

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("_"):
            raise AttributeError(name)
        matches = [k for key, k in self._kernels.items() if _own_name(key) == name]
        if not matches:
            matches = [k for key, k in self._kernels.items() if own_name_of_symbol(key) == name]
        if len(matches) == 1:
            return matches[0]
        if matches:
            known = ", ".join(repr(kernel.name) for kernel in matches)
            raise AttributeError(f"{name} has several instances: write module[...] with {known}")
        if (own := _own_name(name)) in self._templates:
            instance = name if "<" in name else f"{name}<float>"
            raise AttributeError(
                f'{own} is a template: name an instance, load(..., names=["{instance}"])'
            )
        raise AttributeError(
            f"{self.filename} has no kernel {name!r}; it has {', '.join(self._kernels) or 'none'}"
        )

    def __getitem__(self, name: str) -> Kernel:
        """The kernel called ``name``, or a template's instance by its name expression."""
        if name in self._kernels:
            return self._kernels[name]
        instance: Kernel = getattr(self, name)
        return instance

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self._kernels.values())

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._kernels]

    def __repr__(self) -> str:
        return f"<{self.filename}: {', '.join(self._kernels)} on {self.device}>"

    @property
    def warnings(self) -> str:
        """The compiler's warnings of a source that it accepted, "" on a GPU."""
        return getattr(self._raw, "log", "")

    def declare(self, signature: Signature) -> None:
        """Take a kernel's parameters from ``signature``, whatever its source looks like: a name
        that a macro makes, or an older version under ``#if 0``, is not read right."""
        name = signature.name
        self._kernels[name] = Kernel(self, name, self._raw, signature, self._prints)

    @property
    def kernel(self) -> Kernel:
        """The module's one kernel. Raises LaunchError if it has none, or several."""
        if not self._kernels:
            raise LaunchError(f"{self.filename} has no kernel. {why_no_kernel(self.source)}")
        if len(self._kernels) != 1:
            found = ", ".join(self._kernels)
            raise LaunchError(
                f"{self.filename} does not have exactly one kernel (it has {found}): "
                f"call the one you mean, module.NAME(grid, block, args)."
            )
        return next(iter(self._kernels.values()))

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0) -> None:
        """Launch the module's one kernel, as :class:`Kernel` says."""
        self.kernel(grid, block, args, shared_mem=shared_mem)

    def variable(self, name: str, shape: Any, dtype: Any) -> Any:
        """A ``__device__`` or ``__constant__`` variable as an array that shares its memory."""
        return namespace(self.device).ndarray(shape, dtype, self._raw.get_global(name))

    def compiled(self, arch: str, *options: str) -> Compiled:
        """The module as NVRTC compiles it for another ``arch``, such as the cubin of "sm_90a",
        with further ``options``, without loading it."""
        own, names = self._flags
        asked = (*COMMON_OPTIONS, *own, *options)  # as for the emulator: compiled once for both
        return compile_source(self._code, filename=CODE_NAME, arch=arch, options=asked, names=names)

    def edited(self, changes: Mapping[str, str]) -> Module:
        """The same module with pieces of its source exchanged: ``changes`` maps old text to new.

        Raises :class:`~course_utils.errors.LessonError` where the source doesn't hold the old text.
        """
        text = self.source
        for old, new in changes.items():
            if old not in text:
                raise LessonError(f"{self.filename} does not hold {old!r}, to become {new!r}.")
            text = text.replace(old, new)
        return Module(text, device=self.device, **self._recipe)

    @cached_property
    def emulated(self) -> Module:
        """The same module on the emulator, whatever the machine. It may be this one."""
        if self.device == EMULATOR:
            return self
        return Module(self.source, device=EMULATOR, **self._recipe)

    @cached_property
    def unoptimised(self) -> Module:
        """The same module on the emulator, compiled with ``-G``: the optimiser removes nothing."""
        options = (*self._recipe["options"], DEBUG)
        return Module(self.source, device=EMULATOR, **{**self._recipe, "options": options})


def _beyond_cupy(source: str) -> bool:
    """Whether ``source`` includes headers that CuPy does not find, or not whole: mma.h, which
    CUTLASS includes, is there, but not always the crt/mma.h that it includes."""
    return any(header in source for header in ("<mma.h>", "<cutlass/", "<curand_kernel.h>"))


def _own_name(name: str) -> str:
    """A kernel's name without the arguments of a template and without namespaces."""
    return name.partition("<")[0].rpartition("::")[2]


def _text_tells(code: str, plain: list[str], names: tuple[str, ...]) -> bool:
    """Whether the kernels of ``code`` are those that were read in it: ``plain``, and ``names``."""
    linked = code.count('extern "C"')
    kernels = len(re.findall(r'extern "C"\s+__global__', code))
    by_macro = re.search(r"^[ \t]*#[ \t]*define(?:\\\n|[^\n])*__global__", code, re.M)
    read = bool(plain or names) and not by_macro and "namespace" not in code
    return read and linked == kernels and linked in (0, len(plain))


def _compile_kernels(
    code: str,
    options: tuple[str, ...],
    plain: list[str],
    names: tuple[str, ...],
    arch: str | None,
    device: str,
    cooperative: bool,
) -> tuple[Any, list[str], tuple[str, ...]]:
    """(module, names of its kernels, name expressions): those read in the source, ``plain``,
    corrected by the compiler's.

    A kernel that is not extern "C" has a mangled name. Every entry of the PTX is a kernel,
    whatever the text looks like: under ``#if``, in a namespace, made by a macro, one of several of
    the same name. On a GPU the compiler is asked only where the text leaves it open.
    """
    expressions = names if 'extern "C"' in code else (*plain, *names)
    if device != EMULATOR and _text_tells(code, plain, names):
        with suppress(CompileError):  # of the source, as the next one is, or of the names read
            raw = _compile(code, options, expressions, arch, device, cooperative)
            return raw, list(dict.fromkeys((*plain, *names))), expressions
    target = (arch or "compute_90a").replace("sm_", "compute_")
    asked = (*COMMON_OPTIONS, *options)
    compiled = compile_source(code, filename=CODE_NAME, arch=target, options=asked, names=names)
    symbols = entry_names(compiled.ptx, compiled.mangled.values())
    missing = [name for name in plain if name not in map(_own_name, symbols)]
    if missing:  # kernels that only a name expression asks for: static ones
        with suppress(CompileError):
            more = (*names, *missing)
            compile_source(code, filename=CODE_NAME, arch=target, options=asked, names=more)
            names = more
    raw = _compile(code, options, names, arch, device, cooperative)
    if device == EMULATOR:
        raw.add_names(symbols)
    else:
        raw = NamedModule(raw, symbols)
    order = {name: number for number, name in enumerate(plain)}
    found = sorted(symbols, key=lambda name: order.get(_own_name(name), len(order)))
    return raw, list(dict.fromkeys((*found, *names))), names


class NamedModule:
    """A module of CuPy's whose kernels are also known by names of ours."""

    def __init__(self, raw: Any, symbols: Mapping[str, str]):
        self._raw, self._symbols = raw, symbols

    def get_function(self, name: str) -> Any:
        """CuPy's function of the kernel with this name of ours or the symbol's."""
        return self._raw.get_function(self._symbols.get(name, name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


def _signatures(
    source: str, headers: Mapping[Path, str], defines: Mapping[str, Any]
) -> dict[str, Signature]:
    aliases = {key: str(value) for key, value in defines.items()}
    found: dict[str, Signature] = {}
    for text in (*headers.values(), source):
        found |= _signature.kernels(text, aliases)
    return found


def _macro(value: Any) -> str:
    return str(int(value)) if isinstance(value, (bool, np.bool_)) else str(value)


def _compile(
    code: str,
    options: tuple[str, ...],
    names: tuple[str, ...],
    arch: str | None,
    device: str,
    cooperative: bool,
) -> Any:
    options = each_once(*COMMON_OPTIONS, *options)
    if device == EMULATOR:
        target = (f"-arch={arch}",) if arch else ()
        return emulated_cupy.RawModule(
            code=code,
            options=(*options, *target),
            name_expressions=names,
            enable_cooperative_groups=cooperative,
        )
    if not ON_GPU:
        raise LessonError("This kernel was asked to run on a GPU, and this machine has none.")
    if arch in CUBIN_TARGETS and cooperative:
        raise LessonError(f"load: a kernel for {arch} is not launched cooperatively on a GPU.")
    if arch in CUBIN_TARGETS:
        return CubinModule(code, options, names, arch)
    import cupy

    try:
        module = cupy.RawModule(
            code=code,
            options=options,
            name_expressions=names or None,
            enable_cooperative_groups=cooperative,
        )
        module.compile()
    except cupy.cuda.compiler.CompileException as error:
        raise CompileError(str(error), code) from None
    return module
