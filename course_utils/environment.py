"""``doctor``: what this machine has, what it lacks, and which notebooks it can run."""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from .compiling.bindings import nvrtc_version
from .compiling.headers import cuda_header_paths
from .compiling.host_compilers import HOW_TO_GET, IN_WORDS, host_compiler
from .devices.compute_capability import capability
from .devices.properties import device_name
from .devices.selection import ON_GPU, PROBLEM, device
from .errors import LessonError
from .needs import ECOSYSTEM, PACKAGES, all_notebooks, gpu_count, wanting
from .text_tables import Column, Columns

GOOD, ABSENT, BAD = "ok", "--", "!!"
LATEST = 90  # compute capability that most of the course's kernels for tensor cores ask for


def _columns(name_width: int) -> Columns:
    """A status, a name and what is said of it."""
    widths = (1, 3, name_width, 0)
    return Columns(*(Column(width=width, left=True) for width in widths), gap=1)


REPORT, NOTEBOOKS = _columns(20), _columns(44)
AFRESH = "remove .venv and run `make doctor`: it sets up again"


@dataclass(frozen=True)
class ReportLine:
    """One line of the report: ``status`` is GOOD, ABSENT (can be done without) or BAD."""

    status: str
    what: str
    found: str
    remedy: str = ""

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
        _package("CuPy", "cupy", AFRESH if _has_driver() else "needs a GPU"),
        _torch(),
        _ecosystem(),
        _host_compilers(),
        _toolkit(),
        _program("ninja", "pip install ninja: it builds PyTorch extensions"),
        _profiler(),
        majors_line(cuda_majors()),
    ]


def doctor() -> bool:
    """Print the report; True unless something is broken."""
    lines = examine()
    print("This machine")
    print("\n".join(map(str, lines)))
    notebooks = all_notebooks()
    if notebooks:
        print("\nNotebooks")
    for notebook in notebooks:
        name = f"{notebook.path.parent.name}/{notebook.path.stem}"
        print(NOTEBOOKS.row("", ABSENT if notebook.skipped else GOOD, name, notebook.verdict()))
    healthy = all(line.status != BAD for line in lines)
    print("\n" + ("All is well." if healthy else "Something is broken: see the lines marked !!."))
    return healthy


def cuda_majors() -> dict[str, int]:
    """The CUDA major version that each installed part belongs to."""
    majors = {}
    with suppress(RuntimeError):
        majors["NVRTC"] = nvrtc_version()[0]
    for name in _installed():
        if found := re.fullmatch(r"cupy-cuda(\d\d)x", name):
            majors["CuPy"] = int(found[1])
        elif found := re.fullmatch(r"nvidia-cuda-nvrtc(?:-cu(\d\d))?", name):
            version = metadata.version(name).partition(".")[0]
            majors[f"the wheel {name}"] = int(found[1] or version)
    torch = find_spec("torch")
    if torch and torch.origin:
        text = (Path(torch.origin).parent / "version.py").read_text(encoding="utf-8")
        if found := re.search(r"^cuda\b.*?=\s*'(\d+)", text, re.M):
            majors["PyTorch"] = int(found[1])
    return majors


def majors_line(majors: Mapping[str, int]) -> ReportLine:
    """Whether all parts belong to one CUDA major version; mixed, they load each other's parts."""
    if len(set(majors.values())) > 1:
        listed = ", ".join(f"{part} {major}" for part, major in majors.items())
        return ReportLine(BAD, "CUDA versions", f"mixed: {listed}", AFRESH)
    found = f"all CUDA {next(iter(majors.values()))}" if majors else "none"
    return ReportLine(GOOD, "CUDA versions", found)


def _python() -> ReportLine:
    good = sys.version_info >= (3, 11)
    remedy = "" if good else "the course needs Python 3.11 or later"
    return ReportLine(GOOD if good else BAD, "Python", platform.python_version(), remedy)


def _device() -> ReportLine:
    if PROBLEM:
        return ReportLine(BAD, "kernels run on", f"nothing: {PROBLEM}", "unset COURSE_DEVICE")
    if not ON_GPU:
        return ReportLine(GOOD, "kernels run on", "the emulator (a PTX machine in Python)")
    found = f"{device_name()}, sm_{capability()}, {gpu_count()} in all"
    if capability() < LATEST:
        found += "; on the emulator those that it is too old for"
    return ReportLine(GOOD, "kernels run on", found)


def _has_driver() -> bool:
    return bool(_output("nvidia-smi", "-L"))


def _driver() -> ReportLine:
    version = _output("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    if not version:
        return ReportLine(
            ABSENT, "NVIDIA driver", "none", "not needed: the emulator runs every kernel"
        )
    version = version.splitlines()[0]
    if not ON_GPU and os.environ.get("COURSE_DEVICE") != "emulator":
        found = f"{version}, but CuPy cannot use it: {device()} is used"
        return ReportLine(BAD, "NVIDIA driver", found, AFRESH)
    return ReportLine(GOOD, "NVIDIA driver", version)


def _nvrtc() -> ReportLine:
    try:
        major, minor = nvrtc_version()
    except RuntimeError:
        return ReportLine(BAD, "compiler (NVRTC)", "cannot be loaded", AFRESH)
    return ReportLine(GOOD, "compiler (NVRTC)", f"{major}.{minor}")


HEADERS = {"cuda_fp16.h": "runtime", "cuda/barrier": "cccl", "crt/mma.h": "nvcc"}


def _headers() -> ReportLine:
    try:
        folders = [Path(p) for p in cuda_header_paths()]
    except RuntimeError:
        folders = []
    absent = [name for name in HEADERS if not any((f / name).is_file() for f in folders)]
    if absent:
        wheels = ", ".join(f"nvidia-cuda-{HEADERS[name]}" for name in absent)
        return ReportLine(BAD, "CUDA headers", f"no {', '.join(absent)}", f"install {wheels}")
    return ReportLine(GOOD, "CUDA headers", ", ".join(HEADERS))


def _package(what: str, name: str, remedy: str) -> ReportLine:
    if find_spec(name) is None:
        return ReportLine(ABSENT, what, "not installed", remedy)
    module = next((d for d in _installed() if d == name or d.startswith(f"{name}-cuda")), name)
    return ReportLine(GOOD, what, metadata.version(module))


def _torch() -> ReportLine:
    line = _package("PyTorch", "torch", "run `make torch`")
    return replace(line, found=f"{line.found}, {wanting('torch')}")


def _ecosystem() -> ReportLine:
    absent = [PACKAGES[name] for name in ECOSYSTEM if find_spec(name) is None]
    if absent:
        found = f"no {', '.join(absent)}"
        return ReportLine(ABSENT, "other frameworks", found, "run `make ecosystem`: chapter 01")
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
    found = re.search(r"release (\d+\.\d+)", text)
    if not found:
        remedy = "only C and C++ host programs need it: install the CUDA toolkit"
        return ReportLine(ABSENT, "CUDA toolkit (nvcc)", "none", remedy)
    return ReportLine(GOOD, "CUDA toolkit (nvcc)", found[1])


def _program(name: str, remedy: str) -> ReportLine:
    if shutil.which(name):
        return ReportLine(GOOD, name, "found")
    return ReportLine(ABSENT, name, "none", remedy)


def _profiler() -> ReportLine:
    if not shutil.which("ncu"):
        remedy = "profile() counts on the emulator instead"
        return ReportLine(ABSENT, "profiler (ncu)", "none", remedy)
    parameters = Path("/proc/driver/nvidia/params")
    text = parameters.read_text() if parameters.is_file() else ""
    if "RmProfilingAdminOnly: 1" in text and os.geteuid() != 0:
        remedy = "ask the administrator to allow performance counters to all users"
        return ReportLine(
            ABSENT, "profiler (ncu)", "found, but not allowed to read counters", remedy
        )
    return ReportLine(GOOD, "profiler (ncu)", "found")


def _installed() -> set[str]:
    names = (d.metadata["Name"] for d in metadata.distributions())
    return {name.lower().replace("_", "-") for name in names if name}


def _output(*command: str) -> str | None:
    """What a command prints; None where it is absent, fails or takes more than 20 seconds."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``doctor``; its exit status is 1 where something is broken."""
    parser = subparsers.add_parser("doctor")
    parser.set_defaults(func=lambda args: 0 if doctor() else 1)
