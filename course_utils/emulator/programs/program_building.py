"""Builds a program: nvcc compiles it with its host code, and cc compiles our runtime library."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

STAND_IN = Path(__file__).parent / "stand_in"  # the folder of its sources
ARCH = "90a"
INSTALL = (
    "pip install nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime "
    "nvidia-cuda-cccl nvidia-cuda-profiler-api"
)
WRAPPED = (
    "malloc",
    "calloc",
    "realloc",
    "aligned_alloc",
    "posix_memalign",
    "free",
    "_Znwm",
    "_Znam",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
)
# Of the linker: calls that our runtime notes, and functions that are looked up when called.
LINKING = (*(f"--wrap={symbol}" for symbol in WRAPPED), "-z", "lazy")
# addr2line of binutils 2.40 finds no lines of methods and templates in the newer format.
DEBUG_LINES = "-gdwarf-4"
# Options of nvcc that we set ourselves. The second set takes a value.
_OURS = {"-c", "--compile", "-G", "--device-debug", "-shared", "-run", "--run"}
_OURS_WITH_VALUE = {
    "-o",
    "--output-file",
    "-arch",
    "--gpu-architecture",
    "-code",
    "--gpu-code",
    "-gencode",
    "--generate-code",
    "-cudart",
    "--cudart",
}
# The headers of CUDA's other libraries, by their wheel.
_WHEELS = {
    "curand": "nvidia-curand",
    "cublas": "nvidia-cublas",
    "cufft": "nvidia-cufft",
    "cusparse": "nvidia-cusparse",
    "cusolver": "nvidia-cusolver",
    "nvrtc": "nvidia-cuda-nvrtc",
    "nvtx3": "nvidia-nvtx",
}
_THERE = (
    "curand",
    "cublas",
    "cufft",
    "cusparse",
    "nvrtc",
    "nvtx3",
)  # libraries that programs may call
_NO_HEADER = re.compile(r"(?:fatal error: |open source file \")([\w/]+)\.h(?:pp)?\b")
# Functions that CUDA 13 has no more, and what they did under another name.
_RENAMED = {
    "cudaThreadSynchronize": "cudaDeviceSynchronize",
    "cudaThreadExit": "cudaDeviceReset",
    "cudaThreadGetLimit": "cudaDeviceGetLimit",
    "cudaThreadSetLimit": "cudaDeviceSetLimit",
    "cudaThreadGetCacheConfig": "cudaDeviceGetCacheConfig",
    "cudaThreadSetCacheConfig": "cudaDeviceSetCacheConfig",
}
_UNDEFINED = re.compile(r"identifier \"(\w+)\" is undefined")
_DECLARED = "void emulator_missing(const char *);\nvoid emulator_part(void (*)(void **), void *);\n"
_LIBRARIES = ("cu", "nv")  # of CUDA: our runtime library replaces them
_PREFIXES = ("cu", "__cuda", "nvrtc", "nvml", "nccl", "npp", "nvjpeg")


class CannotBuild(RuntimeError):
    """A program can't be built. The message says why, and ``log`` is the compiler's."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


@dataclass(frozen=True)
class Nvcc:
    """A compiler: its program, and the folders of its headers."""

    path: Path
    includes: tuple[Path, ...]


@dataclass(frozen=True)
class Built:
    """A program that is ready to run. ``foreign``: folders of headers that aren't its own.
    ``warnings`` are the compiler's."""

    library: Path
    stand_in: Path
    missing: Path | None
    foreign: tuple[str, ...] = field(default=())
    warnings: str = ""


def find_nvcc(environment: dict[str, str] | None = None) -> Nvcc:
    """nvcc from ``NVCC``, the wheels or a toolkit. Raises CannotBuild if there is none."""
    variables = dict(os.environ) if environment is None else environment
    wheels = [
        Path(folder) / "nvidia" / name / "bin/nvcc"
        for folder in sys.path
        for name in ("cu14", "cu13", "cuda_nvcc")
    ]
    chosen = [Path(variables["NVCC"])] if variables.get("NVCC") else []
    homes = [variables.get("CUDA_HOME"), variables.get("CUDA_PATH"), "/usr/local/cuda"]
    on_path = shutil.which("nvcc", path=variables.get("PATH"))
    toolkits = [Path(on_path)] if on_path else []
    toolkits += [Path(home) / "bin/nvcc" for home in homes if home]
    for path in filter(Path.is_file, (*chosen, *wheels, *toolkits)):
        if includes := _includes(path):
            return Nvcc(path, includes)
    raise CannotBuild(
        f"Whole programs need nvcc, and there is none. Install it with\n  {INSTALL}\nThat takes "
        "350 MB, and needs no GPU or driver. In the course: pip install -e '.[programs]'"
    )


def _includes(nvcc: Path) -> tuple[Path, ...]:
    """The folders of CUDA's headers beside an nvcc. If nvcc is a script, a dry run shows them."""
    root = nvcc.resolve().parent.parent
    if not (root / "include/cuda_runtime_api.h").is_file():
        told = subprocess.run(
            [nvcc, "--dryrun", "-x", "cu", "-c", "-o", os.devnull, os.devnull],
            capture_output=True,
            text=True,
            check=False,
        )
        tops = (line.partition("TOP=")[2] for line in told.stderr.splitlines() if "TOP=" in line)
        root = Path(next(tops, str(root))).resolve()
    folders = [root / "include", *root.glob("targets/*/include")]
    found = [folder for folder in folders if (folder / "cuda_runtime_api.h").is_file()]
    return tuple(dict.fromkeys(folder.resolve() for folder in found))


def library_folders() -> tuple[Path, ...]:
    """The folders of wheels with headers of CUDA's other libraries, which any nvcc can include."""
    names = ("cu14", "cu13", "cublas", "cufft", "curand", "cusparse", "cuda_nvrtc", "nvtx")
    folders = (Path(place) / "nvidia" / name / "include" for place in sys.path for name in names)
    return tuple(dict.fromkeys(folder.resolve() for folder in folders if folder.is_dir()))


def host_compiler() -> str:
    """The C compiler of this machine. Raises CannotBuild for none."""
    found = next(filter(None, map(shutil.which, ("gcc", "cc", "clang"))), None)
    if found is None:
        raise CannotBuild("Whole programs need a C++ compiler for their host code: install g++.")
    return found


def build_stand_in(includes: Sequence[Path], folder: Path) -> Path:
    """Compile our runtime library with the headers of a CUDA toolkit, and return its path."""
    made = folder / "libstand_in.so"
    folders = [f"-I{path}" for path in includes]
    command = [host_compiler(), "-w", "-O0", "-shared", "-fPIC", *folders, "-o", str(made)]
    sources = map(str, sorted(STAND_IN.glob("*.c")))
    _run([*command, *sources, "-ldl", "-lpthread"], "The emulator's runtime library")
    return made


def nvcc_options(options: Sequence[str]) -> list[str]:
    """The options that a program is compiled with: all but those that are chosen here."""
    kept: list[str] = []
    words = iter(options)
    for word in words:
        name, equals, _ = word.partition("=")
        if word in ("-dc", "--device-c"):
            word = "-rdc=true"  # which it implies
        if word in _OURS:
            continue
        if name in _OURS_WITH_VALUE:
            if not equals:
                next(words, None)
            continue
        if word.startswith("-l") and word[2:].startswith(_LIBRARIES):
            continue
        kept.append(word)
    return kept


def build_program(
    sources: Sequence[str],
    options: Sequence[str],
    folder: Path,
    arch: str = ARCH,
    beside: Path | None = None,
) -> Built:
    """Compile a program as it is, into ``folder``. ``options``: of nvcc, which runs in the folder
    ``beside``. Raises CannotBuild with its log."""
    nvcc = find_nvcc()
    library = folder / "program.so"
    command = [str(nvcc.path), "-shared", "-Xcompiler", "-fPIC", "-cudart", "none", "--no-compress"]
    command += ["-gencode", f"arch=compute_{arch},code=compute_{arch}", "-g", "-lineinfo"]
    command += ["-Xcompiler", DEBUG_LINES]
    for option in LINKING:
        command += ["-Xlinker", option]
    libraries = [folder for folder in library_folders() if folder not in nvcc.includes]
    for folder_after in libraries:  # after nvcc's own, whose version may be another
        command += ["-Xcompiler", f"-idirafter{folder_after}"]
    command += [*nvcc_options(options), "-o", str(library), *sources]
    try:
        warnings = _run(command, " ".join(Path(name).name for name in sources), beside)
    except CannotBuild as error:
        hints = f"{_wheel_for(error.log)}{_new_names_for(error.log)}"
        raise CannotBuild(f"{error}{hints}", error.log) from None
    stand_in = build_stand_in(nvcc.includes, folder)
    foreign = tuple(map(str, (*nvcc.includes, *libraries, "/usr/include", "/usr/lib")))
    missing = build_missing(library, stand_in, folder)
    return Built(library, stand_in, missing, foreign, warnings)


def _wheel_for(log: str) -> str:
    """A sentence about the wheel of a header that the compiler doesn't find, or ""."""
    for name in (found[1] for found in _NO_HEADER.finditer(log)):
        library = next((key for key in _WHEELS if name.startswith(key)), "")
        if library in _THERE:
            return f" `pip install {_WHEELS[library]}` brings that header."
        if library:
            return (
                f" The emulator has no {library}: with its headers (`pip install "
                f"{_WHEELS[library]}`) the program compiles, and ends where it calls {library}."
            )
    return ""


def _new_names_for(log: str) -> str:
    """A sentence about old functions that the compiler doesn't find, or ""."""
    old = [name for name in dict.fromkeys(_UNDEFINED.findall(log)) if name in _RENAMED]
    if not old:
        return ""
    options = " ".join(f"-D{name}={_RENAMED[name]}" for name in old)
    return f" CUDA 13 has no {' and no '.join(old)}: add the option {options}"


def _symbols(library: Path, kind: str) -> set[str]:
    done = subprocess.run(
        ["nm", "-D", f"--{kind}-only", str(library)], capture_output=True, text=True, check=False
    )
    return {line.split()[-1].partition("@")[0] for line in done.stdout.splitlines() if line.split()}


def build_missing(library: Path, stand_in: Path, folder: Path) -> Path | None:
    """A library of the functions of CUDA that a program calls and our runtime lacks. Each reports
    its name and ends the program."""
    wanted = _symbols(library, "undefined") - _symbols(stand_in, "defined")
    names = sorted(name for name in wanted if name.startswith(_PREFIXES))
    if not names:
        return None
    source, made = folder / "missing.c", folder / "libmissing.so"
    source.write_text("".join((_DECLARED, *map(_missing, names))))
    flags = ["-w", "-fno-builtin", "-shared", "-fPIC"]
    _run([host_compiler(), *flags, "-o", str(made), str(source)], "A list of missing functions")
    return made


def _missing(name: str) -> str:
    """The definition of a function that our runtime lacks. nvcc's linker would have made one for
    each file of a program that is linked from several."""
    if name.startswith("__cudaRegisterLinkedBinary"):
        words = "void (*all)(void **), void *binary, void *id, void *unused"
        return f"void {name}({words}) {{ emulator_part(all, binary); }}\n"
    return f'int {name}() {{ emulator_missing("{name}"); return 0; }}\n'


def _run(command: list[str], what: str, beside: Path | None = None) -> str:
    """Call a compiler, and return its warnings. Raises CannotBuild."""
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, cwd=beside
    )
    if done.returncode:
        raise CannotBuild(f"{what} can't be compiled.", (done.stdout + done.stderr).strip())
    return done.stderr.strip()
