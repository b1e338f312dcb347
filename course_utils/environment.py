"""``doctor``: what this machine has, what it lacks, and which notebooks it can run."""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from . import gpu_run, remedies
from .compiling.bindings import nvrtc_version
from .compiling.headers import cuda_header_paths, cute_header_paths
from .compiling.host_compilers import HOW_TO_GET, IN_WORDS, host_compiler
from .devices.compute_capability import capability
from .devices.properties import device_name
from .devices.selection import ON_GPU, PROBLEM, device
from .errors import LessonError
from .install import cuda_major, cuda_of_driver
from .needs import ECOSYSTEM, PACKAGES, gpu_count
from .notebook_requirements import NotebookNeeds, all_notebooks, wanting
from .text_tables import Column, Columns

GOOD, ABSENT, BAD = "ok", "--", "!!"
PYTHON, DEVICE = "Python", "kernels run on"
FIRST = PYTHON, DEVICE  # lines that begin the short report
ONE_CUDA = "CUDA versions"
LAST_GPU_RUN = "last run on a GPU"
WIDTH = 100  # characters of the short report, which a notebook shows without breaking words
MORE = " Each part and notebook has a line in doctor(full=True), or `make doctor ARGS=--full`."
LATEST = 90  # compute capability that most of the course's kernels for tensor cores ask for


def _columns(name_width: int) -> Columns:
    """A status, a name and what is said of it."""
    widths = (1, 3, name_width, 0)
    return Columns(*(Column(width=width, left=True) for width in widths), gap=1)


REPORT, NOTEBOOKS = _columns(20), _columns(45)


@dataclass(frozen=True)
class ReportLine:
    """One line of the report: ``status`` is GOOD, ABSENT (can be done without) or BAD.

    ``for_gpus`` belongs to a part that only helps a machine with a GPU.
    """

    status: str
    what: str
    found: str
    remedy: str = ""
    for_gpus: bool = False

    @property
    def brief(self) -> str:
        """The part with its version, where it has one: ``PyTorch 2.13.0``."""
        if self.what == ONE_CUDA:  # nvcc, which builds whole programs, may be of another
            return f"{self.found.removeprefix('all ')} for the kernels"
        version = re.match(r"\d[\w.+]*", self.found)
        return f"{self.what} {version[0]}" if version else self.what

    def __str__(self) -> str:
        remedy = f"  -> {self.remedy}" if self.remedy else ""
        return REPORT.row("", self.status, self.what, f"{self.found}{remedy}")


def examine() -> list[ReportLine]:
    """Every check of this machine, in the order of the report."""
    return [
        _python(),
        _device(),
        _driver(),
        _nvrtc(),
        _headers(),
        _cute_headers(),
        replace(
            _package("CuPy", "cupy", _cupy_remedy() if _has_driver() else "needs a GPU"),
            for_gpus=True,
        ),
        _torch(),
        _ecosystem(),
        _host_compilers(),
        _toolkit(),
        _program("ninja", f"{remedies.pip_command('ninja')}: it builds PyTorch extensions"),
        _profiler(),
        majors_line(cuda_majors(), *(cuda_of_driver() if _has_driver() else ())),
        _gpu_run(),
    ]


def doctor(full: bool = False) -> bool:
    """Print the report in a dozen lines, or with ``full`` a line for each part and each notebook.

    True unless something is broken.
    """
    lines = examine()
    notebooks = [] if PROBLEM else all_notebooks()  # where no kernel runs, none of them does
    print("This machine")
    if full:
        print("\n".join(map(str, lines)))
        rows = [
            NOTEBOOKS.row("", BAD if x.problem else GOOD, x.name, x.verdict()) for x in notebooks
        ]
        if rows:
            print("\n".join(["", "Notebooks", *rows]))
    else:
        short = in_short(lines) + (notebooks_in_short(notebooks) if notebooks else [])
        print("\n".join(map(_wrapped, short)))
    healthy = not any(x.problem for x in notebooks) and all(x.status != BAD for x in lines)
    ending = "All is well." if healthy else "Something is broken: see the lines marked !!."
    print(f"\n{ending}{'' if full else MORE}")
    return healthy


def in_short(lines: list[ReportLine]) -> list[ReportLine]:
    """The report with its good parts in one line, and in another the parts that a GPU would need.

    The lines of :data:`FIRST` and those that ask for something stay as they are.
    """
    groups: dict[str, list[ReportLine]] = {"first": [], "good": [], "idle": [], "kept": []}
    for line in lines:
        groups[group(line)].append(line)
    good = ", ".join(line.brief for line in groups["good"]) or "nothing else"
    short = [*groups["first"], ReportLine(GOOD, "installed", good)]
    if groups["idle"]:
        idle = ", ".join(line.what for line in groups["idle"])
        short.append(ReportLine(GOOD, "not needed", f"{idle}: they are for GPUs"))
    return [*short, *groups["kept"]]


def group(line: ReportLine) -> str:
    """The part of the short report that a line belongs to: "first", "good", "idle" or "kept".

    Parts for GPUs are idle unless kernels run on one, or a GPU was asked for and can't be used.
    """
    if line.what in FIRST:
        return "first"
    if line.status == GOOD and not line.remedy:
        return "kept" if line.what == LAST_GPU_RUN else "good"
    wants_gpu = ON_GPU or bool(PROBLEM)
    return "idle" if line.status == ABSENT and line.for_gpus and not wants_gpu else "kept"


def notebooks_in_short(notebooks: list[NotebookNeeds]) -> list[ReportLine]:
    """How many notebooks run here, and a line for each that can't be read."""
    broken = [ReportLine(BAD, x.name, x.problem, "correct it") for x in notebooks if x.problem]
    runs = [x for x in notebooks if not x.problem]
    some = [x for x in runs if x.skipped]
    found = f"{'all ' * (not broken)}{len(runs)} run here"
    if some:
        cells, of = sum(x.skipped for x in some), sum(len(x.cells) for x in runs)
        found += (
            f". {cells:,} of their {of:,} code cells are skipped and show their output from an H200"
        )
    return [ReportLine(GOOD, "notebooks", found), *broken]


def _wrapped(line: ReportLine) -> str:
    if line.remedy:  # a command stays in one piece
        return str(line)
    indent = " " * len(REPORT.row("", "", "", "x")[:-1])
    return textwrap.fill(str(line), WIDTH, subsequent_indent=indent, break_long_words=False)


def cuda_majors() -> dict[str, int]:
    """The CUDA major version that each installed part belongs to."""
    majors = {}
    with suppress(RuntimeError):
        majors["NVRTC"] = nvrtc_version()[0]
    for name, version in remedies.installed().items():
        if re.match(r"cupy-cuda\d\dx|nvidia-cuda-nvrtc", name):
            part = "CuPy" if name.startswith("cupy") else f"the wheel {name}"
            if major := cuda_major({name: version}):
                majors[part] = major
    torch = find_spec("torch")
    if torch and torch.origin:
        text = (Path(torch.origin).parent / "version.py").read_text(encoding="utf-8")
        if found := re.search(r"^cuda\b.*?=\s*'(\d+)", text, re.M):
            majors["PyTorch"] = int(found[1])
    return majors


def majors_line(majors: Mapping[str, int], newest: int = 0, why: str = "") -> ReportLine:
    """Whether all parts belong to one CUDA major version. Mixed, they load each other's parts.
    ``newest`` is the latest that this machine's driver runs, 0 without one, and ``why`` says so."""
    what = ONE_CUDA
    if len(set(majors.values())) > 1:
        listed = ", ".join(f"{part} {major}" for part, major in majors.items())
        return ReportLine(BAD, what, f"mixed: {listed}", remedies.afresh())
    if not majors:
        return ReportLine(ABSENT, what, "none", f"run `{remedies.set_up_command()}`")
    major = next(iter(majors.values()))
    found = f"all CUDA {major}"
    if not newest or major == newest:
        return ReportLine(GOOD, what, found)
    if major > newest:
        return ReportLine(BAD, what, f"{found}. {why}", remedies.afresh("gpu"))
    found += f". {why} too, which the stored outputs come from"
    return ReportLine(GOOD, what, found, f"for that, {remedies.afresh('gpu13')}")


def _gpu_run() -> ReportLine:
    record = gpu_run.last()
    if record is None:
        remedy = "make test-gpu on a GPU"
        return ReportLine(ABSENT, LAST_GPU_RUN, "not recorded", remedy, for_gpus=True)
    return ReportLine(GOOD, LAST_GPU_RUN, gpu_run.summary(record))


def _python() -> ReportLine:
    good = sys.version_info >= (3, 11)
    remedy = "" if good else "the course needs Python 3.11 or later"
    return ReportLine(GOOD if good else BAD, PYTHON, platform.python_version(), remedy)


def _device() -> ReportLine:
    if PROBLEM:
        return ReportLine(BAD, DEVICE, f"nothing: {PROBLEM}", "unset COURSE_DEVICE")
    if not ON_GPU:
        return ReportLine(GOOD, DEVICE, "the emulator (a PTX machine in Python)")
    found = f"{device_name()}, sm_{capability()}, {gpu_count()} in all"
    if capability() < LATEST:
        found += ". Kernels that it's too old for run on the emulator"
    return ReportLine(GOOD, DEVICE, found)


def _has_driver() -> bool:
    return bool(_output("nvidia-smi", "-L"))


def _driver() -> ReportLine:
    version = _output("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    if not version:
        remedy = "" if PROBLEM else "not needed: the emulator runs every kernel"
        return ReportLine(ABSENT, "NVIDIA driver", "none", remedy, for_gpus=True)
    version = version.splitlines()[0]
    if not ON_GPU and os.environ.get("COURSE_DEVICE") != "emulator":
        found = f"{version}, but CuPy can't use it, so kernels run on the {device()}"
        remedy = _cupy_remedy() if find_spec("cupy") is None else remedies.afresh()
        return ReportLine(BAD, "NVIDIA driver", found, remedy)
    return ReportLine(GOOD, "NVIDIA driver", version)


def _nvrtc() -> ReportLine:
    try:
        major, minor = nvrtc_version()
    except RuntimeError:
        remedy = f"run `{remedies.set_up_command()}`"
        return ReportLine(BAD, "compiler (NVRTC)", "cannot be loaded", remedy)
    return ReportLine(GOOD, "compiler (NVRTC)", f"{major}.{minor}")


# And the wheels that bring them, in CUDA 12 and in CUDA 13.
HEADERS = {
    "cuda_fp16.h": ("nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime"),
    "cuda/barrier": ("nvidia-cuda-cccl-cu12", "nvidia-cuda-cccl"),
    "crt/mma.h": ("nvidia-cuda-nvcc-cu12", "nvidia-cuda-crt"),
}


def _headers() -> ReportLine:
    try:
        folders, major = [Path(p) for p in cuda_header_paths()], nvrtc_version()[0]
    except RuntimeError:
        folders, major = [], 12
    absent = [name for name in HEADERS if not any((f / name).is_file() for f in folders)]
    if absent:
        wheels = " and ".join(HEADERS[name][major > 12] for name in absent)
        remedy = f"run `{remedies.set_up_command()}`: {wheels}"
        return ReportLine(BAD, "CUDA headers", f"no {', '.join(absent)}", remedy)
    return ReportLine(GOOD, "CUDA headers", ", ".join(HEADERS))


def _cute_headers() -> ReportLine:
    what = "CuTe's headers"
    if not cute_header_paths():
        remedy = f"run `{remedies.set_up_command()}`: nvidia-cutlass, for chapter 08"
        return ReportLine(ABSENT, what, "none", remedy)
    return ReportLine(GOOD, what, "cute, cutlass")


def _cupy_remedy() -> str:
    return f"run `{remedies.set_up_command(remedies.fitting_extra())}`"


def _package(what: str, name: str, remedy: str) -> ReportLine:
    if find_spec(name) is None:
        return ReportLine(ABSENT, what, "not installed", remedy)
    packages = remedies.installed()
    found = (v for n, v in packages.items() if n == name or n.startswith(f"{name}-cuda"))
    return ReportLine(GOOD, what, next(found, "version unknown"))


def _torch() -> ReportLine:
    remedy = _cupy_remedy() if _has_driver() else f"run `{remedies.torch_command()}`"
    line = _package("PyTorch", "torch", remedy)
    return replace(line, found=f"{line.found}, {wanting('torch')}")


def _ecosystem() -> ReportLine:
    absent = [PACKAGES[name] for name in ECOSYSTEM if find_spec(name) is None]
    if absent:
        found = f"no {', '.join(absent)}"
        remedy = f"run `{remedies.ecosystem_command()}`: chapter 01"
        return ReportLine(ABSENT, "other frameworks", found, remedy)
    return ReportLine(GOOD, "other frameworks", ", ".join(PACKAGES[name] for name in ECOSYSTEM))


def _host_compilers() -> ReportLine:
    what = "C and C++ compiler"
    try:
        found = {language: host_compiler(language) for language in IN_WORDS}
    except LessonError as error:
        return ReportLine(BAD, what, str(error), "correct COURSE_CC and COURSE_CXX, or unset them")
    names = ", ".join(compiler.name for compiler in found.values() if compiler)
    if not all(found.values()):
        absent = " and ".join(IN_WORDS[name] for name in found if not found[name])
        return ReportLine(ABSENT, what, f"{names or 'none'}: chapter 02 needs {absent}", HOW_TO_GET)
    return ReportLine(GOOD, what, names)


def _toolkit() -> ReportLine:
    text = _output("nvcc", "--version") or ""
    release = re.search(r"release (\d+\.\d+)", text)
    if not release:
        remedy = "install the CUDA toolkit: only C and C++ host programs need it"
        return ReportLine(ABSENT, "CUDA toolkit (nvcc)", "none", remedy)
    found = f"{release[1]}, for whole programs: it may differ from the kernels' CUDA"
    return ReportLine(GOOD, "CUDA toolkit (nvcc)", found)


def _program(name: str, remedy: str) -> ReportLine:
    if shutil.which(name):
        return ReportLine(GOOD, name, "found")
    return ReportLine(ABSENT, name, "none", remedy)


def _profiler() -> ReportLine:
    if not shutil.which("ncu"):
        remedy = "profile() counts on the emulator instead"
        return ReportLine(ABSENT, "profiler (ncu)", "none", remedy, for_gpus=True)
    parameters = Path("/proc/driver/nvidia/params")
    text = parameters.read_text() if parameters.is_file() else ""
    if "RmProfilingAdminOnly: 1" in text and os.geteuid() != 0:
        remedy = "ask the administrator to allow performance counters for all users"
        return ReportLine(ABSENT, "profiler (ncu)", "found, but may not read counters", remedy)
    return ReportLine(GOOD, "profiler (ncu)", "found")


def _output(*command: str) -> str | None:
    """What a command prints; None where it is absent, fails or takes more than 20 seconds."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand ``doctor``; its exit status is 1 where something is broken."""
    parser = subparsers.add_parser("doctor")
    parser.add_argument("--full", action="store_true", help="a line for each part and notebook")
    parser.set_defaults(func=lambda args: 0 if doctor(args.full) else 1)
