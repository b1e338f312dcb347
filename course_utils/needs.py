"""``%%needs``: the requirements of a cell, as data.

The first line of a cell names them::

    %%needs sm_90 nvcc

Where the machine lacks it the cell prints a line, "Skipped here: needs an sm_90 GPU.", and then
the cell's output on the course's GPU machine (:mod:`.stored_outputs`). That isn't a failure.
Whatever the emulator can run needs nothing. A cell that begins with ``%%c``, ``%%cpp`` or
``%%cuda`` needs a compiler, and does not say so. ``doctor`` reads the same lines to say which
notebooks a machine can run.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from . import remedies, stored_outputs
from .compiling.bindings import nvrtc_version
from .compiling.host_compilers import (
    COMPILERS,
    FROM_A_DISTRIBUTION,
    HOW_TO_GET,
    IN_WORDS,
    host_compiler,
)
from .devices.compute_capability import capability
from .devices.selection import ON_GPU, cp
from .emulator import CannotBuild, find_nvcc
from .errors import LessonError
from .shell import running_shell

MAGIC = "%%needs"
SKIPPED = "Skipped here: "  # the output of a skipped cell begins so
PROGRAMS = {
    "nvcc": "nvcc",
    "binutils": "nm, objdump and ar (binutils)",
    "ninja": "ninja",
    "ncu": "Nsight Compute (ncu)",
    "nsys": "Nsight Systems (nsys)",
    "compute-sanitizer": "compute-sanitizer",
}
COMMANDS = {"binutils": ("nm", "objdump", "ar")}  # where they are not the token itself
INTO = re.compile(r"^%%c(?:pp|uda)?\b.*\binto=(\w+)")
PROGRAM_MAGICS = {"%%c": "c", "%%cpp": "cpp", "%%cuda": "cuda"}  # and the language of each
PACKAGES = {
    "cuda-cccl": "cuda.compute (the package cuda-cccl)",
    "cupy": "CuPy",
    "cutlass": "the CUTLASS package",
    "cutlass-dsl": "CUTLASS's Python DSL",
    "jax": "JAX",
    "keras": "Keras",
    "lightning": "Lightning",
    "mathdx": "the MathDx headers",
    "numba": "Numba for CUDA",
    "nvmath": "nvmath-python",
    "onnx": "ONNX",
    "onnxruntime": "ONNX Runtime",
    "onnxscript": "ONNX Script",
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "transformers": "Transformers",
    "triton": "Triton",
    "warp": "Warp",
}
MODULES = {  # where not the token
    "cuda-cccl": "cuda.compute",
    "cutlass-dsl": "nvidia_cutlass_dsl",
    "mathdx": "nvidia.mathdx",
    "numba": "numba_cuda",
}
LIBRARIES = {"curand": "cuRAND"}  # libraries of CUDA that also run without a GPU
TOOLKIT = "NVIDIA's CUDA toolkit has it: https://developer.nvidia.com/cuda-downloads"
TO_GET = {  # the line for packages that make does not fetch
    **dict.fromkeys(IN_WORDS, HOW_TO_GET),
    **dict.fromkeys(("cc", "c++", "binutils"), f"{FROM_A_DISTRIBUTION}."),
    **dict.fromkeys(("nvcc", "compute-sanitizer"), TOOLKIT),
    "cuda": f"In a terminal, `{remedies.programs_command()}` fetches nvcc (350 MB). g++ comes with "
    "the system. Neither needs a GPU.",
}
WITHOUT_ROW_STACK = (2, 5)  # of NumPy, and numba-cuda up to 0.30 still calls it
LANGUAGES = {  # extras of pyproject.toml, for kernels in Python, and their size
    "triton": "1 GB, for Linux",
    "numba": "230 MB",
    "warp": "390 MB",
}
BY_PIP = {  # other packages of pip, and the words after its command
    "cuda-cccl": "fetches it.",
    "curand": "fetches it.",
    "cutlass-dsl": "fetches it; read its licence first.",
    "mathdx": "fetches it (23 MB), after you've read its licence. No GPU is needed.",
    "nvmath": "fetches it.",
}
FOR_THIS_CUDA = {  # packages of BY_PIP with an extra for each major version of CUDA
    "cuda-cccl": "'cuda-cccl[cu{}]'",
    "nvmath": "'nvmath-python[cu{}]'",
}
ON_EMULATOR = {*LANGUAGES, "mathdx"}  # all that a cell needs to give the same without a GPU
NO_BLANKS = "PyTorch in a folder without blanks in its path, for torch.compile"  # not to be fetched
ECOSYSTEM = ("jax", "keras", "onnx", "onnxruntime", "onnxscript")  # pyproject.toml's extra


def gpu_count() -> int:
    """GPUs that the course uses: 0 on the emulator."""
    return cp.cuda.runtime.getDeviceCount() if ON_GPU else 0


@cache
def lacking(token: str) -> str | None:
    """The requirement ``token`` in words ("an sm_90 GPU"), None if this machine has it.

    Tokens: ``gpu``, ``gpus=2``, ``sm_90`` (that or later), ``sm_90a`` (that one only), ``cc`` (a C
    compiler with its own command), ``c++`` (such a C++ compiler, for ``torch.compile``),
    ``c`` and ``cpp`` (any that ``%%c`` can use), ``cuda`` (nvcc and g++), a
    program (``nvcc``, ``ncu``...), one of CUDA's libraries (``curand``)
    or a Python package (``torch``, ``triton``...).
    Raises LessonError for any other.
    """
    if token == "gpu":
        return None if gpu_count() else "a GPU"
    if found := re.fullmatch(r"gpus=(\d+)", token):
        return None if gpu_count() >= int(found[1]) else f"{found[1]} GPUs"
    if found := re.fullmatch(r"sm_(\d+)(a?)", token):
        wanted, have = int(found[1]), capability()
        return None if have == wanted or (have > wanted and not found[2]) else f"an {token} GPU"
    if token == "cc":
        return None if any(map(shutil.which, COMPILERS["c"])) else "a C compiler"
    if token == "c++":
        return _lacking_for_torch_compile()
    if token == "cuda":
        return None if _compiles_programs() else "nvcc and g++"
    if token in IN_WORDS:
        return None if host_compiler(token) else IN_WORDS[token]
    if token in PROGRAMS:
        commands = COMMANDS.get(token, (token,))
        return None if all(map(shutil.which, commands)) else PROGRAMS[token]
    if token in LIBRARIES:
        return None if _has_library(token) else LIBRARIES[token]
    if token == "numba" and find_spec(MODULES[token]) and _numpy() >= WITHOUT_ROW_STACK:
        return f"a Numba that works with NumPy {version('numpy')}"
    if token in PACKAGES:
        return None if _is_installed(MODULES.get(token, token)) else PACKAGES[token]
    raise LessonError(
        f"{MAGIC} {token}: unknown requirement. There are gpu, gpus=2, sm_90, sm_90a, cc, c++, c, "
        f"cpp, cuda, a program ({', '.join(PROGRAMS)}), a library ({', '.join(LIBRARIES)}) or a "
        f"package ({', '.join(PACKAGES)})."
    )


def _is_installed(module: str) -> bool:
    """Whether Python finds the module, or none of the packages that hold it."""
    with suppress(ModuleNotFoundError):
        return bool(find_spec(module))
    return False


def _numpy() -> tuple[int, ...]:
    return tuple(map(int, version("numpy").split(".")[:2]))


def _compiles_programs() -> bool:
    """Whether whole CUDA programs can be built, for a GPU or for the emulator."""
    try:
        find_nvcc()
    except CannotBuild:
        return False
    return shutil.which("g++") is not None


def _has_library(name: str) -> bool:
    """Whether one of CUDA's libraries can be loaded, from a wheel or a toolkit."""
    try:
        pathfinder = import_module("cuda.pathfinder")
        return bool(pathfinder.load_nvidia_dynamic_lib(name))
    except (ImportError, RuntimeError):  # pathfinder's own errors are of the second
        return False


def _lacking_for_torch_compile() -> str | None:
    """The part that ``torch.compile`` lacks for its C++ programs: a compiler, or a path to pass on.

    If PyTorch is in a folder with a blank in its name, its calls of the compiler break there.
    """
    if not any(map(shutil.which, COMPILERS["cpp"])):
        return "a C++ compiler"
    torch = find_spec("torch")
    if torch and any(character.isspace() for character in str(torch.origin)):
        return NO_BLANKS
    return None


def missing(tokens: Iterable[str]) -> list[str]:
    """The requirements among ``tokens`` that this machine lacks, in words, each once."""
    return list(dict.fromkeys(words for token in tokens if (words := lacking(token))))


def skip_line(words: list[str]) -> str:
    """The line with which a skipped cell begins."""
    return f"{SKIPPED}needs {listed(words)}."


def listed(words: list[str]) -> str:
    """ "nvcc", "nvcc and Triton" or "a GPU, nvcc and Triton"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def how_to_get(tokens: Iterable[str]) -> str:
    """The line that says how to get all that is missing, or "" where something cannot be got."""
    wanting = {token for token in tokens if lacking(token)}
    commands = [remedies.torch_command()] * ("torch" in wanting and not gpu_count())
    commands += [remedies.ecosystem_command()] * any(token in wanting for token in ECOSYSTEM)
    known = {t for t in wanting & (TO_GET.keys() | BY_PIP.keys()) if lacking(t) != NO_BLANKS}
    languages = [token for token in LANGUAGES if token in wanting]
    if wanting - known - {"torch", *ECOSYSTEM, *languages}:
        return ""
    listed = " and ".join(f"`{command}`" for command in commands)
    verb = "fetch" if len(commands) > 1 else "fetches"
    lines = [f"In a terminal, {listed} {verb} it."] * bool(commands)
    if languages:
        lines.append(_to_get_languages(languages))
    return " ".join([*lines, *sorted({TO_GET.get(t) or _by_pip(t) for t in known})])


def _to_get_languages(tokens: list[str]) -> str:
    """The line for compilers of kernels in Python, which the emulator needs no GPU for."""
    fetched = [f"{PACKAGES[token]} ({LANGUAGES[token]})" for token in tokens]
    command = remedies.pip_command("-e", f"'.[{','.join(tokens)}]'")
    return f"In a terminal, `{command}` fetches {listed(fetched)}. No GPU is needed."


def _by_pip(token: str) -> str:
    """The line for a package that no command of the course fetches."""
    package = FOR_THIS_CUDA.get(token, f"nvidia-{token}")
    with suppress(RuntimeError):
        major = nvrtc_version()[0]
        package = package.format(major)
        if token in LIBRARIES:
            package = remedies.cuda_wheel(token, major)
    return f"In a terminal, `{remedies.pip_command(package)}` {BY_PIP[token]}"


# --- in a notebook ---

_unmade: dict[str, str] = {}  # name that a skipped program would have made: its needs


def transform(lines: list[str]) -> list[str]:
    """IPython's input transformer, for a cell that begins with ``%%needs``.

    A cell whose needs are met runs as if the line were not there, so errors, line numbers, rich
    output and a cell magic on the next line all stay as they are.
    """
    tokens = tokens_of(lines)
    if tokens is None:
        line = _without_its_text("".join(lines))
        return [f"print({line!r})\n"] if line else lines
    try:
        met = tokens and not missing(tokens)
    except LessonError:
        met = False
    if not met:
        key = stored_outputs.key("".join(lines))
        makes = "".join(INTO.findall(lines[0])[:1])
        call = f"announce({tokens!r}, {key!r}, {makes!r})"
        return [f"__import__('course_utils.needs').needs.{call}\n"]
    if lines[0].split()[:1] != [MAGIC]:
        return lines
    body = lines[1:]
    return body if body and body[0].startswith("%%") else ["\n", *body]


def tokens_of(lines: list[str]) -> list[str] | None:
    """The tokens of a cell of these lines, None if no line asks for any."""
    words = [line.split() or [""] for line in lines[:2]]
    said = bool(words) and words[0][0] == MAGIC
    magic = words[-1][0] if said else words[0][0] if words else ""
    implied = [PROGRAM_MAGICS[magic]] if magic in PROGRAM_MAGICS else []
    if said:
        return [*words[0][1:], *implied]
    return implied or None


def may_be_skipped(source: str) -> bool:
    """Whether some machines skip a cell."""
    return tokens_of(source.splitlines()) is not None


def needs_languages(source: str) -> bool:
    """Whether a cell needs nothing but compilers of kernels in Python and headers of MathDx, so
    that it gives the same with and without a GPU."""
    tokens = set(tokens_of(source.splitlines()) or ())
    return bool(tokens) and tokens <= ON_EMULATOR


def _without_its_text(source: str) -> str:
    """The line for a cell that reads the output of a skipped program, ``into=`` a name. "" for
    every other cell."""
    shell = running_shell()
    for name, lacked in _unmade.items():
        if re.search(rf"\b{name}\b", source) and shell and name not in shell.user_ns:
            return f"{SKIPPED}`{name}` comes from a program above, which needs {lacked}."
    return ""


def announce(tokens: list[str], key: str, makes: str = "") -> None:
    """Name the missing requirements of a skipped cell, and show its output on the course's GPU
    machine.

    ``key`` is the cell's, and ``makes`` the name that its output would have gone ``into=``.
    Raises LessonError where ``%%needs`` itself is wrong.
    """
    if not tokens:
        raise LessonError(f"{MAGIC} needs to be told what: {MAGIC} gpu")
    lacked = missing(tokens)
    print(skip_line(lacked))
    if makes:
        _unmade[makes] = " and ".join(lacked)
    if remedy := how_to_get(tokens):
        print(remedy)
    stored = stored_outputs.find(key)
    if stored:
        print(origin(tokens, stored))
        stored.show()


def origin(tokens: list[str], stored: stored_outputs.StoredOutputs) -> str:
    """The line before stored outputs: which machine they come from."""
    on_emulator = stored.device == stored_outputs.EMULATOR
    if set(tokens) <= (PACKAGES.keys() if on_emulator else ON_EMULATOR):
        machine = f"a machine with {listed([PACKAGES[token] for token in tokens])}"
    elif on_emulator:
        machine = "the emulator"
    elif any(re.match(r"gpu|sm_", token) for token in tokens):
        machine = f"an {stored.device}"
    else:
        machine = f"a machine with an {stored.device}"
    printed = stored.outputs[0].keys() == {stored_outputs.TEXT}
    return f"On {machine} it {'printed' if printed else 'showed'}:"


def register(shell: Any) -> None:
    """Teach the IPython ``shell`` the ``%%needs`` line."""
    if transform not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(transform)
