"""Exercises whose answer is a kernel in Triton or Numba, launched on the emulator."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ... import emulator
from ...emulator import ALL_CHECKS, ERROR, Counts, Finding, KernelFault, LaunchResult, Options
from .spec import PythonExercise

TRITON, NUMBA = "triton", "numba"
LANGUAGES = (TRITON, NUMBA)
BUDGET = 10_000  # instructions of a launch: more is an endless loop


class FoundInKernel(Exception):
    """The checks have a ``finding`` in the answer's kernel."""

    def __init__(self, finding: Finding):
        super().__init__(finding.message)
        self.finding = finding


class InputChanged(Exception):
    """The kernel has stored to an array that it only reads."""


class StoredOutside(Exception):
    """The kernel has stored to elements of an output that aren't its own."""


@dataclass
class KernelCase:
    """One launch of an answer, which gets ``args`` in their order and by no name.

    ``grid`` counts blocks, Triton's programs, and ``block`` threads (None in Triton). ``meta`` are
    Triton's constants and options, such as BLOCK and num_warps. ``outputs`` names the arrays that
    the kernel writes: their elements are compared, the others must stay as they are. ``sizes``
    describes the case in a few words. ``window`` is the part of the one output that is compared,
    and the rest of it must stay as it is. ``counts`` are there after the launch.
    """

    grid: int | tuple[int, ...]
    args: dict[str, Any]
    outputs: tuple[str, ...]
    sizes: str
    block: int | tuple[int, ...] | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    window: tuple[slice, ...] = ()
    counts: Counts | None = None

    def __repr__(self) -> str:
        return self.sizes

    @property
    def inputs(self) -> dict[str, np.ndarray]:
        """The arrays that are only read."""
        return {
            name: value
            for name, value in self.args.items()
            if isinstance(value, np.ndarray) and name not in self.outputs
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class LanguageExercise(PythonExercise):
    """A kernel to write in ``kernel_language``, TRITON or NUMBA.

    Each of ``cases`` is a tuple of one :class:`KernelCase`, as is each case of ``contract``. A
    case is launched on the emulator under every check, and a finding is the verdict, with the line
    of the cell. ``reference(case)`` gives the output, or a tuple of them in the order of
    ``outputs``. ``counted(counts, case)`` returns a sentence where the kernel doesn't use the
    task's method.
    """

    kernel_language: str
    counted: Callable[[Counts, KernelCase], str] | None = None

    def __post_init__(self) -> None:
        if self.kernel_language not in LANGUAGES:
            raise ValueError(f"kernel_language is one of {', '.join(LANGUAGES)}")
        values: dict[str, Any] = {
            "needs": (self.kernel_language,),
            "call": partial(launched, self.kernel_language),
            "shows": shown,
        }
        if self.counted is not None:
            values["method"] = partial(_by_counts, self.counted)
        for name, value in values.items():
            object.__setattr__(self, name, value)


def shown(case: KernelCase) -> Mapping[str, Any]:
    """The inputs of a case, for a verdict that prints them."""
    return case.inputs


def _by_counts(counted: Callable[[Counts, KernelCase], str], case: KernelCase) -> str:
    return "" if case.counts is None else counted(case.counts, case)


def launched(language: str, kernel: Any, case: KernelCase) -> Any:
    """Launch ``kernel`` and give its output, or a tuple of outputs. The counts are the case's then.

    Raises FoundInKernel for the first finding, InputChanged, StoredOutside, and LanguageError for a
    launch or an argument that doesn't fit the language.
    """
    before = {name: array.copy() for name, array in case.inputs.items()}
    untouched = case.args[case.outputs[0]].copy()
    try:
        result = run(language, kernel, case)
    except KernelFault as fault:
        raise FoundInKernel(worst([*fault.earlier, fault.finding])) from None
    if result.findings:
        raise FoundInKernel(worst(result.findings))
    for name, array in case.inputs.items():
        if not np.array_equal(array, before[name], equal_nan=array.dtype.kind == "f"):
            raise InputChanged(f"{name} has changed, and the kernel only reads it.")
    case.counts = result.counts
    if case.window:
        return _inside(case, untouched)
    values = tuple(case.args[name] for name in case.outputs)
    return values[0] if len(values) == 1 else values


def _inside(case: KernelCase, before: np.ndarray) -> np.ndarray:
    """The window of the output, which was ``before``."""
    (name,) = case.outputs
    after: np.ndarray = case.args[name]
    bits = np.dtype(f"u{after.itemsize}")
    stored = after.view(bits) != before.view(bits)
    stored[case.window] = False
    for index in np.argwhere(stored)[:1].tolist():
        extents = ", ".join(str(each.stop) for each in case.window)
        raise StoredOutside(
            f"{name}{index} was stored to, and the kernel's part of {name} has the extents "
            f"{extents}."
        )
    return after[case.window]


def worst(findings: list[Finding]) -> Finding:
    """The first error, or the first warning where there is none."""
    return next((each for each in findings if each.level == ERROR), findings[0])


def run(language: str, kernel: Any, case: KernelCase) -> LaunchResult:
    """The launch of a case, by the emulator's launcher for the language."""
    options = Options(checks=ALL_CHECKS, counters=True, budget=BUDGET, quiet=True)
    args = tuple(case.args.values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the compilers, about speed
        if language == NUMBA:
            return emulator.emulated_numba(kernel, case.grid, case.block, *args, options=options)
        with _without_machine_code():
            return emulator.emulated_triton(kernel, case.grid, *args, options=options, **case.meta)


@contextmanager
def _without_machine_code() -> Iterator[None]:
    """Inside it Triton's compiler stops at PTX: machine code takes another program, which an answer
    may not start, and the emulator has no use for it."""
    backend = import_module("triton.backends.nvidia.compiler").CUDABackend
    before = backend.make_cubin
    backend.make_cubin = lambda *_, **__: b""
    try:
        yield
    finally:
        backend.make_cubin = before


def environment(language: str) -> dict[str, str]:
    """The variables of a process that launches kernels of the language."""
    caches = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(caches) / "cuda-course" / "triton"  # its kernels have no machine code
    own = {"TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(folder)}
    return own if language == TRITON else {}


def prepare(language: str) -> None:
    """Compile a first kernel, which takes a second or two: afterwards the compiler is loaded, and
    knows its own programs and libraries."""
    case = KernelCase(1, {"x": np.zeros(32, np.float32)}, ("x",), "", 32)
    if language == TRITON:
        from .first_kernels_triton import store
    else:
        from .first_kernels_numba import store
    run(language, store, case)
