"""The one road from CUDA C++ to machine code: NVRTC, which needs neither a GPU nor a driver.

The emulator runs the PTX (:func:`compile_ptx`); a GPU loads a cubin (:func:`compile_cubin`) where
CuPy cannot name the target itself, such as ``sm_90a``. Both get the options CuPy adds to its own
kernels, so a kernel means the same thing on both devices.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from time import perf_counter

from .bindings import CODE, LOG, MANGLED, REFUSED
from .compiler_hints import UNDEFINED
from .compiler_process import COMPILER
from .device_functions import FOR_NVCC, WITHOUT_ATTRIBUTE, functions_without_attribute
from .diagnostics import CompileError, parse_log
from .headers import include_paths

COMMON_OPTIONS = ("-std=c++17", "-lineinfo")  # for CuPy as well as for us
DEVICE_IS_DEFAULT = "--device-as-default-execution-space"
# Names that a kernel for nvcc needs no header for, by the header that defines them here.
HOST_CONSTANTS = {
    "math.h": r"INFINITY|NAN|HUGE_VALF?|M_\w+",
    "limits.h": r"U?(?:CHAR|SHRT|INT|LONG|LLONG)_M(?:AX|IN)|SCHAR_M(?:AX|IN)|CHAR_BIT",
}
CUPY_OPTIONS = ("-ftz=true", DEVICE_IS_DEFAULT)  # those CuPy adds by itself


@dataclass(frozen=True)
class Compiled:
    """PTX (str) or a cubin (bytes), the mangled name of each requested name expression, and
    the compiler's log. ``seconds``: how long it took."""

    code: str | bytes
    mangled: dict[str, str]
    log: str = ""
    seconds: float = 0.0

    @property
    def ptx(self) -> str:
        """The PTX. Raises TypeError where a cubin was asked for."""
        if isinstance(self.code, bytes):
            raise TypeError("compiled to a cubin (arch sm_XX), not to PTX (arch compute_XX)")
        return self.code

    @property
    def cubin(self) -> bytes:
        """The cubin. Raises TypeError where PTX was asked for."""
        if isinstance(self.code, str):
            raise TypeError("compiled to PTX (arch compute_XX), not to a cubin (arch sm_XX)")
        return self.code


def compile_ptx(
    source: str, *, filename: str, arch: str = "compute_90a", options: tuple[str, ...] = ()
) -> str:
    """Compile CUDA C++ to PTX text for ``arch`` (``compute_XX``). Raises :class:`CompileError`.

    ``filename`` is the name of the source in errors and line information, such as
    ``kernels/04_first_kernels/threads/vec_add.cu``.
    """
    return compile_source(source, filename=filename, arch=arch, options=options).ptx


def compile_cubin(
    source: str, *, filename: str, arch: str = "sm_90a", options: tuple[str, ...] = ()
) -> bytes:
    """Compile CUDA C++ to a cubin for ``arch`` (``sm_XX``). Raises :class:`CompileError`."""
    return compile_source(source, filename=filename, arch=arch, options=options).cubin


def compile_source(
    source: str,
    *,
    filename: str,
    arch: str,
    options: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
) -> Compiled:
    """Compile ``source``: to PTX for an ``arch`` ``compute_XX``, to a cubin for ``sm_XX``.

    ``names`` are name expressions (``"scale<float, 4>"``) that make the compiler instantiate
    templates. ``Compiled.mangled`` maps each to its symbol.
    """
    return _compile(source, filename, arch, tuple(options), tuple(names))


@cache
def _compile(
    source: str, filename: str, arch: str, options: tuple[str, ...], names: tuple[str, ...]
) -> Compiled:
    flags = [
        f"--gpu-architecture={arch}",
        *each_once(*COMMON_OPTIONS, *CUPY_OPTIONS, *options),
        *(f"--include-path={path}" for path in include_paths()),
    ]
    start = perf_counter()
    request = {
        "text": with_line_directive(source, filename),
        "filename": filename,
        "names": list(names),
        "cubin": arch.startswith("sm_"),
    }
    answer = COMPILER.compile(**request, flags=flags)
    if answer[REFUSED] and (headers := _of_the_host(answer[LOG])):
        answer = COMPILER.compile(**request, flags=[*flags, *headers])
    seconds = perf_counter() - start
    if answer[REFUSED]:
        raise CompileError(answer[LOG], source)
    log = "\n".join(filter(None, [answer[LOG], _for_nvcc(source, filename, flags)]))
    code = answer[CODE]
    if not arch.startswith("sm_"):
        code = code.decode("utf-8", "replace").replace("\0", "")
    return Compiled(code, answer[MANGLED], log, seconds)


def _of_the_host(log: str) -> list[str]:
    """The flags for names that the log calls undefined, and nvcc's own headers define through the
    host's: INFINITY, M_PI, INT_MAX. Never from the start: a source may include them by itself."""
    undefined = set(UNDEFINED.findall(log))
    return [
        f"--pre-include={header}"
        for header, names in HOST_CONSTANTS.items()
        if any(re.fullmatch(names, name) for name in undefined)
    ]


def _for_nvcc(source: str, filename: str, flags: list[str]) -> str:
    """Warnings about functions that nvcc takes for the host's, which no kernel can call there."""
    named = re.match(r'#line 1 "(.*)"\n', source)
    name, text = (named[1], source[named.end() :]) if named else (filename, source)
    if not (suspects := functions_without_attribute(text)):
        return ""
    answer = COMPILER.compile(
        text=with_line_directive(source, filename),
        filename=filename,
        flags=[flag for flag in flags if flag != DEVICE_IS_DEFAULT],
        names=[],
        cubin=False,
    )
    refused = {
        error.line
        for error in parse_log(answer[LOG])
        if error.file == name and error.message.startswith(WITHOUT_ATTRIBUTE)
    }
    return "\n".join(
        f"{name}({line}): {FOR_NVCC}{function} has no __device__. The course compiles it all "
        "the same, nvcc doesn't: put __device__ before it."
        for function, line in suspects.items()
        if line in refused
    )


def each_once(*options: str) -> tuple[str, ...]:
    """``options`` with the last alone of each that the course gives by itself: NVRTC 12.8 refuses
    one that is there twice."""
    ours = {_word(option) for option in (*COMMON_OPTIONS, *CUPY_OPTIONS)}
    words = [_word(option) for option in options]
    return tuple(
        option
        for place, option in enumerate(options)
        if words[place] not in ours or words[place] not in words[place + 1 :]
    )


def _word(option: str) -> str:
    """Which option it is: both ``-std=c++17`` and ``--std=c++20`` are "std"."""
    return option.lstrip("-").partition("=")[0]


def with_line_directive(source: str, filename: str) -> str:
    """``source`` under a name: the compiler then reports ``filename`` and the file's own lines."""
    name = filename.replace("\\", r"\\").replace('"', r"\"")
    return f'#line 1 "{name}"\n{source}'
