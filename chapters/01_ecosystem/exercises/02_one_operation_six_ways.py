"""The exercises of "One operation, six ways"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.checking import difference
from course_utils.errors import LessonError
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.claims import choose_and_defend
from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.exact_formulas import row_softmax
from course_utils.exercises.authoring.spec import PythonExercise

SOFTMAX = {
    "largest": ["x"],
    "shifted": ["x", "largest"],
    "powers": ["shifted"],
    "sums": ["powers"],
    "y": ["powers", "sums"],
}
SIZES = dict.fromkeys(("x", "shifted", "powers", "y"), 4000) | {"largest": 40, "sums": 40}


def program(kernels: list[list[str]]) -> tuple[Any, ...]:
    return SOFTMAX, SIZES, kernels


def any_program(rng: np.random.Generator) -> tuple[Any, ...]:
    """Up to nine operations on earlier results, cut into kernels anywhere; they are written down in
    any order."""
    count = int(rng.integers(1, 10))
    names = ["x", "w", *(f"t{k}" for k in rng.permutation(count))]
    operations = {}
    for k in range(count):
        known = names[: k + 2]
        picked = rng.choice(len(known), int(rng.integers(1, 4)))
        operations[names[k + 2]] = [known[i] for i in picked]
    # From few, so that many arrays have one size.
    sizes = {name: int(rng.choice([4, 40, 400, int(rng.integers(1, 1000))])) for name in names}
    kernels: list[list[str]] = [[]]
    for name in operations:
        if kernels[-1] and rng.random() < 0.5:
            kernels.append([])
        kernels[-1].append(name)
    operations = {name: operations[name] for name in map(str, rng.permutation(list(operations)))}
    return operations, sizes, kernels


def moved(operations: dict[str, Any], sizes: dict[str, Any], kernels: list[list[str]]) -> int:
    where = {name: k for k, kernel in enumerate(kernels) for name in kernel}
    edges = {
        (name, where[result])
        for result, names in operations.items()
        for name in names
        if where.get(name) != where[result]
    }
    stored = {name for name, _ in edges if name in where} | {kernels[-1][-1]}
    return sum(sizes[name] for name, _ in edges) + sum(sizes[name] for name in stored)


TRAFFIC = PythonExercise(
    cases=(
        program([["largest", "shifted", "powers", "sums", "y"]]),
        program([[name] for name in SOFTMAX]),
        program([["largest"], ["shifted", "powers", "sums"], ["y"]]),
        program([["largest", "shifted", "powers"], ["sums", "y"]]),
        ({"y": ["x", "x"]}, {"x": 12, "y": 12}, [["y"]]),
        ({"y": ["t", "x"], "t": ["x"]}, {"x": 6 << 30, "t": (3 << 30) + 1, "y": 4}, [["t"], ["y"]]),
        ({"y": ["x"]}, {"x": (1 << 60) + 1, "y": 4}, [["y"]]),
        (
            {f"t{k}": [f"t{k - 1}", "t0"] for k in range(1, 101)},
            {f"t{k}": k + 1 for k in range(101)},
            [[f"t{k}"] for k in range(1, 101)],
        ),
    ),
    reference=moved,
    contract=DrawnCases(any_program),
)


def some_rows(seed: int, rows: int, columns: int, scale: float = 1.0) -> tuple[np.ndarray]:
    x = np.random.default_rng(seed).standard_normal((rows, columns)) * scale
    return (x.astype(np.float32),)


def any_rows(rng: np.random.Generator) -> tuple[np.ndarray]:
    """Rows of any number of columns; small, large or far from zero."""
    rows, columns = (int(n) for n in rng.integers(1, 40, 2))
    if rng.random() < 0.4:
        columns = rows
    (x,) = some_rows(int(rng.integers(1 << 30)), rows, columns, float(rng.choice([1, 30, 1000])))
    return (x + np.float32(rng.choice([0, 0, 300, -300])),)


STABLE_SOFTMAX = PythonExercise(
    function="softmax",
    bug=kinds.WRONG,
    cases=(
        (np.array([[0, 1, 2], [3, 3, 3], [1, 0, 0]], np.float32),),
        some_rows(1, 4, 4),
        some_rows(2, 1, 5),
        some_rows(3, 3, 7),
        some_rows(4, 5, 2, 500.0),
        some_rows(5, 1, 1, 1e30),
        some_rows(8, 3, 5, 1e38),
        some_rows(6, 2, 3001),
        some_rows(7, 300, 2),
        (np.full((2, 3), -1000, np.float32),),
    ),
    reference=lambda x: row_softmax(x).astype(np.float32),
    contract=DrawnCases(any_rows),
)


def chain(text: str) -> tuple[list[tuple[str, str]]]:
    """Operations from a line such as "exp:map sum:reduce"."""
    pairs = (word.partition(":") for word in text.split())
    return ([(name, kind) for name, _, kind in pairs],)


def any_chain(rng: np.random.Generator) -> tuple[list[tuple[str, str]]]:
    count = int(rng.integers(1, 12))
    share = rng.choice([[0.8, 0.1, 0.1], [0.5, 0.3, 0.2], [0.2, 0.4, 0.4]])
    kinds_of = rng.choice(["map", "reduce", "product"], count, p=share)
    names = rng.integers(0, rng.choice([3, 12]), count)  # few, so that names repeat, or many
    return ([(f"op{name}", str(kind)) for name, kind in zip(names, kinds_of, strict=True)],)


def grouped(operations: list[tuple[str, str]]) -> list[list[str]]:
    starts = [
        k == 0 or kind == "product" or operations[k - 1][1] in ("product", "reduce")
        for k, (_, kind) in enumerate(operations)
    ]
    groups: list[list[str]] = []
    for start, (name, _) in zip(starts, operations, strict=True):
        groups = [*groups, [name]] if start else [*groups[:-1], [*groups[-1], name]]
    return groups


KERNELS_OF = PythonExercise(
    cases=(
        chain("scale:map exp:map add:map"),
        chain("sub:map exp:map sum:reduce div:map"),
        chain("gemm:product bias:map relu:map gemm2:product"),
        chain("max:reduce sum:reduce"),
        chain("gemm:product gemm2:product"),
        chain("relu:map"),
        chain("step:map step:product step:map step:reduce step:map"),
        ([],),
        chain("a:map " * 100 + "b:reduce " + "c:map " * 100),
        chain("a:map b:reduce " * 100),
        chain("a:product b:map " * 350),
    ),
    reference=grouped,
    contract=DrawnCases(any_chain),
)


# --- review six versions of a softmax ---

F32 = np.float32
VERSIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "A": lambda x: np.exp(x) / np.exp(x).sum(),
    "B": lambda x: shares_of(np.exp(x - x.mean())),
    "C": lambda x: np.exp(x - x.max() - np.log(np.exp(x - x.max()).sum())),
    "D": lambda x: np.exp(x - x.max()) * F32(np.float16(1 / np.exp(x - x.max()).sum())),
    "E": lambda x: shares_of(np.exp(x - max(x.max(), F32(0)))),
    "F": lambda x: np.exp(x - x.max()) / np.exp(x - x.max())[::-1].sum(),
}
FAULTS = "A", "B", "D", "E"


def shares_of(powers: np.ndarray) -> np.ndarray:
    return powers / powers.sum()


def shows_a_fault(version: str, numbers: Any) -> bool:
    """Whether a row's shares are wrong in this version."""
    try:
        x = np.array(numbers, dtype=F32)
    except (TypeError, ValueError, OverflowError):
        x = np.zeros(0, dtype=F32)
    if x.ndim != 1 or not 1 <= x.size <= 4096 or not np.all(np.abs(x) <= 1000):
        raise LessonError(f"{version}: give 1 to 4096 numbers from -1000 to 1000, or None")
    wide = x.astype(np.float64)
    right = shares_of(np.exp(wide - wide.max()))
    with np.errstate(all="ignore"):
        got = VERSIONS[version](x)
    return bool(difference(got, right, rtol=1e-4, atol=1e-6))


def reviewed(function: Callable[[], Any]) -> tuple[str, ...] | None:
    """Each version, and whether its review is right."""
    found = function()
    if found is None:
        return None
    if type(found) is not dict or sorted(map(repr, found)) != sorted(map(repr, VERSIONS)):
        raise LessonError('return a dictionary with the keys "A" to "F"')
    said = []
    for version in VERSIONS:
        row = found[version]
        if row is None:
            said.append(f"{version}: {'not yet' if version in FAULTS else 'right'}")
        else:
            shown = shows_a_fault(version, row)
            said.append(f"{version}: {'right' if shown else 'nothing shows with this row'}")
    return tuple(said)


REVIEW_SOFTMAX = PythonExercise(
    function="review",
    cases=((),),
    reference=lambda: tuple(f"{version}: right" for version in VERSIONS),
    call=reviewed,
    start="Take one version at a time: for which rows does an exponential overflow?",
    contract="There are six versions.",
)

# --- choose and defend ---

CHOICES = {
    1: ("Pallas", "d"),
    2: ("jax.ffi", "f"),
    3: ("Gluon", "b"),
    4: ("torch.compile", "h"),
    5: ("AOTInductor", "e"),
    6: ("CUDA C++", "a"),
}

CHOOSE_A_WAY = choose_and_defend(
    CHOICES,
    '{1: ("Triton", "a")}',
    function="choose",
    start="Take one job at a time: which fact excludes the other ways?",
    contract="There are six jobs.",
)
