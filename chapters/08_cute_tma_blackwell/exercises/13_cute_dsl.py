"""The exercises of "The CuTe DSL"."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any

import numpy as np

from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.claims import read_report
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import empty
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.vectors import one_thread_each, spare_blocks

# --- What a tracer leaves ---

NAMES = ("a", "b", "n", "steps")


def traced(program: list[Any], known: dict[str, Any]) -> int:
    """By a tracer that writes its instructions into a list. None is an unknown value."""
    code: list[Any] = []

    def sets(body: list[Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for statement in body:
            match statement:
                case ("set", name, *_):
                    found[name] = None
                case (_, _, *bodies):
                    for part in bodies:
                        found |= sets(part)
        return found

    def run(body: list[Any], env: dict[str, Any]) -> None:
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


def any_program(rng: np.random.Generator) -> tuple[Any, ...]:
    def operand() -> Any:
        return str(rng.choice((*NAMES, "x"))) if rng.random() < 0.7 else int(rng.integers(-3, 4))

    def body(depth: int) -> list[Any]:
        return [statement(depth) for _ in range(int(rng.integers(1, 4)))]

    def statement(depth: int) -> tuple[Any, ...]:
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

INSTRUCTIONS_LEFT = PythonExercise(
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
    contract=DrawnCases(any_program, count=48),
)

# --- Alignment that can be proved ---


def tried_out(start: int, element: int, modes: list[Any]) -> int:
    """By addresses: several multiples of each number that is known to be one."""
    addresses = [start, 3 * start]
    for coordinate, stride in modes:
        terms = {element * coordinate * c * stride * s for c, s in product((0, 1, 3), (1, 5))}
        addresses = list({address + term for address in addresses for term in terms})
    return max(w for w in (1, 2, 4, 8, 16) if all(address % w == 0 for address in addresses))


def any_tensor(rng: np.random.Generator) -> tuple[Any, ...]:
    numbers = (0, 1, 1, 2, 3, 4, 6, 8, 12, 16, 24, 64, 100, 128, 1 << 33, 3 << 44)
    modes = [
        (int(rng.choice(numbers)), int(rng.choice(numbers))) for _ in range(int(rng.integers(0, 4)))
    ]
    most = int(rng.choice((9, 60)))
    return 1 << int(rng.integers(0, most)), int(rng.choice((1, 2, 4, 8, 12))), modes


PROVED_ALIGNMENT = PythonExercise(
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
        (64, 2, [((1 << 31) + 1, 1)]),
        (64, 4, [(1 << 20, 1), ((1 << 20) + 1, (1 << 20) + 1)]),
    ),
    reference=tried_out,
    contract=DrawnCases(any_tensor, count=48),
)

# --- Division as Python has it ---

LEAST, MOST = np.iinfo(np.int32).min, np.iinfo(np.int32).max


def pairs(rng: np.random.Generator, n: int) -> Given:
    a = rng.integers(-1000, 1000, n, dtype=np.int32)
    b = rng.integers(1, 40, n, dtype=np.int32) * rng.choice(np.array([-1, 1], np.int32), n)
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


FLOOR_DIVISION = KernelExercise(
    inputs=pairs,
    reference=lambda given: {
        "quotient": given["a"].astype(np.int64) // given["b"],
        "rest": given["a"].astype(np.int64) % given["b"],
    },
    launch=one_thread_each,
    small=(1000, 257, 31, 1),
    full=1 << 24,
    contract=Domain(
        sizes=domain.lengths(),
        launches=spare_blocks,
        values=(
            domain.data(
                "a", domain.NEGATIVE, domain.TIES, ("any ints", any_int), ("the ends", ends)
            ),
            domain.data(
                "b",
                domain.POSITIVE,
                domain.NEGATIVE,
                ("small", not_zero(lambda x, rng: rng.integers(-3, 4, x.shape))),
                ("any ints", not_zero(any_int)),
                ("the ends", not_zero(ends)),
            ),
        ),
    ),
    method=(method.one_store_per_result(), method.balanced_work()),
)

# --- A Hopper kernel, counted ---


def opcodes_left(plan: dict[str, int]) -> tuple[int, ...]:
    """By walking through the kernel as a tracer does."""
    left = dict.fromkeys(("wgmma", "load", "store", "stmatrix", "init"), 0)
    for _ in range(plan["STAGES"]):
        left["init"] += len(("full", "empty"))
    left["load"] += len("AB")
    for _ in range(0, plan["BK"], 16):
        left["wgmma"] += 1
    for _ in range(0, plan["BN"], 64):
        left["stmatrix"] += 16 * 64 // (4 * 8 * 8)
        left["store"] += 1
    return tuple(left.values())


def any_plan(rng: np.random.Generator) -> tuple[dict[str, int]]:
    choices = {"BM": (64, 128, 192), "BN": (64, 128, 192, 256), "BK": (16, 32, 64, 128)}
    plan = {name: int(rng.choice(values)) for name, values in choices.items()}
    return ({**plan, "STAGES": int(rng.integers(1, 9))},)


HOPPER_COUNTS = PythonExercise(
    cases=(
        ({"BM": 128, "BN": 256, "BK": 64, "STAGES": 4},),
        ({"BM": 64, "BN": 128, "BK": 64, "STAGES": 6},),
        ({"BM": 64, "BN": 64, "BK": 16, "STAGES": 1},),
        ({"BM": 192, "BN": 192, "BK": 32, "STAGES": 3},),
    ),
    reference=opcodes_left,
    contract=DrawnCases(any_plan, count=24),
)

# --- A box of accumulators ---


def registers_of(answer: Callable[[int, int], Any], columns: int, i: int) -> tuple[int, ...]:
    """The register of each of a thread's results of the box, by the answer's layout."""
    found = answer(columns, i)
    if not isinstance(found, (tuple, list)) or len(found) != 3:
        raise LessonError("return (first register, shape, strides)")
    first, shape, strides = found
    numbers = (
        isinstance(first, int),
        *(
            isinstance(modes, (tuple, list)) and all(isinstance(n, int) for n in modes)
            for modes in (shape, strides)
        ),
    )
    if not all(numbers) or len(shape) != len(strides):
        raise LessonError("the first register is an int, shape and strides are tuples of ints")
    if prod(shape) > 1 << 10 or min(shape, default=1) < 1:
        raise LessonError(f"a thread's registers don't have the shape {tuple(shape)}")
    return tuple(
        first + sum(c * s for c, s in zip(reversed(at), strides, strict=True))
        for at in product(*map(range, reversed(shape)))
    )


def held_by_a_thread(columns: int, i: int) -> tuple[int, ...]:
    """By the columns that the registers of wgmma hold: two neighbours of eight, in two rows."""
    column_of = [8 * (register // 4) + register % 2 for register in range(columns * (i + 1))]
    inside = range(columns * i, columns * (i + 1))
    return tuple(register for register, column in enumerate(column_of) if column in inside)


REPAIRED_BOX = PythonExercise(
    function="box_of",
    bug=kinds.WRONG,
    cases=((16, 0), (16, 1), (64, 0), (64, 3), (8, 5), (32, 2)),
    reference=held_by_a_thread,
    call=registers_of,
    compared="names the registers",
    exact=True,
    contract=DrawnCases(
        lambda rng: (8 * int(rng.integers(1, 9)), int(rng.integers(0, 4))), count=24
    ),
)

# --- What is missing, by the opcodes ---

MISSING = {
    "A": ("nothing", 0),
    "B": ("proxy fence", 4),
    "C": ("expected bytes", 2),
    "D": ("wait for loads", 8),
    "E": ("nothing", 0),
}
READ_THE_OPCODES = read_report(
    MISSING,
    MISSING.__getitem__,
    {name for name, _ in MISSING.values()},
    example='("nothing", 0)',
    other_name="Which row starts something in this column, and which row would order it?",
    other_number="The name is right. Count the instructions that are unordered, in their own row.",
    function="missing_order",
)

# --- A number compiled in, or an argument ---


def worth_it(numbers: list[int], seconds: float, time: float, gain: float) -> tuple[str, float]:
    launches = np.full(len(numbers), time * 1e-6)
    argument = seconds + launches.sum()
    constant = seconds * np.unique(numbers).size + (launches - gain * 1e-6).sum()
    return ("argument", argument) if argument <= constant else ("constexpr", constant)


def some_launches(rng: np.random.Generator) -> tuple[list[int], float, float, float]:
    values, count = int(rng.integers(1, 6)), int(rng.choice([1, 10, 1000]))
    numbers = [int(n) for n in rng.integers(0, values, count)]
    seconds = float(rng.choice([0.0, 1e-4, 0.01, 2.0]))
    return numbers, seconds, float(rng.choice([50.0, 90.0])), float(rng.choice([0.0, 5.0, 20.0]))


CHOOSE_KNOWN = PythonExercise(
    cases=(
        ([5, 6], 0.5, 500.0, 400.0),
        ([128, 64, 96, 256] * 500, 2.0, 90.0, 10.0),
        ([128, 64, 96, 256] * 500, 0.004, 90.0, 10.0),
        ([7], 2.0, 90.0, 10.0),
        ([7, 7, 7], 0.5, 1e6, 0.0),
        ([5, 6] * 4, 3.5, 2e6, 5e5),
        ([5, 6] * 4, 4.0, 2e6, 5e5),
        (list(range(1000)), 2.0, 500.0, 400.0),
        (list(range(1000)), 0.0, 500.0, 400.0),
    ),
    reference=worth_it,
    start="How many kernels are compiled either way? How much do the launches save?",
    contract=DrawnCases(some_launches, count=24),
)
