"""Random mutations of real PTX: whatever the text, a reader gets a result or a report.

The kernels are those of ``planted_bugs``, of every style. A mutation changes a few statements: a
number, a register, a modifier or an opcode becomes another of the same kernel, an operand, a
statement or a character goes or is there twice. Such a kernel may run, be stopped by a fault of its
own, be one that the machine cannot make out, or, where that is so of the whole module, be refused
with a ``PtxError``. No other exception is let through.

``python -m tests.emulator.fuzz_ptx 10000`` tries as many and prints what came of them.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from planted_bugs import BUGS, CORRECT, Bug, ptx_of

import course_utils.launching.tensor_maps as tensor_maps
from course_utils.emulator import (
    ALL_CHECKS,
    EMULATOR_ERROR,
    EmulatedModule,
    KernelFault,
    Options,
    PtxError,
)

BUDGET = 3000  # instructions of a launch
TOKENS = {
    "number": re.compile(r"(?<![\w%$.])\d+\b"),
    "register": re.compile(r"%[a-z]+\d+"),
    "modifier": re.compile(r"\.(?:\w+::)*\w+"),
    "opcode": re.compile(r"(?<=\t)[a-z]\w*(?=[.\s;])"),
    "operand": re.compile(r"(?<=[\s,])[^\s,;{}]+(?=[,;])"),
}
NUMBERS = ("0", "1", "3", "7", "31", "32", "33", "64", "255", "4096", "65537", "4294967295")


def mutated(text: str, rng: np.random.Generator) -> str:
    """The text with one to three changes behind the head of the module."""
    for _ in range(int(rng.integers(1, 4))):
        text = _changed(text, rng)
    return text


def _changed(text: str, rng: np.random.Generator) -> str:
    start = text.index("\n", text.index(".address_size"))
    way = rng.choice([*TOKENS, "drop", "twice", "swap", "character", "cut"])
    if way in TOKENS:
        found = list(TOKENS[way].finditer(text, start))
        if not found:
            return text
        at = found[int(rng.integers(len(found)))]
        other = found[int(rng.integers(len(found)))][0]
        if way == "number" and rng.integers(2):
            other = str(rng.choice(NUMBERS))
        elif way in ("modifier", "operand") and rng.integers(2):
            other = ""
        return text[: at.start()] + other + text[at.end() :]
    if way in ("character", "cut"):
        at = int(rng.integers(start, len(text)))
        if way == "cut" and rng.integers(8):  # most would only be half a module
            return text
        letter = str(rng.choice(list(" ;,.{}[]@!%_x0-")))
        return text[:at] + (letter + text[at + int(rng.integers(2)) :] if way[1] == "h" else "")
    lines = text[start:].split("\n")
    a, b = (int(n) for n in rng.integers(1, len(lines), 2))
    if way == "drop":
        del lines[a]
    elif way == "twice":
        lines.insert(b, lines[a])
    else:
        lines[a], lines[b] = lines[b], lines[a]
    return text[:start] + "\n".join(lines)


def outcome(bug: Bug, text: str, checks) -> str:
    """What a reader gets of this kernel: "runs", "refused", or the kind of the fault."""
    on_gpu, tensor_maps.ON_GPU = tensor_maps.ON_GPU, False
    try:
        module = EmulatedModule(text)
        if "f" not in module.entries:
            return "refused"
        options = Options(checks=checks, budget=BUDGET)
        module.entry("f").launch(bug.grid, bug.block, bug.arguments(), bug.shared, options=options)
        return "runs"
    except KernelFault as fault:
        assert fault.finding.message
        return fault.finding.kind
    except PtxError as error:
        assert str(error)
        return "refused"
    except ValueError as error:  # the arguments do not fit the parameters, which have changed
        if not re.search(r"takes \d+ (bytes|arguments)|shared memory|cluster", str(error)):
            raise
        return "refused"
    finally:
        tensor_maps.ON_GPU = on_gpu


def mutations(bugs: list[Bug], count: int, seed: int = 0) -> Iterator[tuple[Bug, str, tuple]]:
    """Kernels in turn, each time with other changes; every second is launched with all checks."""
    texts = [(bug, ptx_of(bug, True)) for bug in bugs]
    for n in range(count):
        bug, text = texts[n % len(texts)]
        yield bug, mutated(text, np.random.default_rng((seed, n))), ALL_CHECKS if n % 2 else ()


def main(count: int, seed: int = 0) -> None:
    results: Counter[str] = Counter()
    start, slowest = time.process_time(), 0.0
    for n, (bug, text, checks) in enumerate(mutations([*BUGS, *CORRECT], count, seed)):
        before = time.process_time()
        try:
            result = outcome(bug, text, checks)
        except Exception as error:
            result = f"{type(error).__name__} (mutation {n} of {bug.name}): {error}"
        if result == EMULATOR_ERROR:
            print(f"{result}: mutation {n} of {bug.name}")
        results[result] += 1
        slowest = max(slowest, time.process_time() - before)
    for result, times in results.most_common():
        print(f"{times:6}  {result}")
    print(f"{time.process_time() - start:.0f} s of CPU time, the slowest {slowest:.1f} s")


if __name__ == "__main__":
    main(*(int(n) for n in sys.argv[1:]))
