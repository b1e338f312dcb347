"""The one road from CUDA C++ to machine code: NVRTC, which needs neither a GPU nor a driver.

The emulator runs the PTX (:func:`compile_ptx`); a GPU loads a cubin (:func:`compile_cubin`) where
CuPy cannot name the target itself, such as ``sm_90a``. Both get the options CuPy adds to its own
kernels, so a kernel means the same thing on both devices.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from .errors import LessonError

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "kernels"

COMMON_OPTIONS = ("-std=c++17", "-lineinfo")  # for CuPy as well as for us
CUPY_OPTIONS = ("-ftz=true", "--device-as-default-execution-space")  # those CuPy adds by itself
MAX_ERRORS_SHOWN = 3
MAX_LINES_PER_ERROR = 9


@dataclass(frozen=True)
class Compiled:
    """PTX (str) or a cubin (bytes), the mangled name of each requested name expression, and what
    the compiler had to say."""

    code: str | bytes
    mangled: dict[str, str]
    log: str = ""


class CompileError(LessonError):
    """The compiler refused the source.

    ``log`` is the compiler's whole answer; ``file``, ``line`` and ``column`` (1-based, 0 when
    unknown) say where the first error is. ``str(error)`` is what a reader needs: the first few
    errors, each with its source line, a caret and, for common mistakes, the remedy.
    """

    def __init__(self, log: str):
        self.log = _shorten_paths(log.strip("\0 \n"))
        diagnostics = parse_log(self.log)
        first = diagnostics[0] if diagnostics else Diagnostic("", 0, 0, self.log, ())
        self.file, self.line, self.column = first.file, first.line, first.column
        super().__init__(_render(diagnostics) if diagnostics else self.log)


@dataclass(frozen=True)
class Diagnostic:
    """One error of the compiler's log; ``excerpt`` holds the source line, the caret and notes."""

    file: str
    line: int
    column: int
    message: str
    excerpt: tuple[str, ...]


def compile_ptx(
    source: str, *, filename: str, arch: str = "compute_90a", options: tuple[str, ...] = ()
) -> str:
    """Compile CUDA C++ to PTX text for ``arch`` (``compute_XX``); raise :class:`CompileError`.

    ``filename`` is what errors and line information call the source, such as
    ``kernels/04_first_kernels/vec_add.cu``.
    """
    return compile_source(source, filename=filename, arch=arch, options=options).code


def compile_cubin(
    source: str, *, filename: str, arch: str = "sm_90a", options: tuple[str, ...] = ()
) -> bytes:
    """Compile CUDA C++ to a cubin for ``arch`` (``sm_XX``); raise :class:`CompileError`."""
    return compile_source(source, filename=filename, arch=arch, options=options).code


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
    templates; ``Compiled.mangled`` maps each to the symbol it became.
    """
    return _compile(source, filename, arch, tuple(options), tuple(names))


@cache
def _compile(
    source: str, filename: str, arch: str, options: tuple[str, ...], names: tuple[str, ...]
) -> Compiled:
    nvrtc = _nvrtc()
    flags = [
        f"--gpu-architecture={arch}",
        *COMMON_OPTIONS,
        *CUPY_OPTIONS,
        *options,
        *(f"--include-path={path}" for path in include_paths()),
    ]
    text = with_line_directive(source, filename).encode()
    program = _ask(nvrtc.nvrtcCreateProgram(text, filename.encode(), 0, [], []))
    try:
        for name in names:
            _ask(nvrtc.nvrtcAddNameExpression(program, name.encode()))
        (status,) = nvrtc.nvrtcCompileProgram(
            program, len(flags), [flag.encode() for flag in flags]
        )
        log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        log = log.decode("utf-8", "replace").strip("\0 \n")
        if int(status):
            raise CompileError(log)
        mangled = {
            name: _ask(nvrtc.nvrtcGetLoweredName(program, name.encode())).decode() for name in names
        }
        if arch.startswith("sm_"):
            cubin = _text(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
            return Compiled(cubin, mangled, log)
        ptx = _text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
        return Compiled(ptx.decode("utf-8", "replace").replace("\0", ""), mangled, log)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def with_line_directive(source: str, filename: str) -> str:
    """``source`` under a name: the compiler then reports ``filename`` and the file's own lines."""
    name = filename.replace("\\", r"\\").replace('"', r"\"")
    return f'#line 1 "{name}"\n{source}'


@cache
def version() -> tuple[int, int]:
    """NVRTC's version, such as ``(12, 9)``."""
    return tuple(_ask(_nvrtc().nvrtcVersion(), many=True))


@cache
def include_paths() -> tuple[str, ...]:
    """Folders searched for ``#include``: ``kernels/``, ``kernels/common``, then CUDA's headers.

    CUDA's headers come from pip wheels of NVRTC's own major version or, where those are missing,
    from an installed toolkit. CuTe's come last, where they are installed.
    """
    return (str(KERNELS), str(KERNELS / "common"), *cuda_header_paths(), *cute_header_paths())


@cache
def cute_header_paths() -> tuple[str, ...]:
    """The folder of ``cute/`` and ``cutlass/`` in the wheel nvidia-cutlass (the extra ``cute``);
    none where it is not installed."""
    spec = find_spec("cutlass_library")
    folder = Path(spec.origin).parent / "source" / "include" if spec and spec.origin else None
    return (str(folder),) if folder and folder.is_dir() else ()


@cache
def cuda_header_paths() -> tuple[str, ...]:
    """Folders of CUDA's headers for NVRTC's major version, from wheels first, then a toolkit."""
    major, _ = version()
    wheels = ("cuda_runtime", "cuda_cccl", "cuda_nvcc") if major == 12 else (f"cu{major}",)
    spec = find_spec("nvidia")
    folders = [Path(p) for p in spec.submodule_search_locations] if spec else []
    candidates = [folder / wheel / "include" for folder in folders for wheel in wheels]
    toolkit = toolkit_path()
    if toolkit and header_version(toolkit / "include")[0] == major:
        candidates.append(toolkit / "include")
    found = [path for path in candidates if path.is_dir()]
    found += [path / "cccl" for path in found if (path / "cccl").is_dir()]
    return tuple(str(path) for path in found)


@cache
def toolkit_path() -> Path | None:
    """The CUDA toolkit that nvcc belongs to (``CUDA_PATH``, ``CUDA_HOME``, PATH, usual place)."""
    nvcc = shutil.which("nvcc")
    places = [os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME")]
    places += [Path(nvcc).resolve().parent.parent if nvcc else None, "/usr/local/cuda"]
    return next((Path(p) for p in places if p and (Path(p) / "include/cuda.h").is_file()), None)


def header_version(folder: Path) -> tuple[int, int]:
    """(major, minor) of the ``cuda.h`` or ``cuda_runtime_api.h`` in ``folder``; (0, 0) if none."""
    for name, macro in (("cuda.h", "CUDA_VERSION"), ("cuda_runtime_api.h", "CUDART_VERSION")):
        header = Path(folder) / name
        if header.is_file():
            found = re.search(rf"#define\s+{macro}\s+(\d+)", header.read_text(errors="replace"))
            if found:
                number = int(found[1])
                return number // 1000, number % 1000 // 10
    return 0, 0


def parse_log(log: str) -> list[Diagnostic]:
    """The errors in an NVRTC log, in order; warnings and remarks are left out."""
    found: list[Diagnostic] = []
    current: tuple[str, int, str] | None = None
    excerpt: list[str] = []

    def close() -> None:
        if current is not None:
            caret = next((row for row in excerpt if row.strip() == "^"), "")
            column = max(len(caret) - 2, 0)  # NVRTC indents the source line by two
            file, line, message = current
            note = _NOTE.match(excerpt[0]) if excerpt and not file else None
            if note:  # "At end of source": the note says where the open brace is
                file, line = note["file"], int(note["line"])
            found.append(Diagnostic(file, line, column, message, tuple(excerpt)))

    for row in log.splitlines():
        head = _HEAD.match(row)
        if head:
            close()
            excerpt = []
            is_error = "error" in head["kind"]
            current = (head["file"] or "", int(head["line"] or 0), head["text"])
            current = current if is_error else None
        elif current is not None and row.strip() and not _TAIL.match(row):
            excerpt.append(row)
    close()
    return found


# A note that follows an error ("note: to match this '{'") belongs to it, so it is no head.
_HEAD = re.compile(
    r"(?:(?P<file>\S.*?)\((?P<line>\d+)\): |At end of source: |nvrtc: )"
    r"(?P<kind>(?:catastrophic |internal )?error|warning)(?: #[\w-]+)?: (?P<text>.*)"
)
_NOTE = re.compile(r"(?P<file>\S.*?)\((?P<line>\d+)\): note")
_TAIL = re.compile(r"Remark: |\d+ (catastrophic )?errors? detected|Compilation terminated")

_REMEDIES = {
    r'source file "(c?stdio(\.h)?|iostream)"': "Remove it: printf needs no #include here.",
    r'source file "c?(math|assert|stdlib|string)(\.h)?"': (
        "Remove it: mathematics functions, assert and memcpy are built into device code."
    ),
    r'source file "c?stdint(\.h)?"': "Host headers do not exist here: use <cuda/std/cstdint>.",
    r'source file "(vector|algorithm|array|utility|type_traits|limits)"': (
        "Host headers do not exist here: use the one under <cuda/std/...> where there is one."
    ),
    r'source file "cuda(_runtime)?\.h"': "Remove it: what a kernel needs from it is built in.",
    r"cannot open source file": "Check the name's spelling; shared headers live in kernels/common.",
    r'expected a ";"': "The semicolon is often missing at the end of the line before.",
    r'expected a "}"': "A closing brace is missing: count the { and } of the kernel.",
    r'expected a "\)"': "A closing parenthesis is missing.",
    r'"u?int(8|16|32|64)_t" is undefined': (
        "Write `unsigned`, `long long`..., or add #include <cuda/std/cstdint>."
    ),
    r'"(__)?half2?" is undefined': "Add #include <cuda_fp16.h>.",
    r'"__nv_bfloat162?" is undefined': "Add #include <cuda_bf16.h>.",
    r'identifier ".+" is undefined': (
        "Declare it before this line, or check its spelling: capitals count in C++."
    ),
    r'namespace "std" has no member': (
        "Device code has no host library: use the plain function (min, max, sqrtf) or cuda::std."
    ),
    r"must have a void return type": "A kernel returns nothing: results go through a pointer.",
    r"not allowed in JIT mode": "Only device code is compiled here: remove the host function.",
    r"excessive recursion": "The template never stops: give it a specialisation that ends it.",
    r"must be a modifiable lvalue": "It cannot be written to: is it declared const?",
    r"too (few|many) arguments in function call": "Compare with the function's parameter list.",
}


def _render(diagnostics: list[Diagnostic]) -> str:
    parts = []
    for item in diagnostics[:MAX_ERRORS_SHOWN]:
        where = f"{item.file}:{item.line}: " if item.file else ""
        rows = [f"{where}error: {item.message}", *item.excerpt[:MAX_LINES_PER_ERROR]]
        hidden = len(item.excerpt) - MAX_LINES_PER_ERROR
        if hidden > 0:
            rows.append(f"  ({hidden} more lines in error.log)")
        matches = (_REMEDIES[p] for p in _REMEDIES if re.search(p, item.message))
        if remedy := next(matches, None):
            rows.append(f"  -> {remedy}")
        parts.append("\n".join(rows))
    rest = len(diagnostics) - MAX_ERRORS_SHOWN
    if rest > 0:
        parts.append(f"and {rest} more. The first error often causes the others: mend it first.")
    return "\n\n".join(parts)


def _shorten_paths(log: str) -> str:
    """``log`` with no absolute path in it: headers are named as they are included."""
    for folder in (*cuda_header_paths(), str(ROOT)):
        log = log.replace(f"{folder}/", "")
    return log


def _nvrtc():
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except Exception as error:
        raise RuntimeError(
            "CUDA's run-time compiler (NVRTC) cannot be loaded, so no kernel can be compiled.\n"
            "Run `make learn` once: it installs what this machine needs. "
            f"`python -m course_utils doctor` says more. ({error})"
        ) from None
    return nvrtc


def _ask(answer: tuple, *, many: bool = False):
    """The value of an NVRTC call that cannot fail on good input; its status is checked."""
    status, *values = answer
    if int(status):
        raise RuntimeError(f"NVRTC refused a call: {status.name}")
    if many:
        return values
    return values[0] if values else None


def _text(size_of, read, program) -> bytes:
    # Never bytes: CPython has one b" " for all, and NVRTC would write into it.
    buffer = bytearray(_ask(size_of(program)))
    _ask(read(program, buffer))
    return bytes(buffer)
