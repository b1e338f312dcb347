"""Benchmarks on trial: a simulated GPU with kernels whose true times are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

from course_utils.benchmarks.harness.simulated_gpu import SimulatedGPU
from course_utils.exercises.isolation.closed_book import run_in_clean_frame

CHECKLIST = (
    "no wait",
    "cold start",
    "one run",
    "warm cache",
    "dirty cache",
    "easy input",
    "unchecked",
    "other work",
    "other precision",
    "weak rival",
    "picked run",
    "burst",
)
OFF = 0.02  # by which a result may differ from the true one


@dataclass
class Suspect:
    """A case for a benchmark: its arguments, and the right result.

    ``given(gpu)`` makes the arguments after the GPU. ``true_ms`` is the right result, in any unit,
    and ``lies`` are the words for the starter's faults. After a trial ``gpu`` is the GPU that it
    ran on, ``value`` its result and ``named`` the cell's LIES.
    """

    text: str
    true_ms: Any
    given: Callable[[SimulatedGPU], tuple[Any, ...]]
    lies: frozenset[str]
    seed: int = 0
    spikes: float = 0.0
    wander: float = 0.0
    notes: Mapping[str, str] = field(default_factory=dict)
    gpu: SimulatedGPU = None  # type: ignore[assignment]  # set by the trial
    value: Any = None
    named: Any = None

    def __repr__(self) -> str:
        return f"<{self.text}>"

    @staticmethod
    def advice(
        about: Callable[[Suspect], str], also: Callable[[Suspect], str] = lambda case: ""
    ) -> Callable[[Suspect], str]:
        """The sentence on a trial: about the lies, until they are named, then ``about`` a wrong
        result, and ``also`` about a right one."""

        def say(case: Suspect) -> str:
            return about_words(case) or (also(case) if right(case) else about(case))

        return say


def truth(case: Suspect) -> Any:
    """The right result of the benchmark."""
    return case.true_ms


def tried(function: Callable[..., Any], case: Suspect) -> Any:
    """The result of the student's ``function`` for ``case``."""
    gpu = SimulatedGPU(case.seed, spikes=case.spikes, wander=case.wander)
    case.gpu = gpu
    case.named = getattr(function, "__globals__", {}).get("LIES")
    # In its own thread: no frame below it knows the truth.
    case.value = run_in_clean_frame(partial(function, handed_out(gpu), *case.given(gpu)))
    return case.value


def handed_out(gpu: SimulatedGPU) -> SimpleNamespace:
    """The part of ``gpu`` that a benchmark may use, without its true records."""
    return SimpleNamespace(
        time=lambda: gpu.time(),
        event=lambda: gpu.event(),
        elapsed_ms=lambda start, end: gpu.elapsed_ms(start, end),
        synchronize=lambda: gpu.synchronize(),
        write_256_mb=lambda: gpu.write_256_mb(),
        read_256_mb=lambda: gpu.read_256_mb(),
    )


def right(case: Suspect) -> bool:
    """Whether the value is the true one, near enough for the sentence on it."""
    pairs = zip(_items(case.value), _items(case.true_ms), strict=False)
    return len(_items(case.value)) == len(_items(case.true_ms)) and all(near(*p) for p in pairs)


def about_words(case: Suspect) -> str:
    """The sentence on the words in LIES, "" where they are right."""
    named, words = case.named, ", ".join(CHECKLIST)
    named = [named] if isinstance(named, str) else named
    named = set(map(str, named)) if isinstance(named, Iterable) else set()
    if not named:
        return "Put into LIES what is wrong with the benchmark, in words of the checklist."
    if unknown := sorted(named.difference(CHECKLIST)):
        return f"LIES holds {unknown[0]!r}, which is no word of the checklist: {words}."
    if named != case.lies:
        return (
            f"LIES does not name what was wrong with the benchmark: of the {len(case.lies)} words "
            f"that belong there it has {len(named & case.lies)}, and {len(named - case.lies)} that "
            "do not."
        )
    return ""


def _items(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def near(value: Any, wanted: Any) -> bool:
    """Whether a number is the one ``wanted`` but for OFF of it, or a name is the same."""
    if isinstance(wanted, str) or isinstance(value, str):
        return value == wanted
    try:
        return value != value if wanted != wanted else abs(value - wanted) <= OFF * abs(wanted)
    except TypeError:
        return False
