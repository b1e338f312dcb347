"""The exercises of "Building programs"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.errors import LessonError
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.spec import HostExercise, PythonExercise

from .common import whole

RULES = {"app": ["main.o", "sum.o"], "main.o": ["main.c", "sum.h"], "sum.o": ["sum.c", "sum.h"]}
FRESH = {"main.c": 1, "sum.c": 2, "sum.h": 3, "main.o": 4, "sum.o": 5, "app": 6}
DIAMONDS = {  # 2 ways from each to the next: 2^40 from the first to the last
    name: needs
    for k in range(40)
    for name, needs in (
        (f"{k}", [f"a{k}", f"b{k}"]),
        (f"a{k}", [f"{k + 1}"]),
        (f"b{k}", [f"{k + 1}"]),
    )
}
CHAIN = {"all": ["b", "c"], "b": ["a"], "c": ["a"], "a": ["source"]}

MATHS = {
    "norm.o": ({"norm"}, {"dot", "sqrt"}),
    "dot.o": ({"dot"}, set()),
    "sum.o": ({"sum", "mean"}, {"divide"}),
    "divide.o": ({"divide"}, {"panic"}),
}

FATBINARIES: tuple[list[str], ...] = (
    ["sm_80", "sm_86", "sm_90", "compute_90"],
    ["sm_90a", "compute_80"],
    ["compute_70"],
    ["sm_75"],
    [],
    ["sm_90", "sm_90a", "compute_90a"],
    ["compute_90a", "compute_70", "compute_80"],
)
GPUS = (61, 70, 75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121, 135)


def list_answer(case: str) -> str:
    numbers = case.split()
    return f"last {numbers[0]}, length {len(numbers)}" if numbers else "length 0"


def rebuilt(rules: dict[str, Any], changed: dict[str, Any], target: str) -> list[str]:
    built: list[str] = []
    done: set[str] = set()

    def visit(name: str) -> None:
        if name not in rules or name in done:
            return
        done.add(name)
        for other in rules[name]:
            visit(other)
        older = name in changed and all(
            other not in built and changed[other] <= changed[name] for other in rules[name]
        )
        if not older:
            built.append(name)

    visit(target)
    return built


def drawn_rules(rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Targets t0 to tk that depend on ones with larger numbers and on two sources."""
    count = int(rng.integers(1, 7))
    names = [f"t{k}" for k in range(count)]
    rules, changed = {}, {"s0": int(rng.integers(9)), "s1": int(rng.integers(9))}
    for k, name in enumerate(names):
        below = [*names[k + 1 :], "s0", "s1"]
        chosen = rng.permutation(len(below))[: int(rng.integers(0, len(below) + 1))]
        rules[name] = [below[i] for i in chosen]
        if rng.random() < 0.8:
            changed[name] = int(rng.integers(9))
    return rules, changed, "t0"


def linked(objects: list[Any], library: dict[str, Any]) -> tuple[list[str], list[str]]:
    taken: set[str] = set()
    while True:
        parts = [*objects, *(library[name] for name in taken)]
        open_names = {n for _, used in parts for n in used} - {
            n for names, _ in parts for n in names
        }
        more = {name for name, (names, _) in library.items() if names & open_names}
        if not more:
            return sorted(taken), sorted(open_names)
        taken |= more


def drawn_link(rng: np.random.Generator) -> tuple[list[Any], dict[str, Any]]:
    """Members with two names each; every other time each uses a name of the member before it, so
    that one round takes one member."""
    members = int(rng.integers(1, 9))
    names = [f"f{k}" for k in range(2 * members + 1)]

    def some(most: int) -> set[str]:
        return {names[k] for k in rng.integers(0, len(names), int(rng.integers(0, most + 1)))}

    defined = [{names[2 * k], names[2 * k + 1]} for k in range(members)]
    if rng.random() < 0.5:
        library = {f"m{k}.o": (defined[k], some(4)) for k in range(members)}
        others = [({f"helper{k}"}, some(3)) for k in range(int(rng.integers(6)))]
        return [({"main"}, some(2)), *others], library
    before = [some(1), *({names[2 * k]} for k in range(members - 1))]
    library = {f"m{k}.o": (defined[k], before[k]) for k in range(members)}
    return [({"main"}, {names[2 * members - 1]}), ({"helper"}, some(1))], library


def picked(fatbinary: list[str], gpu: int) -> str:
    found = "none"
    for gpu_code in (False, True):  # machine code last, so that it wins
        for number in sorted({int(n.partition("_")[2].rstrip("a")) for n in fatbinary}):
            kind = "sm" if gpu_code else "compute"
            same = number // 10 == gpu // 10 if gpu_code else True
            if f"{kind}_{number}" in fatbinary and number <= gpu and same:
                found = f"{kind}_{number}"
            if f"{kind}_{number}a" in fatbinary and number == gpu:
                found = f"{kind}_{number}a"
    return found


def drawn_fatbinary(rng: np.random.Generator) -> tuple[list[str], int]:
    names = [
        f"{kind}_{gpu}{end}"
        for kind in ("sm", "compute")
        for gpu in GPUS
        for end in (("", "a") if gpu >= 90 else ("",))
    ]
    chosen = rng.permutation(len(names))[: int(rng.integers(0, 7))]
    return [names[i] for i in chosen], int(rng.choice(GPUS))


NAMES = {"twice": {"sum"}, "undefined": {"_Z3dotPKfS0_i", "norm"}, "C": {"dot", "norm"}}


def as_read(function: Callable[[], Any]) -> tuple[str, ...] | None:
    """Each question of the report, and whether its names are right."""
    found = function()
    if found is None:
        return None
    if not isinstance(found, dict) or not found.keys() <= NAMES.keys():
        raise LessonError(
            'return a dictionary, such as {"twice": ["dot"], "undefined": [], "C": []}'
        )
    if not all(isinstance(names, (list, tuple, set)) for names in found.values()):
        raise LessonError('give each name in a list, such as ["dot"]')
    return tuple(
        f"{what}: {'right' if set(found.get(what, ())) == names else 'not yet'}"
        for what, names in NAMES.items()
    )


READ_SYMBOLS = PythonExercise(
    cases=((),),
    reference=lambda: tuple(f"{what}: right" for what in NAMES),
    call=as_read,
    start="Write down every T and every U with its file, as nm has it, and cross out the pairs.",
    contract="There is one report to read.",
)

LINKED = PythonExercise(
    cases=(
        ([({"main"}, {"norm"})], MATHS),
        ([({"main"}, {"dot"}), ({"help"}, set())], MATHS),
        ([({"main"}, set())], MATHS),
        ([({"main", "divide"}, {"mean"})], MATHS),
        ([({"main"}, {"mean", "draw"})], MATHS),
        ([({"main"}, {"dot"})], {}),
        ([], MATHS),
        (
            [({"main"}, {"a"})],
            {"a.o": ({"a"}, {"b", "c"}), "b.o": ({"b"}, {"d"}), "c.o": ({"c"}, set())},
        ),
        ([({"main"}, {"f150"})], {f"{k}.o": ({f"f{k}"}, {f"f{k - 1}"}) for k in range(1, 151)}),
    ),
    reference=linked,
    contract=DrawnCases(drawn_link),
)

REBUILT = PythonExercise(
    cases=(
        (RULES, FRESH, "app"),
        (RULES, {**FRESH, "sum.c": 9}, "app"),
        (RULES, {**FRESH, "sum.h": 9}, "app"),
        (RULES, {"main.c": 1, "sum.c": 1, "sum.h": 1}, "app"),
        (RULES, {**FRESH, "main.c": 9}, "sum.o"),
        (RULES, {**FRESH, "main.o": 7}, "app"),
        (RULES, {**FRESH, "main.c": 4}, "app"),
        (CHAIN, {"source": 5, "a": 4, "b": 6, "c": 6, "all": 9}, "all"),
        (CHAIN, {"source": 5, "a": 4, "c": 6}, "all"),
        (RULES, FRESH, "sum.c"),
        ({"app": ["notes"], "notes": []}, {"notes": 5, "app": 6}, "app"),
        ({"app": ["notes"], "notes": []}, {"app": 6}, "app"),
        ({"app": ["main.c"]}, {"main.c": -3}, "app"),
        ({"app": ["main.c"]}, {"main.c": 0, "app": 0}, "app"),
        ({"app": ["main.c"]}, {"main.c": 2.75, "app": 2.5}, "app"),
        (
            RULES,
            {name: 1_700_000_000 + time for name, time in {**FRESH, "sum.c": 9}.items()},
            "app",
        ),
        ({"app": ["main.c"]}, {"main.c": 10**18 + 2, "app": 10**18 + 1}, "app"),
        ({"app": ["main.c"]}, {"main.c": 2.0000001, "app": 2}, "app"),
        (
            {"all": ["app"], "app": ["main.o"], "main.o": ["main.c"]},
            {"all": 10**19, "app": 10**18, "main.o": 1, "main.c": 2},
            "all",
        ),
        (
            {"app": [f"{k}" for k in range(300)]},
            {f"{k}": k for k in range(300)} | {"app": 298},
            "app",
        ),
        ({f"{k}": [f"{k + 1}"] for k in range(100)}, {"100": 1}, "0"),
        ({"app": ["z.o", "a.o"], "z.o": ["c"], "a.o": ["c"]}, {"c": 1}, "app"),
        (
            {"app": ["a.o", "b.o"], "a.o": ["a.c"], "b.o": ["b.c"]},
            {"a.c": 5, "a.o": 4, "b.c": 1, "b.o": 2, "app": 9},
            "app",
        ),
    ),
    seconds=5.0,
    reference=rebuilt,
    contract=DrawnCases(drawn_rules, large=lambda: ((DIAMONDS, {"40": 1}, "0"),)),
)

LIST_LENGTH = HostExercise(
    cases=(
        "1 2 3",
        "",
        "7",
        "2147483647 -2147483648",
        "5 5 5",
        "0 0 -1 -1 7 0",
        " ".join(map(str, range(1000))),
    ),
    reference=list_answer,
    contract=DrawnCases(
        lambda rng: " ".join(map(str, whole(rng, int(rng.integers(0, 20)), -(2**31), 2**31 - 1))),
        large=lambda: (" ".join(map(str, range(300_000))),),
    ),
    bug=kinds.NULL_POINTER,
)

PICKED = PythonExercise(
    cases=(
        *((names, gpu) for names in FATBINARIES for gpu in GPUS),
        (["compute_100", "compute_90"], 103),  # as texts the other one is larger
        (["sm_80", "compute_86"], 89),  # made for 8.6, and still no machine code
        (["sm_100", "compute_90"], 120),  # both begin with a 1
        (["sm_100"], 120),
        ([f"{kind}_{gpu}" for gpu in GPUS for kind in ("sm", "compute")], 120),
        (["sm_80", "compute_86"], 86),  # machine code, although the PTX is nearer
        (["compute_90", "sm_90"], 90),
        (["sm_90a", "sm_90"], 90),
        (["sm_90", "compute_90a"], 90),
        (["compute_120a", "compute_120"], 120),
    ),
    reference=picked,
    contract=DrawnCases(drawn_fatbinary, count=60),
)
