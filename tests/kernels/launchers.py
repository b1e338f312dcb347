"""How tests launch the course's kernels: one way, for each kernel file under ``kernels/``.

A kernel that is measured is launched as its benchmark case says. Any other has a *launch
description* in ``launches_NN.py`` of its chapter: a function under ``@launch`` that makes a
:class:`~course_utils.benchmarks.harness.workload.Workload` of a given size.
``test_every_kernel.py`` runs them all.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from course_utils import cp, load, sanitize
from course_utils.benchmarks import CASES
from course_utils.benchmarks.harness.case import Case
from course_utils.benchmarks.harness.workload import KernelCall, Workload
from course_utils.devices.selection import ON_GPU
from course_utils.launching.modules import Kernel
from course_utils.observing.sanitizing import Report
from course_utils.paths import KERNELS, NO_KERNELS, kernel_file, unnumbered

FILES = sorted(
    path.relative_to(KERNELS).as_posix()
    for path in KERNELS.rglob("*.cu")
    if path.parent.name not in NO_KERNELS
)


# Under compute-sanitizer: the part of the kernel files that is launched, on the GPU alone. "2/12"
# is the third of twelve.
PART = os.environ.get("COURSE_SANITIZED_PART")
if PART is not None and ON_GPU:
    cp.cuda.set_allocator()  # no pool, so that an array ends where its memory does


def in_turn(*files: str) -> bool:
    """Whether what launches the kernel ``files`` has its turn in this run."""
    if PART is None:
        return True
    part, parts = map(int, PART.split("/"))
    return not any(map(sends_to_itself, files)) and any(
        FILES.index(file) % parts == part % parts for file in files
    )


def sends_to_itself(file: str) -> bool:
    """Whether of a cluster's blocks that send to all, one sends to itself: PTX allows it, and
    compute-sanitizer calls it an invalid write. The fast step of chapter 09 is one launch after the
    other, such a kernel among them."""
    if file.startswith("09_mnist_cnn/fast/"):
        return True
    return "store_async" in (KERNELS / file).read_text(encoding="utf-8")


@dataclass(frozen=True)
class InPlace(Workload):
    """Work on an ``output`` that the kernel also reads: it holds ``start`` before."""

    start: Any = None

    def poison(self) -> None:
        self.output[...] = cp.asarray(self.start)


@dataclass(frozen=True)
class Addressed(Workload):
    """Work whose arguments hold addresses of the arrays ``kept``: they lead nowhere on another
    machine, so a GPU's have no copies for the sanitizer."""

    kept: Any = None


@dataclass(frozen=True)
class Demonstration:
    """A kernel with nothing to compute: what it ``prints``, in any order, and the kinds of faults
    that the sanitizer ``finds``."""

    call: KernelCall
    prints: tuple[str, ...] = ()
    finds: tuple[str, ...] = ()


Description = Callable[..., Workload | Demonstration]


@dataclass(frozen=True)
class Trial:
    """A description at one size."""

    name: str
    describe: Description
    size: tuple

    def make(self) -> Workload | Demonstration:
        return self.describe(self.name, *self.size)

    def __str__(self) -> str:
        return "-".join((self.name, *map(str, self.size)))


@dataclass
class Chapter:
    """The launch descriptions of the kernels of one chapter, such as ``04_first_kernels``."""

    folder: str

    def __post_init__(self) -> None:
        self.trials: dict[str, list[Trial]] = {}

    def launch(self, *names: str, sizes: list) -> Callable[[Description], Description]:
        """Register the function below as the description of the kernels ``names``: it is called as
        ``describe(name, size)``, or with the parts of a size that is a tuple."""

        def register(describe: Description) -> Description:
            for name in names:
                for size in sizes:
                    parts = size if isinstance(size, tuple) else (size,)
                    self.trials.setdefault(name, []).append(Trial(name, describe, parts))
            return describe

        return register

    def kernel(
        self,
        name: str,
        *,
        arch: str | None = None,
        options: tuple[str, ...] = (),
        cooperative: bool = False,
        **defines: Any,
    ) -> Kernel:
        """The kernel ``name`` of the chapter, compiled once for each set of ``defines``."""
        file = kernel_file(name, self.folder)
        return _compiled(file, arch, options, cooperative, tuple(sorted(defines.items())))


@cache
def _compiled(
    file: str, arch: str | None, options: tuple[str, ...], cooperative: bool, defines: tuple
) -> Kernel:
    defines = dict(defines)
    return load(file, arch=arch, options=options, cooperative=cooperative, defines=defines).kernel


def trials(file: str) -> list[Trial]:
    """The trials that the chapter of a kernel ``file`` describes for it; none where it does not."""
    module = f"launches_{file[:2]}"
    if not Path(__file__).with_name(f"{module}.py").is_file():
        return []
    return importlib.import_module(module).CHAPTER.trials.get(unnumbered(Path(file).stem), [])


def measured(file: str) -> bool:
    """Whether a benchmark case launches the kernel ``file``."""
    return any(file in case.files for case in CASES)


def described(case: Case) -> bool:
    """Whether all kernels of a benchmark ``case`` have descriptions too."""
    return all(trials(file) for file in case.files)


def run(work: Workload, *, sanitized: bool = True) -> None:
    """Launch ``work``, by default under every check of the sanitizer, on outputs that hold no
    result yet.

    Fails where the sanitizer has a finding, or where the result is wrong on this machine's device.
    """
    sanitized = sanitized and PART is None
    _prepare(work)
    if sanitized and not (ON_GPU and isinstance(work, Addressed)):
        for call in work.launches:
            report = sanitized_call(call)
            assert report.clean, str(report)
    if ON_GPU or not sanitized:
        _prepare(work)  # on a GPU the sanitizer ran on copies
        for call in work.launches:
            call()
    wrong = work.wrong()
    assert not wrong, wrong


def sanitized_call(call: KernelCall) -> Report:
    """What the sanitizer reports of one call, with the optimiser alone: it's quicker."""
    launch = call.kernel, call.grid, call.block, call.args
    return sanitize(*launch, shared_mem=call.shared_mem, optimised_only=True)


def _prepare(work: Workload) -> None:
    work.poison()
    for array in work.cleared:
        array.fill(0)


def draw(shape: int | tuple[int, ...], seed: int = 0) -> np.ndarray:
    """fp32 numbers of a standard normal distribution, on the host."""
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def work(
    kernel: Kernel,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    args: tuple,
    output: Any,
    expected: Any,
    kind: type[Workload] = Workload,
    shared_mem: int = 0,
    **more: Any,
) -> Workload:
    """One launch, the array with its result, and what that should be; ``more`` fields of it."""
    call = KernelCall(kernel, grid, block, args, shared_mem)
    return kind((call,), output, lambda: expected, **more)
