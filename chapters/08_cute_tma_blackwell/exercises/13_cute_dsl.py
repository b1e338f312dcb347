"""The exercises of "CuTe in Python"."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from course_utils.exercises import (
    Cases,
    Exercise,
    Promises,
    PythonExercise,
    empty,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.vectors import one_thread_each, spare_blocks

FOLDER = "08_cute_tma_blackwell/exercises"

# --- What a tracer leaves ---

NAMES = ("a", "b", "n", "steps")


def traced(program: list, known: dict) -> int:
    """By a tracer that writes its instructions into a list; None is a value nobody knows."""
    code: list = []

    def sets(body: list) -> dict:
        found: dict = {}
        for statement in body:
            match statement:
                case ("set", name, *_):
                    found[name] = None
                case (_, _, *bodies):
                    for part in bodies:
                        found |= sets(part)
        return found

    def run(body: list, env: dict) -> None:
        def of(operand: int | str) -> int | None:
            return env.get(operand) if isinstance(operand, str) else operand

        for statement in body:
            match statement:
                case ("set", name, op, left, right):
                    a, b = of(left), of(right)
                    if a is None or b is None:
                        code.append(op)
                        env[name] = None
                    else:
                        env[name] = {"+": a + b, "-": a - b, "*": a * b}[op]
                case ("repeat", count, inner):
                    if (times := of(count)) is None:
                        code.extend(("compare", "jump"))
                        run(inner, env | sets(inner))
                        env.update(sets(inner))
                    else:
                        for _ in range(times):
                            run(inner, env)
                case ("if", condition, inner, other):
                    if (holds := of(condition)) is None:
                        code.extend(("compare", "jump"))
                        run(inner, dict(env))
                        run(other, dict(env))
                        env.update(sets([*inner, *other]))
                    else:
                        run(inner if holds else other, env)

    run(program, dict(known))
    return len(code)


def any_program(rng: np.random.Generator) -> tuple:
    def operand() -> Any:
        return str(rng.choice((*NAMES, "x"))) if rng.random() < 0.7 else int(rng.integers(-3, 4))

    def body(depth: int) -> list:
        return [statement(depth) for _ in range(int(rng.integers(1, 4)))]

    def statement(depth: int) -> tuple:
        kind = rng.random()
        if depth and kind < 0.25:
            count = str(rng.choice(("steps", "n"))) if rng.random() < 0.6 else int(rng.integers(4))
            return "repeat", count, body(depth - 1)
        if depth and kind < 0.5:
            return "if", operand(), body(depth - 1), body(depth - 1)
        return (
            "set",
            str(rng.choice(("a", "b", "x"))),
            str(rng.choice(list("+-*"))),
            *(operand() for _ in range(2)),
        )

    known = {name: int(rng.integers(0, 5)) for name in NAMES if rng.random() < 0.5}
    return body(2) + body(2), known


HORNER = [("set", "y", "*", "y", "x"), ("set", "y", "+", "y", "c")]

STAGED = PythonExercise(
    id="08.instructions_left",
    title="what does a tracer leave?",
    task="""
Write `instructions_left(program, known)`: how many instructions a tracer writes for a program. The
program is a list of tuples, as the comment above the function describes them; `known` has the names
whose values are known while tracing. All other names come with the launch. What is computed from
known values is known, too, and costs nothing. What a body sets is found by reading it: a `set` in
it that is never reached counts as well.
""",
    source=f"{FOLDER}/instructions_left.py",
    function="instructions_left",
    cases=(
        ([("set", "y", "+", "x", 1)], {}),
        ([("set", "y", "+", "x", 1)], {"x": 4}),
        ([("set", "y", "*", "x", 0)], {}),
        ([("set", "y", "*", "x", -1)], {"x": 4}),
        ([], {"x": 1}),
        ([("repeat", 20_000, HORNER)], {}),
        ([("set", "k", "*", 65_536, 65_536), ("if", "k", HORNER, [])], {}),
        ([("repeat", 4, HORNER)], {"c": 2}),
        ([("repeat", "n", HORNER)], {"c": 2}),
        ([("repeat", "n", HORNER)], {"c": 2, "n": 3}),
        ([("repeat", "n", HORNER)], {"c": 2, "n": 3, "x": 5, "y": 0}),
        ([("repeat", "n", HORNER), ("set", "z", "+", "y", 1)], {"c": 2, "x": 5, "y": 0}),
        ([("set", "n", "-", "m", 2), ("repeat", "n", HORNER)], {"m": 5}),
        ([("if", "p", [("set", "y", "+", "x", 1)], HORNER)], {"p": 0}),
        ([("if", "p", [("set", "y", "+", "x", 1)], HORNER)], {"p": -1}),
        ([("if", "p", [("set", "y", "+", "x", 1)], HORNER)], {}),
        ([("if", "p", [("set", "k", "+", 1, 1)], []), ("set", "y", "+", "k", 1)], {"k": 3}),
        ([("if", "p", [("set", "k", "+", 1, 1)], [("set", "y", "+", "k", 1)])], {}),
        ([("repeat", "n", [("set", "k", "+", 1, 1)]), ("set", "y", "+", "k", 1)], {}),
        ([("if", 1, [("set", "k", "+", 1, 1)], []), ("set", "y", "+", "k", 1)], {}),
        ([("if", "p", [], [("set", "k", "+", 1, 1)]), ("set", "y", "+", "k", 1)], {"k": 3}),
        (
            [
                ("if", "p", [("if", 0, [("set", "k", "+", 1, 1)], [])], []),
                ("set", "y", "+", "k", 1),
            ],
            {"k": 3},
        ),
        ([("set", "k", "-", 1, 2), ("if", "k", [("set", "y", "+", "x", 1)], [])], {}),
        ([("set", "k", "+", "x", 0), ("set", "y", "+", "k", 1)], {"k": 3}),
        ([("repeat", "n", [("set", "y", "+", "k", 1), ("set", "k", "+", 1, 1)])], {"k": 3}),
        ([("repeat", 0, [("set", "k", "+", "x", 1)]), ("set", "y", "+", "k", 1)], {"k": 3}),
        ([("repeat", 2, [("repeat", 3, [("set", "y", "+", "y", 1)])])], {}),
    ),
    reference=traced,
    promises=Cases(any_program, count=48),
    means="Any way to the number is right.",
    hints=(
        'Keep a dictionary of what is known now. A "set" either puts its name in, with its '
        "value, or takes it out.",
        "Both bodies of an undecided `if` begin with what was known before it: give each a copy.",
        "The body of an undecided `repeat` may run after itself: take out what it sets, count it, "
        "and take the names out again.",
    ),
    explanation="""
This is the DSL's whole bargain. A Python number is gone when the kernel runs: it has chosen a side,
unrolled a loop, or become a constant in an instruction. What comes with the launch costs
instructions, and makes unknown what depends on it. Templates do the same for C++ with another
language inside the language; here it is the same Python on both sides, so that you have to know on
which side a name stands.
""",
    mutants=(
        mutant("nothing is known", kinds.WRONG, ("now = dict(known)", "now = {}")),
        mutant(
            "a known result is forgotten",
            kinds.WRONG,
            ("            now[name] = compute[op](left, right)\n", ""),
        ),
        mutant(
            "stays known",
            kinds.WRONG,
            ("now.pop(name, None)\n                return 1", "return 1"),
        ),
        mutant(
            "zero is not known",
            kinds.WRONG,
            ("if left is None or right is None", "if not left or not right"),
        ),
        mutant(
            "both have to be unknown",
            kinds.EXCEPTION,
            ("if left is None or right is None", "if left is None and right is None"),
        ),
        mutant(
            "never unrolled",
            kinds.WRONG,
            (
                "            if decided is not None:\n                return sum(",
                "            if False:\n                return sum(",
            ),
        ),
        mutant(
            "unrolled, but written once",
            kinds.WRONG,
            ("return sum(trace(bodies[0]) for _ in range(decided))", "return trace(bodies[0])"),
        ),
        mutant(
            "multiplied",
            kinds.WRONG,
            (
                "return sum(trace(bodies[0]) for _ in range(decided))",
                "return decided * trace(bodies[0])",
            ),
        ),
        mutant(
            "a loop for nothing",
            kinds.WRONG,
            ("count = 2 + trace(bodies[0])", "count = trace(bodies[0])"),
        ),
        mutant(
            "known in the loop",
            kinds.WRONG,
            ("            forget(*bodies)\n            count = 2", "            count = 2"),
        ),
        mutant(
            "known behind the loop",
            kinds.WRONG,
            ("trace(bodies[0])\n            forget(*bodies)\n", "trace(bodies[0])\n"),
        ),
        mutant(
            "sides the other way round",
            kinds.WRONG,
            ("bodies[0] if decided else bodies[1]", "bodies[1] if decided else bodies[0]"),
        ),
        mutant(
            "only a positive condition holds",
            kinds.WRONG,
            ("bodies[0] if decided else", "bodies[0] if decided > 0 else"),
        ),
        mutant(
            "one side leaks into the other",
            kinds.WRONG,
            ("            now = dict(before)\n", ""),
        ),
        mutant(
            "known behind the if",
            kinds.WRONG,
            ("        now = before\n        forget(*bodies)\n", "        now = before\n"),
        ),
        mutant(
            "what the other side sets stays known",
            kinds.WRONG,
            ("now = before\n        forget(*bodies)", "now = before\n        forget(bodies[0])"),
        ),
        mutant(
            "what is not reached stays known",
            kinds.WRONG,
            ("for part in rest:", "for part in rest[first == 0 :]:"),
        ),
        mutant(
            "no number below zero",
            kinds.WRONG,
            ('"-": int.__sub__', '"-": lambda a, b: max(0, a - b)'),
        ),
    ),
)

# --- Alignment that can be proved ---


def tried_out(start: int, element: int, modes: list) -> int:
    """By addresses: several multiples of each number that is known to be one."""
    addresses = [start, 3 * start]
    for coordinate, stride in modes:
        terms = {element * coordinate * c * stride * s for c, s in product((0, 1, 3), (1, 5))}
        addresses = list({address + term for address in addresses for term in terms})
    return max(w for w in (1, 2, 4, 8, 16) if all(address % w == 0 for address in addresses))


def any_tensor(rng: np.random.Generator) -> tuple:
    numbers = (0, 1, 1, 2, 3, 4, 6, 8, 12, 16, 24, 64, 100, 128, 1 << 33, 3 << 44)
    modes = [
        (int(rng.choice(numbers)), int(rng.choice(numbers))) for _ in range(int(rng.integers(0, 4)))
    ]
    most = int(rng.choice((9, 60)))
    return 1 << int(rng.integers(0, most)), int(rng.choice((1, 2, 4, 8, 12))), modes


ALIGNED = PythonExercise(
    id="08.proved_alignment",
    title="which access can be proved?",
    task="""
Write `proved_alignment(start, element, modes)`: the widest of 16, 8, 4, 2 and 1 bytes of which the
address is a multiple, whatever the numbers turn out to be at run time. A tile of 64 columns
whose rows are K apart, K a multiple of 8, would have the modes `[(1, 8), (64, 1)]`: any row times
K, and any multiple of 64 with the stride 1. `start` is at least 1; negative numbers do not occur.
""",
    source=f"{FOLDER}/proved_alignment.py",
    function="proved_alignment",
    cases=(
        (16, 2, [(1, 8), (64, 1)]),
        (16, 2, [(1, 1), (64, 1)]),
        (4, 2, [(1, 8), (64, 1)]),
        (256, 4, []),
        (3, 4, []),
        (16, 2, [(1, 0), (8, 1)]),
        (16, 2, [(0, 1), (8, 1)]),
        (16, 2, [(0, 1), (1, 1)]),
        (128, 4, [(1, 6)]),
        (128, 2, [(1, 12), (8, 1)]),
        (64, 12, [(1, 1)]),
        (16, 1, [(2, 2), (2, 8)]),
        (16, 8, [(1, 1)]),
        (32, 2, [(64, 64)]),
        (64, 4, [(16, 1), (1, 8), (0, 5), (32, 3), (4, 4), (1, 1)]),
        (32, 1, [(4, 1), (4, 1)]),
        (1 << 50, 4, []),
        (1 << 44, 2, [(1 << 41, 1), (0, 1 << 33)]),
    ),
    reference=tried_out,
    promises=Cases(any_tensor, count=48),
    means="Trying addresses is as right as a greatest common divisor.",
    hints=(
        "A sum is surely a multiple of w only if each of its terms is.",
        "A term is a multiple of `element * coordinate * stride`, the known divisors multiplied.",
        "`math.gcd` of all terms, of `start` and of 16. It takes 0 for a multiple of everything.",
    ),
    explanation="""
That is what the DSL keeps beside every pointer and what `cute.assume` adds to. It refused the copy
since K could have been 1: rows of bf16 would then begin at any even address. C++ CuTe
takes your word for it, and a row that begins elsewhere shows when the kernel runs, as in
notebook 03.
""",
    mutants=(
        mutant("start is forgotten", kinds.WRONG, ("common = start", "common = 0")),
        mutant("in elements", kinds.WRONG, ("element * coordinate", "coordinate")),
        mutant(
            "coordinates are forgotten",
            kinds.WRONG,
            ("element * coordinate * stride", "element * stride"),
        ),
        mutant(
            "strides are forgotten",
            kinds.WRONG,
            ("element * coordinate * stride", "element * coordinate"),
        ),
        mutant(
            "the last mode decides",
            kinds.WRONG,
            ("math.gcd(common, element", "math.gcd(start, element"),
        ),
        mutant(
            "the least",
            kinds.WRONG,
            (
                "math.gcd(common, element * coordinate * stride)",
                "min(common, element * coordinate * stride)",
            ),
        ),
        mutant(
            "a zero ends the sum",
            kinds.WRONG,
            (
                "        common = math.gcd(common, element",
                "        if coordinate * stride == 0:\n            break\n"
                "        common = math.gcd(common, element",
            ),
        ),
        mutant("no widest", kinds.WRONG, ("math.gcd(common, 16)", "common")),
        mutant(
            "below 2^40 alone",
            kinds.WRONG,
            (
                "return math.gcd(common, 16)",
                "return math.gcd(common, 16) if common < 1 << 40 else 1",
            ),
        ),
        mutant("capped, not divided", kinds.WRONG, ("math.gcd(common, 16)", "min(common, 16)")),
        mutant(
            "in bits",
            kinds.WRONG,
            ("return math.gcd(common, 16)", "return 8 * math.gcd(common, 16)"),
        ),
        mutant(
            "any will do",
            kinds.WRONG,
            (
                "math.gcd(common, element * coordinate * stride)",
                "max(common, element * coordinate * stride)",
            ),
        ),
    ),
)

# --- Division as Python has it ---

LEAST, MOST = np.iinfo(np.int32).min, np.iinfo(np.int32).max


def pairs(rng: np.random.Generator, n: int) -> dict:
    a = rng.integers(-1000, 1000, n, dtype=np.int32)
    b = rng.integers(1, 40, n, dtype=np.int32) * rng.choice(np.int32([-1, 1]), n)
    return {
        "a": a,
        "b": b,
        "quotient": empty(n, np.int32),
        "rest": empty(n, np.int32),
        "n": np.int32(n),
    }


def any_int(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(LEAST + 1, MOST, x.shape, endpoint=True)


def ends(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.choice([LEAST + 1, LEAST + 2, -1, 0, 1, MOST - 1, MOST], x.shape)


def not_zero(change: Any) -> Any:
    return lambda x, rng: np.where((found := change(x, rng)) == 0, 7, found)


DIVIDED = Exercise(
    id="08.floor_division",
    title="Python's division in C++",
    task="""
Compute `a // b` and `a % b` as Python does, for whole arrays: the quotient is rounded *down*, and
the rest has the sign of `b`. All ints are tried but b = 0 and the least int, -2147483648.
""",
    source=f"{FOLDER}/floor_division.cu",
    kernel="floor_division",
    inputs=pairs,
    reference=lambda given: {
        "quotient": given["a"].astype(np.int64) // given["b"],
        "rest": given["a"].astype(np.int64) % given["b"],
    },
    launch=one_thread_each,
    small=(1000, 257, 31, 1),
    full=1 << 24,
    promises=Promises(
        sizes=promises.lengths(),
        launches=spare_blocks,
        values=(
            promises.data(
                "a", promises.NEGATIVE, promises.TIES, ("any ints", any_int), ("the ends", ends)
            ),
            promises.data(
                "b",
                promises.POSITIVE,
                promises.NEGATIVE,
                ("small", not_zero(lambda x, rng: rng.integers(-3, 4, x.shape))),
                ("any ints", not_zero(any_int)),
                ("the ends", not_zero(ends)),
            ),
        ),
    ),
    means=(means.one_store_each(), means.work_shared_out()),
    hints=(
        "-7 / 2 is -3 in C and -4 in Python; 7 / 2 is 3 in both. When do they differ?",
        "When there is a rest whose sign is not that of `b`: then the quotient is one too large.",
        "`const bool down = left != 0 && (left < 0) != (b[i] < 0);` and the rest gains `b[i]`.",
    ),
    explanation="""
Rounding down is what index arithmetic wants: -1 // 128 is tile -1, and a place in a tile is never
negative. C rounds towards zero, as most processors' dividers do. So a compiler that keeps Python's
promise adds a comparison of signs, unless it can prove that nothing is negative. For b = 128 alone
rounding down would be the cheaper one: a shift to the right.
""",
    mutants=(
        mutant("as C has it", kinds.WRONG, ("left != 0 && (left < 0) != (b[i] < 0)", "false")),
        mutant(
            "one less whenever signs differ", kinds.WRONG, ("left != 0 && (left < 0)", "(a[i] < 0)")
        ),
        mutant("b is positive", kinds.WRONG, ("(left < 0) != (b[i] < 0)", "left < 0")),
        mutant("a is positive", kinds.WRONG, ("(left < 0) != (b[i] < 0)", "b[i] < 0")),
        mutant("rest as C has it", kinds.WRONG, ("left + (down ? b[i] : 0)", "left")),
        mutant(
            "rest is never negative",
            kinds.WRONG,
            ("left + (down ? b[i] : 0)", "left < 0 ? left + abs(b[i]) : left"),
        ),
        mutant("rounded up", kinds.WRONG, ("towards_zero - down", "towards_zero + down")),
        mutant(
            "by floats", kinds.WRONG, ("towards_zero - down", "(int)floorf((float)a[i] / b[i])")
        ),
        mutant("product of signs", kinds.WRONG, ("(left < 0) != (b[i] < 0)", "a[i] * b[i] < 0")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("the last one missed", kinds.EDGES, ("i < n", "i < n - 1")),
        mutant(
            "rest is not stored",
            kinds.NOTHING_WRITTEN,
            ("        rest[i] = left + (down ? b[i] : 0);\n", ""),
        ),
    ),
)

EXERCISES = (STAGED, ALIGNED, DIVIDED)
