"""Kernels with one planted bug each, and what the sanitizer must report; and correct kernels.

They are in ``planted/``, a family to a file. The first line of a file is the family's title, and
each kernel begins with its header::

    // # an mbarrier initialised twice — barrier misuse
    // cause: MBARRIER_INITIALISED_TWICE
    // thread: 1
    __shared__ u64 bar;
    if (threadIdx.x < «2→1») init(&bar, 64); // !

That is its name, the kind of the report, and the fields of :class:`Bug` that are not as usual. A
body has both versions of a line, ``«wrong→right»``. The line that the report must name ends in
``// !``, the other line that it names in ``// ?``. Without a ``// ?`` both are the same line.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import blackwell
from asynchrony import ptx
from planted_arguments import arguments

import course_utils.launching.tensor_maps as tensor_maps
from course_utils.choices import after, before
from course_utils.emulator import (
    ALL_CHECKS,
    ERROR,
    KINDS,
    Cause,
    EmulatedModule,
    Finding,
    KernelFault,
    Options,
)

FOLDER = Path(__file__).parent / "planted"
FAMILIES = (
    *("memory", "uninitialised", "shared_races", "global_races", "flags", "copies"),
    *("tensor_cores", "tensor_memory", "barriers", "mbarriers", "clusters", "launch_control"),
    "ends",
)
BEGINNING = re.compile(r"^// # ", re.M)
FIELD = re.compile(r"// (\w+): (.*)")


@dataclass(frozen=True)
class Bug:
    """A kernel with one mistake, or a correct one, whose ``kind`` is empty.

    The report must have the ``kind``, the ``cause`` and the ``level``, and name the thread
    ``thread`` of its block. None allows any. ``other`` is the second thread that it must name.
    ``also`` are the kinds of further reports that follow from the mistake. ``args`` are the
    kernel's arguments as ``planted_arguments`` reads them, ``shared`` bytes of dynamic shared
    memory, ``cluster`` the blocks of a cluster, ``helper`` a name in ``planted/helpers.cuh``.
    """

    name: str
    kind: str
    body: str
    cause: Cause | None = None
    thread: int | None = 0
    other: int | None = None
    level: str = ERROR
    also: tuple[str, ...] = ()
    parameters: str = "float* x, float* y, int n"
    args: str = "zeros(64), zeros(64), 3"
    grid: int = 1
    block: int = 64
    shared: int = 0
    cluster: int | None = None
    helper: str = ""
    budget: int | None = 100_000
    target: str = "sm_90"

    @property
    def kinds(self) -> set[str]:
        return {self.kind, *self.also}

    def source(self, right: bool = False) -> str:
        return (after if right else before)(self.body).strip("\n")

    def line(self, mark: str) -> int | None:
        """The number of the line that ends in ``// mark`` in the wrong version."""
        lines = self.source().splitlines()
        return next((n for n, text in enumerate(lines, 1) if text.endswith(f"// {mark}")), None)

    def arguments(self) -> tuple[Any, ...]:
        """New arguments for a launch."""
        return arguments(self.args)

    def findings(self, right: bool = False, seed: int = 0) -> list[Finding]:
        kernel = _kernel(self, right)
        return _findings(self, kernel, seed if kernel.asynchronous else 0)


def ptx_of(bug: Bug, right: bool) -> str:
    body = re.sub(r" *// [!?]$", "", bug.source(right), flags=re.M)
    compiled = blackwell.ptx if bug.target == "sm_100a" else ptx
    prefix = f"__cluster_dims__({bug.cluster}, 1, 1)" if bug.cluster else ""
    helper = _helpers()[bug.helper] if bug.helper else ""
    return compiled(bug.parameters, body, prefix=prefix, before=helper)


@cache
def _kernel(bug: Bug, right: bool) -> Any:
    return EmulatedModule(ptx_of(bug, right)).entry("f")


@cache
def _findings(bug: Bug, kernel: Any, seed: int) -> list[Finding]:
    names = [p.split()[-1].strip("*") for p in bug.parameters.split(",")]
    options = Options(checks=ALL_CHECKS, budget=bug.budget, seed=seed)
    on_gpu, tensor_maps.ON_GPU = tensor_maps.ON_GPU, False
    try:
        args = bug.arguments()
        return kernel.launch(bug.grid, bug.block, args, bug.shared, names, options).findings
    except KernelFault as fault:
        return [*fault.earlier, fault.finding]
    finally:
        tensor_maps.ON_GPU = on_gpu


# --- reading planted/ ---


def read(file: Path) -> tuple[str, list[Bug]]:
    """The title of a file's family and its kernels. Raises ValueError or KeyError for a header with
    a field, a kind or a cause that there is not."""
    title, *parts = _parts(file)
    return title.removeprefix("// ").strip(), [_bug(part) for part in parts]


def _parts(file: Path) -> list[str]:
    """The lines before the first header of a file, then each header with its kernel."""
    return BEGINNING.split(file.read_text(encoding="utf-8"))


def _bug(part: str) -> Bug:
    head, *lines = part.splitlines()
    name, _, kind = head.partition(" — ")
    if kind not in ("", *KINDS):
        raise ValueError(f"{name}: {kind!r} is no kind of report")
    fields: dict[str, str] = {}
    while lines and (found := FIELD.fullmatch(lines[0])):
        fields[found[1]] = found[2]
        del lines[0]
    if unknown := fields.keys() - READERS.keys():
        raise ValueError(f"{name}: unknown field {', '.join(sorted(unknown))}")
    given = {field: READERS[field](value) for field, value in fields.items()}
    return Bug(name, kind, "\n".join(lines).strip("\n"), **given)


def _number(text: str) -> int | None:
    """A number, or None for ``any`` and ``none``."""
    return None if text in ("any", "none") else int(text)


READERS = {
    **dict.fromkeys(("level", "parameters", "args", "target", "helper"), str),
    **dict.fromkeys(("thread", "other", "grid", "block", "shared", "cluster", "budget"), _number),
    "cause": Cause.__getitem__,
    "also": lambda text: tuple(text.split(", ")),
}


@cache
def _helpers() -> dict[str, str]:
    """The functions that kernels call, by name."""
    _, *parts = _parts(FOLDER / "helpers.cuh")
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}


GROUPS = dict(read(FOLDER / f"{family}.cu") for family in FAMILIES)
BUGS = [bug for bugs in GROUPS.values() for bug in bugs]
CORRECT = read(FOLDER / "correct.cu")[1]
