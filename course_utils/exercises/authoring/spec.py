"""What an author writes about an exercise. Everything else is generated or run from it.

The exercises of the notebook ``chapters/NN_name/NN_topic.ipynb`` are in
``chapters/NN_name/exercises/NN_topic.py``. Inputs, reference, launch shape and sizes are written
once, there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...compiling.signature import strip_comments
from ...compiling.source_text import read_source
from ...emulator import Counts
from ...launching.tensor_maps import tensor_map
from ...paths import KERNELS
from .launches import Launch
from .markers import solution_of, starter_of
from .variants import Changes, Varied, replaced

if TYPE_CHECKING:
    from .domain import Domain, DrawnCases
    from .method import Requirement
    from .worked import Worked


PROBE = "test_of_the_cell"  # the name of a probe's file in the compiler's messages
RTOL = 1e-6  # of a number that a Python function returns or a reader predicts, by any formula


@dataclass(frozen=True)
class Mutant:
    """A wrong solution: ``changes`` are (old, new) texts; the checker must answer ``kind``."""

    name: str
    kind: str
    changes: tuple[tuple[str, str], ...]

    def apply(self, solution: str) -> str:
        """The solution with the changes made. Raises ValueError where an old text is not unique."""
        for old, new in self.changes:
            if solution.count(old) != 1:
                found = solution.count(old)
                raise ValueError(f"mutant {self.name!r}: {old!r} occurs {found} times, not once")
            solution = solution.replace(old, new)
        return solution


@dataclass(frozen=True)
class Target:
    """A counter to stay under: ``measure(counts) <= at_most`` at ``size``, on the emulator.

    ``advice`` is the next step. ``mistake`` makes another of the counts of an answer that misses
    the target, or "" where they show no mistake that it knows.
    """

    label: str
    measure: Callable[[Counts], float]
    at_most: float
    advice: str
    size: Any
    mistake: Callable[[Counts], str] | None = None

    def advice_on(self, counts: Counts) -> str:
        """The next step for an answer that misses the target with these counts."""
        known = self.mistake(counts) if self.mistake else ""
        return known or self.advice


@dataclass(frozen=True, kw_only=True, repr=False)
class BaseExercise:
    """What every kind of exercise has. ``id`` is the chapter and a name: ``04.saxpy``.

    ``task`` and ``explanation`` are Markdown; ``hints`` rise in strength. ``source`` is the
    solution file below ``kernels/``, with the markers of :mod:`.markers`.
    ``bug`` is the verdict on the starter of a "find the bug" exercise: such a starter is run as it
    is. ``formerly`` are the ids that the exercise had before it moved: they still name it.

    A spec file has no texts: the registry takes them and the wrong answers from the exercise's
    page, and its id, its source and the name of what is to be written from its own name, where the
    spec doesn't give another. ``notebook`` is the notebook's path below ``chapters/``,
    without ``.ipynb``; it follows from the place of the file that holds the exercise.

    ``varied`` are the values that a class's seed may change. A variant has its ``seed``, the
    course's ``own`` exercise, and the ``changes`` of its texts.
    """

    id: str = ""
    title: str = ""
    task: str = ""
    source: str = ""
    hints: tuple[str, ...] = ()
    explanation: str = ""
    mutants: tuple[Mutant, ...] = ()
    bug: str | None = None
    formerly: tuple[str, ...] = ()
    varied: Varied | None = None
    notebook: str = field(default="", init=False)
    seed: str = field(default="", init=False)
    own: Self | None = field(default=None, init=False)
    changes: Changes = field(default=(), init=False)

    @property
    def language(self) -> str:
        """The cell's language, as Markdown calls it: "cpp", "c" or "python"."""
        return "cpp"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id})"

    def with_fields(self, **values: Any) -> Self:
        """The same exercise with other ``values`` of its fields, ``notebook`` among them."""
        changed = copy(self)
        for name, value in values.items():
            object.__setattr__(changed, name, value)
        return changed

    @property
    def ids(self) -> tuple[str, ...]:
        """Every id that names it: its own, then those that it had before."""
        return (self.id, *self.formerly)

    @property
    def chapter(self) -> str:
        """Such as ``04_first_kernels``."""
        return self.notebook.split("/")[0]

    @property
    def text(self) -> str:
        """The file ``source``, with its markers."""
        return replaced(read_source(KERNELS / self.source), self.changes)

    @property
    def starter(self) -> str:
        """The cell's first content: the text without the parts to write."""
        return starter_of(self.text, self.source)

    @property
    def solution(self) -> str:
        """The course's answer: the text without its markers."""
        return solution_of(self.text, self.source)

    @property
    def task_text(self) -> str:
        """The task as the notebook shows it, in Markdown."""
        return self.task.strip()

    def is_untouched(self, cell: str) -> bool:
        """True when ``cell`` is the starter, apart from white space. A variant has two, its own
        starter and the course's."""
        if self.own is not None and self.own.is_untouched(cell):
            return True
        return cell.split() == self.starter.split()


@dataclass(frozen=True, kw_only=True, repr=False)
class LaunchedExercise(BaseExercise):
    """What is launched on the emulator.

    ``inputs(rng, size)`` gives the arguments by parameter name, in order: arrays, NumPy scalars,
    and :func:`empty` for outputs. ``launch(size)`` gives one :class:`Launch` or several.
    ``budget`` bounds the instructions of one batch of blocks; what exceeds it is an endless loop.
    It should be five times what the solution needs, or more. ``maps`` are the parameters that take
    a tensor map of their input: the arguments of :func:`~course_utils.tensor_map` for each.
    ``arch`` is the target of a kernel that one kind of GPU alone can run, such as ``"sm_90a"``.
    """

    kernel: str = ""
    inputs: Callable[[np.random.Generator, Any], dict[str, Any]]
    launch: Callable[[Any], Launch | tuple[Launch, ...]]
    defines: Mapping[str, Any] = field(default_factory=dict)
    budget: int = 50_000
    maps: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    arch: str | None = None

    def kernel_arguments(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """What a launch passes for the inputs, by name: a tensor map for each of ``maps``."""
        described = {name: tensor_map(arrays[name], **how) for name, how in self.maps.items()}
        return {**arrays, **described}

    def launches(self, size: Any) -> tuple[Launch, ...]:
        """The launches at ``size``, in order."""
        found = self.launch(size)
        return (found,) if isinstance(found, Launch) else tuple(found)


@dataclass(frozen=True, kw_only=True, repr=False)
class KernelExercise(LaunchedExercise):
    """A kernel to write, or several, in CUDA C++.

    ``reference(inputs)`` gives the expected outputs by name; it may compute in float64. ``small``
    sizes run on the emulator (odd, prime, 1, no multiple of the block; the most telling first);
    ``full`` runs on a GPU. ``reduction(size)`` is how many terms an output element sums. With
    ``within``, a right answer may take at most that many times as long as the solution on a GPU.
    ``library`` is a rung to compare with: its name, and ``call(cp, values)`` that runs it.

    With ``exact`` the outputs must be equal to the reference's, zeros down to their sign: for
    kernels that only copy or move.

    ``contract`` says what else a right answer copes with, ``method`` how it has to come about.
    AUTHORING.md explains both.

    ``probe`` is compiled behind the cell's code: kernels of the course that call what the cell
    defines, for launches that name them. ``probed`` says in the learner's words what an element of
    such a kernel's output is, by its index: the cell doesn't know the output's name.

    ``worked`` is a case to work by hand, where another than the one that follows from ``contract``
    is better, or says why there is none. ``axes`` names the axes of an output in the verdicts,
    where they aren't rows and columns: ``{"dx": ("image", "channel", "row", "column")}``.
    ``by_columns`` are the arrays of matrices that are stored by columns, so that an array's first
    axis is the column: verdicts speak of (row, column) all the same.
    """

    reference: Callable[[dict[str, Any]], dict[str, np.ndarray]]
    small: tuple[Any, ...]
    full: Any
    reduction: Callable[[Any], int] = field(default=lambda size: 1)
    exact: bool = False
    target: Target | None = None
    within: float | None = None
    library: tuple[str, Callable[[Any, Mapping[str, Any]], Any]] | None = None
    contract: Domain | None = None
    method: tuple[Requirement, ...] = ()
    probe: str = ""
    probed: Mapping[str, Callable[[int], str]] = field(default_factory=dict)
    worked: Worked | None = None
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_columns: tuple[str, ...] = ()

    def expected(self, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """What the reference makes of ``given``. That it overflows or meets NaN is no news: inputs
        are promised for that."""
        with np.errstate(all="ignore"):
            return self.reference(dict(given))

    @property
    def allows_atomics(self) -> bool:
        """Whether the task allows atomics: no verdict advises what a requirement forbids."""
        return not any(requirement.no_atomics for requirement in self.method)

    @property
    def starter_has_kernel(self) -> bool:
        """Whether the learner begins with a kernel to change, not with an empty cell."""
        return "__global__" in strip_comments(self.starter)

    def with_probe(self, source: str) -> str:
        """``source`` as it is compiled."""
        return f'{source}\n#line 1 "{PROBE}"{self.probe}' if self.probe else source

    @property
    def task_text(self) -> str:
        """The task, and the range of the sizes that are tried."""
        if self.contract is None or self.contract.sizes is None:
            return self.task.strip()
        sizes = self.contract.sizes
        others = [*self.small, *(m.size for m in self.method if m.size is not None)]
        return f"{self.task.strip()}\n\nSizes that are tried: {sizes.range(others)}."


@dataclass(frozen=True, kw_only=True, repr=False)
class PythonExercise(BaseExercise):
    """A Python function to write. It runs in a process of its own, on the emulator.

    ``cases`` are the argument tuples to try, ``reference(*arguments)`` gives the expected answer:
    a number, a string, a tuple of them, or an array. ``seconds`` is the limit for all cases.
    ``contract`` draws more cases, or says in a sentence why it doesn't. ``method(*arguments)`` gets
    the arguments as a right answer left them, and returns a sentence if a method is missing.

    ``needs`` are packages that it takes, as for ``%%needs``. With ``exact`` an array must be equal
    to the reference's, zeros down to their sign; other numbers have to be within ``rtol`` of it.
    ``call(function, *arguments)`` runs the answer and returns what is compared; by default it is
    called with the arguments. If that is something else than the answer returned, ``compared`` is
    its verb, such as "names the registers". ``word`` is how many bits the answer has, where it is a
    word of fields: it is shown in hexadecimal then, with the bits that are wrong.

    ``prepare()`` runs once, in the process's main thread and before any of the answer's code. It
    compiles the kernels of ``call``, as an answer may start no compiler. ``imports`` are modules
    that take seconds to import: the judge imports them once, before answers run.
    ``shows(*arguments)`` gives the inputs of a case by name, if the function isn't called with the
    arguments themselves. ``axes`` names the axes of an array that is returned. ``start`` says where
    to begin with a case that can't be worked by hand.
    """

    function: str = ""
    cases: tuple[tuple[Any, ...], ...]
    reference: Callable[..., Any]
    seconds: float = 20.0
    contract: DrawnCases | str = ""
    method: Callable[..., str] | None = None
    needs: tuple[str, ...] = ()
    exact: bool = False
    rtol: float = RTOL
    call: Callable[..., Any] | None = None
    compared: str = "returned"
    prepare: Callable[[], Any] | None = None
    imports: tuple[str, ...] = ()
    shows: Callable[..., Mapping[str, Any]] | None = None
    axes: tuple[str, ...] = ()
    start: str = ""
    word: int = 0

    @property
    def language(self) -> str:
        """Python."""
        return "python"


@dataclass(frozen=True)
class Ask:
    """A number to predict: what ``measure`` finds in the counts of the launch at ``size``.

    ``traps`` maps each likely wrong number to the mistake behind it.
    """

    question: str
    size: Any
    measure: Callable[[Counts], float]
    traps: Mapping[float, str]


def _uncounted(exercise: NumberExercise) -> dict[str, float]:
    raise TypeError(f"{exercise.id} does not come from the registry, which counts its numbers")


@dataclass(frozen=True, kw_only=True, repr=False)
class NumberExercise(LaunchedExercise):
    """Numbers to predict. The right ones are counted on the emulator, never written down.

    ``source`` is the kernel that is shown and counted; ``asks`` gives a name to each number. The
    registry supplies ``counted``, which launches the kernel.
    """

    asks: Mapping[str, Ask]
    counted: Callable[[NumberExercise], dict[str, float]] = field(repr=False, default=_uncounted)

    @property
    def language(self) -> str:
        """Python: a name and its number per line."""
        return "python"

    @property
    def task_text(self) -> str:
        """The task, and the kernel that it asks about."""
        return f"{self.task.strip()}\n\n```cpp\n{self.text.rstrip()}\n```"

    @property
    def starter(self) -> str:
        """A line per number, with dots for it."""
        return self._cell(dict.fromkeys(self.asks, "..."))

    @property
    def solution(self) -> str:
        """A line per number, as the emulator counts it."""
        return self._cell({name: f"{value:.12g}" for name, value in self.counted(self).items()})

    def _cell(self, values: Mapping[str, str]) -> str:
        lines = [f"# {ask.question}\n{name} = {values[name]}" for name, ask in self.asks.items()]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, kw_only=True, repr=False)
class HostExercise(BaseExercise):
    """A function or a program to write in C or C++, for the CPU.

    ``standard`` is the compiler's: ``gnu17``, ``c++17``. ``driver`` is a file below ``kernels/``
    with the ``main`` that calls the student's function and prints, after the call, with plain
    ``printf`` alone; without one the cell is a whole program. The program gets each of ``cases`` as
    its input and must print what ``reference(case)`` returns. ``seconds`` is the limit for each
    case. ``contract`` draws more cases, or says why it does not.

    A cell may hold a ``main`` beside the function, for the student to try it with. Then ``probe``
    is code that is compiled behind the cell's, with functions through which the driver reaches what
    the cell defines, macros and structs too. The cell's own ``main`` is not run.
    ``before`` is compiled ahead of the cell, and ``flags`` are more options for its compiler.
    ``shows(case)`` gives the inputs of a case by name, and the result that is expected, where the
    program's input doesn't show which is which.
    """

    cases: tuple[str, ...]
    reference: Callable[[str], str]
    standard: str = "gnu17"  # what gcc takes when it is told nothing
    driver: str = ""
    probe: str = ""
    before: str = ""
    flags: tuple[str, ...] = ()
    shows: Callable[[str], Mapping[str, Any]] | None = None
    seconds: float = 5.0
    contract: DrawnCases | str = ""

    @property
    def language(self) -> str:
        """C or C++, by ``standard``."""
        return "cpp" if "++" in self.standard else "c"

    @property
    def task_text(self) -> str:
        """The task, how the cell is called, and which cases are tried."""
        parts = [self.task.strip()]
        if self.driver and self.probe:
            parts.append(
                "A program of the course calls your code. `main` only shows how, and isn't run."
            )
        if tried := getattr(self.contract, "tried", ""):
            parts.append(f"Tried: {tried}.")
        return "\n\n".join(parts)
