"""The exercises of "Building programs"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import Cases, HostExercise, PythonExercise, kinds, mutant

from .common import whole

RULES = {
    "app": ["main.o", "sum.o"],
    "main.o": ["main.c", "sum.h"],
    "sum.o": ["sum.c", "sum.h"],
}
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

FATBINARIES = (
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


def rebuilt(rules: dict, changed: dict, target: str) -> list[str]:
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


def drawn_rules(rng: np.random.Generator) -> tuple[dict, dict, str]:
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


def linked(objects: list, library: dict) -> tuple[list[str], list[str]]:
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


def drawn_link(rng: np.random.Generator) -> tuple[list, dict]:
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


LINKED = PythonExercise(
    id="02.linked",
    title="what a linker takes from a library",
    task="""
An object file is always part of the program; a member of a static library only if somebody needs
it. Work out which members a linker takes, and which names stay undefined.
""",
    source="02_c_and_cpp/exercises/linked.py",
    function="linked",
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
    promises=Cases(drawn_link),
    means="Any way to the right lists is a good one.",
    hints=(
        "`set().union(*(names for names, _ in objects))` is all that the objects define.",
        "Undefined is `used - defined`. A member helps where it defines one of these.",
        "A member that is taken may use names of its own: look at all the others once more.",
        "Stop when a whole round takes nothing.",
    ),
    explanation="""
So a large library costs a program only what it uses. GNU's linkers go through the files once, in
the order of the command line, and a library that stands before the object that needs it is passed
by: hence `gcc main.o -lmaths` and not `gcc -lmaths main.o`. LLVM's lld looks back, so that a wrong
order may come to light on another machine.
""",
    mutants=(
        mutant("two rounds", kinds.NOTHING_RETURNED, ("while True:", "for _ in range(2):")),
        mutant(
            "one need of each member",
            kinds.WRONG,
            ("used |= library[member][1]", "used |= set(sorted(library[member][1])[:1])"),
        ),
        mutant(
            "two objects at most",
            kinds.WRONG,
            ("(names for _, names in objects)", "(names for _, names in objects[:2])"),
        ),
        mutant(
            "one object at least",
            kinds.EXCEPTION,
            ("set().union(*(names for names, _", "set.union(*(names for names, _"),
        ),
        mutant("all of it", kinds.WRONG, (" and library[m][0] & (used - defined)", "")),
        mutant(
            "what is defined already",
            kinds.WRONG,
            ("library[m][0] & (used - defined)", "library[m][0] & used"),
        ),
        mutant(
            "its own needs forgotten", kinds.WRONG, ("            used |= library[member][1]\n", "")
        ),
        mutant(
            "not sorted",
            kinds.WRONG,
            ("sorted(taken), sorted(used - defined)", "sorted(taken), used - defined"),
        ),
    ),
)

REBUILT = PythonExercise(
    id="02.rebuilt",
    title="what make builds again",
    task="""
Write the heart of make: which targets does it build, and in which order?
""",
    source="02_c_and_cpp/exercises/rebuilt.py",
    function="rebuilt",
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
    promises=Cases(drawn_rules, large=lambda: ((DIAMONDS, {"40": 1}, "0"),)),
    means="Any way to the right order is a good one.",
    hints=(
        "A function inside the function can call itself for each thing that a target depends on.",
        "After these calls, what they built is in the list: `needed in built`.",
        "The same time is not newer: `changed[needed] > changed[name]`.",
        "Remember what was looked at, so that nothing is built twice.",
    ),
    explanation="""
That is all that make does: it compares times, and follows the dependencies that you wrote down. It
does not look into a file. A header that no rule names can change, and nothing is built: the program
then mixes two versions of a struct. `gcc -MMD` writes such rules for you. Nor does it look at
commands: after a change of `CFLAGS` everything is "up to date". CMake and Ninja notice that.
""",
    mutants=(
        mutant(
            "one that is built builds all",
            kinds.WRONG,
            ("n in built or", "bool(built) or"),
        ),
        mutant(
            "never passed on",
            kinds.WRONG,
            ("n in built or changed[n]", "n in changed and changed[n]"),
        ),
        mutant(
            "the same time counts",
            kinds.WRONG,
            ("changed[n] > changed[name]", "changed[n] >= changed[name]"),
        ),
        mutant(
            "whole seconds",
            kinds.WRONG,
            ("changed[n] > changed[name]", "int(changed[n]) > int(changed[name])"),
        ),
        mutant(
            "floats",
            kinds.WRONG,
            ("changed[n] > changed[name]", "float(changed[n]) > float(changed[name])"),
        ),
        mutant(
            "a hundred at most",
            kinds.WRONG,
            ("for n in rules[name])", "for n in rules[name][:100])"),
        ),
        mutant("twice", kinds.WRONG, ("        seen.add(name)\n", "")),
        mutant(
            "in the order of names", kinds.WRONG, ("in rules[name]:", "in sorted(rules[name]):")
        ),
        mutant(
            "built where nothing is depended on",
            kinds.WRONG,
            ("if missing or any(", "if not rules[name] or missing or any("),
        ),
        mutant(
            "what is missing is of the time 0",
            kinds.WRONG,
            ("        missing = name not in changed\n", "        missing = False\n"),
            ("changed[n] > changed[name]", "changed.get(n, 0) > changed.get(name, 0)"),
        ),
        mutant(
            "the target first",
            kinds.WRONG,
            ("            built.append(name)", "            built.insert(0, name)"),
        ),
        mutant("everything", kinds.WRONG, ("if missing or any(", "if True or any(")),
        mutant(
            "what is built is of a late time",
            kinds.WRONG,
            ("built, seen = [], set()", "built, seen, changed = [], set(), dict(changed)"),
            ("built.append(name)", "built.append(name)\n            changed[name] = 10**12"),
            ("n in built or changed[n]", "changed[n]"),
        ),
        mutant(
            "what is missing fails",
            kinds.EXCEPTION,
            ("        missing = name not in changed\n", "        missing = False\n"),
        ),
    ),
)

LIST_LENGTH = HostExercise(
    id="02.list_length",
    title="find the bug: where does it stop?",
    task="""
This program crashes for one kind of input. Run it, read the line, and ask as a debugger would:
which variable has which value there? Change as little as you can. Any list must come out right, a
long one and an empty one too.
""",
    source="02_c_and_cpp/exercises/list_length.c",
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
    promises=Cases(
        lambda rng: " ".join(map(str, whole(rng, int(rng.integers(0, 20)), -(2**31), 2**31 - 1))),
        large=lambda: (" ".join(map(str, range(300_000))),),
    ),
    bug=kinds.NULL_POINTER,
    hints=(
        "The input that fails is in the verdict. How does main's list look then?",
        "An empty list is NULL, and NULL has no `next`.",
        "`while (list != NULL && list->next != NULL)`: the second half is only looked at where the "
        "first one holds.",
    ),
    explanation="""
`&&` stops at the first half that does not hold, so the order matters. gdb would have shown it in
two commands: `bt` for who called, and `print list` for the value, `0x0`.
""",
    mutants=(
        mutant(
            "the wrong way round",
            kinds.NULL_POINTER,
            ("list != NULL && list->next != NULL", "list->next != NULL && list != NULL"),
        ),
        mutant(
            "or", kinds.NULL_POINTER, ("list != NULL && list->next", "list != NULL || list->next")
        ),
        mutant(
            "one too far",
            kinds.WRONG_OUTPUT,
            ("list != NULL && list->next != NULL", "list != NULL"),
        ),
        mutant(
            "up to two equal ones",
            kinds.WRONG_OUTPUT,
            (
                "list->next != NULL) list",
                "list->next != NULL && list->value != list->next->value) list",
            ),
        ),
        mutant(
            "equal ones once",
            kinds.WRONG_OUTPUT,
            (
                "        struct Node *node = malloc",
                "        if (list != NULL && list->value == value) continue;\n"
                "        struct Node *node = malloc",
            ),
        ),
        mutant(
            "numbers of 16 bits", kinds.WRONG_OUTPUT, ("    int value;\n", "    short value;\n")
        ),
        mutant(
            "a hundred at most",
            kinds.WRONG_OUTPUT,
            (
                "while (list != NULL && list->next != NULL)",
                "for (int k = 0; k < 100 && list != NULL && list->next != NULL; ++k)",
            ),
        ),
        mutant(
            "not at all",
            kinds.WRONG_OUTPUT,
            ("while (list != NULL && list->next != NULL) list = list->next;", ""),
        ),
        mutant(
            "for ever", kinds.TIME_LIMIT, ("!= NULL) list = list->next;", "!= NULL) list = list;")
        ),
    ),
)

PICKED = PythonExercise(
    id="02.picked",
    title="which code does this GPU run?",
    task="""
A fatbinary holds code for several GPUs. Write down which of it the driver takes.
""",
    source="02_c_and_cpp/exercises/picked.py",
    function="picked",
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
    promises=Cases(drawn_fatbinary, count=60),
    means="Any way to the right choice is a good one.",
    hints=(
        '`name.partition("_")` gives the kind and the version; `version.rstrip("a")` is a number.',
        "86 is major 8 and minor 6: `86 // 10` and `86 % 10`.",
        "Tuples are compared from left to right: take `max` of (is it machine code, made for, …).",
    ),
    explanation="""
A program with nothing but `sm_80` and `sm_86` fails on a GPU of 9.0: no kernel image is available.
With `compute_86` beside them the driver compiles that PTX when it is needed. So a build lists the
GPUs it knows, and the PTX of the newest for those that come later.
""",
    mutants=(
        mutant(
            "machine code for all",
            kinds.WRONG,
            ("made_for // 10 == gpu // 10 and made_for <= gpu", "made_for <= gpu"),
        ),
        mutant(
            "the exact one only",
            kinds.WRONG,
            ("made_for // 10 == gpu // 10 and made_for <= gpu", "made_for == gpu"),
        ),
        mutant("a larger minor", kinds.WRONG, (" and made_for <= gpu", "")),
        mutant(
            "PTX for older GPUs",
            kinds.WRONG,
            (
                "            fits = made_for <= gpu\n        if fits",
                "            fits = True\n        if fits",
            ),
        ),
        mutant(
            "a for later ones", kinds.WRONG, ("fits = made_for == gpu", "fits = made_for <= gpu")
        ),
        mutant(
            "the first that fits",
            kinds.WRONG,
            ('best = max(best, (int(kind == "sm"), made_for, exact, name))', "return name"),
        ),
        mutant(
            "of two for the same one the last",
            kinds.WRONG,
            (
                'best = max(best, (int(kind == "sm"), made_for, exact, name))',
                'best = max((int(kind == "sm"), made_for, True, name), best, key=lambda b: b[:2])',
            ),
        ),
        mutant(
            "a list of GPUs",
            kinds.WRONG,
            (
                "        if fits:",
                "        if fits and made_for in (70, 75, 80, 86, 89, 90, 100, 120):",
            ),
        ),
        mutant(
            "compared as texts",
            kinds.WRONG,
            ("best = (-1, -1,", 'best = (-1, "",'),
            ('int(kind == "sm"), made_for,', 'int(kind == "sm"), version,'),
        ),
        mutant(
            "the largest capability first",
            kinds.WRONG,
            ('(int(kind == "sm"), made_for, exact', '(made_for, int(kind == "sm"), exact'),
        ),
        mutant("PTX preferred", kinds.WRONG, ('int(kind == "sm")', 'int(kind != "sm")')),
        mutant(
            "major by its first digit",
            kinds.WRONG,
            ("made_for // 10 == gpu // 10", "str(made_for)[0] == str(gpu)[0]"),
        ),
    ),
)
