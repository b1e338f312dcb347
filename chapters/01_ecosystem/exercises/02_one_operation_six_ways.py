"""The exercises of "One operation, six ways"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import Cases, PythonExercise, kinds, mutant

FOLDER = "01_ecosystem/exercises"


SOFTMAX = {
    "largest": ["x"],
    "shifted": ["x", "largest"],
    "powers": ["shifted"],
    "sums": ["powers"],
    "y": ["powers", "sums"],
}
SIZES = dict.fromkeys(("x", "shifted", "powers", "y"), 4000) | {"largest": 40, "sums": 40}


def program(kernels: list[list[str]]) -> tuple:
    return SOFTMAX, SIZES, kernels


def any_program(rng: np.random.Generator) -> tuple:
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
    sizes = {name: int(rng.choice([4, 40, 400, rng.integers(1, 1000)])) for name in names}
    kernels: list[list[str]] = [[]]
    for name in operations:
        if kernels[-1] and rng.random() < 0.5:
            kernels.append([])
        kernels[-1].append(name)
    operations = {name: operations[name] for name in map(str, rng.permutation(list(operations)))}
    return operations, sizes, kernels


def moved(operations: dict, sizes: dict, kernels: list[list[str]]) -> int:
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
    id="01.traffic",
    title="count the bytes that fusion saves",
    task="""
A program is a list of operations, put into kernels. A kernel reads each array that it needs from
outside once, keeps what it computes in registers, and writes what a later kernel reads, and the
answer. Count the bytes that all kernels together move.
""",
    source=f"{FOLDER}/traffic.py",
    function="traffic",
    cases=(
        program([["largest", "shifted", "powers", "sums", "y"]]),
        program([[name] for name in SOFTMAX]),
        program([["largest"], ["shifted", "powers", "sums"], ["y"]]),
        program([["largest", "shifted", "powers"], ["sums", "y"]]),
        ({"y": ["x", "x"]}, {"x": 12, "y": 12}, [["y"]]),
        (
            {"y": ["t", "x"], "t": ["x"]},
            {"x": 6 << 30, "t": (3 << 30) + 1, "y": 4},
            [["t"], ["y"]],
        ),
        ({"y": ["x"]}, {"x": (1 << 60) + 1, "y": 4}, [["y"]]),
        (
            {f"t{k}": [f"t{k - 1}", "t0"] for k in range(1, 101)},
            {f"t{k}": k + 1 for k in range(101)},
            [[f"t{k}"] for k in range(1, 101)],
        ),
    ),
    reference=moved,
    promises=Cases(any_program),
    means="Any way to count is right.",
    hints=(
        "A set holds each name once: what a kernel reads is a set of names.",
        "Take away from it what the kernel itself computes.",
        "Written is what some later kernel reads, and the answer, `kernels[-1][-1]`.",
    ),
    explanation="""
All five operations of a softmax in one kernel read x and write y, as our CUDA kernel would if its
row stayed in registers. One kernel for each operation moves four times as much. Compare
that with the times in this notebook: for an operation with so little arithmetic the bytes are the
first thing to count. Chapter 03 makes a rule of that, the roofline.
""",
    mutants=(
        mutant("reads what it has", kinds.WRONG, (" - set(kernel)", "")),
        mutant("writes everything", kinds.WRONG, ("set(kernel) & later", "set(kernel)")),
        mutant(
            "writes nothing but the answer",
            kinds.WRONG,
            ("later.add(kernels[-1][-1])", "later = {kernels[-1][-1]}"),
        ),
        mutant("forgets the answer", kinds.WRONG, ("later.add(kernels[-1][-1])", "pass")),
        mutant(
            "the answer is the last that is written down",
            kinds.WRONG,
            ("later.add(kernels[-1][-1])", "later.add(list(operations)[-1])"),
        ),
        mutant("in 32 bits", kinds.WRONG, ("return total", "return total % 2**32")),
        mutant(
            "by way of a float of 32 bits",
            kinds.WRONG,
            ("return total", "import numpy as np\n\n    return int(np.float32(total))"),
        ),
        mutant("by way of a float", kinds.WRONG, ("return total", "return int(float(total))")),
        mutant(
            "reads once in all",
            kinds.WRONG,
            ("total = 0", "total, known = 0, set()"),
            ("- set(kernel)", "- set(kernel) - known\n        known |= read"),
        ),
        mutant(
            "one of a size",
            kinds.WRONG,
            (
                "sum(sizes[name] for name in read | (set(kernel) & later))",
                "sum({sizes[name] for name in read | (set(kernel) & later)})",
            ),
        ),
        mutant("no return", kinds.NOTHING_RETURNED, ("return total", "total")),
    ),
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


def exact_softmax(x: np.ndarray) -> np.ndarray:
    power = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True).astype(np.float64))
    return (power / power.sum(axis=1, keepdims=True)).astype(np.float32)


STABLE_SOFTMAX = PythonExercise(
    id="01.stable_softmax",
    title="find the bugs: it passed its test",
    task="""
This softmax passed its only test, one row. Find its two mistakes. It must be right for any matrix
of finite numbers, square or not.
""",
    source=f"{FOLDER}/stable_softmax.py",
    function="softmax",
    bug=kinds.WRONG,
    cases=(
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
    reference=exact_softmax,
    promises=Cases(any_rows),
    means="Any formula is right that keeps its numbers finite.",
    hints=(
        "What is `powers.sum(axis=1).shape` for 4 rows? Which dimension does NumPy divide along?",
        "exp(89) is more than a float32 holds, and a row of -1000 has only powers of 0.",
        "Subtract the row's largest number first: `x.max(axis=1, keepdims=True)`.",
    ),
    explanation="""
NumPy aligns shapes at their last dimension: the sums of 4 rows, shape (4,), divide the columns of
a square matrix and raise an error for any other. `keepdims=True` keeps them a column. Subtracting
the largest changes nothing in exact arithmetic, and makes the largest power 1.
""",
    mutants=(
        mutant(
            "sums along the rows",
            kinds.WRONG,
            ("powers.sum(axis=1, keepdims=True)", "powers.sum(axis=0, keepdims=True)"),
        ),
        mutant(
            "shape of the sums",
            kinds.WRONG,
            ("powers.sum(axis=1, keepdims=True)", "powers.sum(axis=1)"),
        ),
        mutant("no largest", kinds.NOT_A_NUMBER, ("x - x.max(axis=1, keepdims=True)", "x")),
        mutant(
            "one largest for all", kinds.NOT_A_NUMBER, ("x.max(axis=1, keepdims=True)", "x.max()")
        ),
        mutant(
            "held below 1e30",
            kinds.WRONG,
            ("x - x.max(axis=1, keepdims=True)", "(y := x.clip(-1e30, 1e30)) - y.max(1)[:, None]"),
        ),
        mutant("at most 64 columns", kinds.WRONG, ("powers.sum(", "powers[:, :64].sum(")),
        mutant("clipped", kinds.WRONG, ("x - x.max(axis=1, keepdims=True)", "np.clip(x, -80, 80)")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)


def chain(text: str) -> tuple[list[tuple[str, str]]]:
    """Operations from a line such as "exp:map sum:reduce"."""
    return ([tuple(word.split(":")) for word in text.split()],)


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
    id="01.kernels_of",
    title="predict what fuses",
    task="""
Each operation of a chain needs the result of the one before it. Put them into kernels by these
rules: a `product` (a matrix product, from a library) is a kernel of its own. A `map` (one result
for each element) joins the kernel before it where that one is still open. A `reduce` (one result
for many elements) joins too and closes the kernel: its result is known only when all elements
have been read. A name may come more than once.
""",
    source=f"{FOLDER}/kernels_of.py",
    function="kernels_of",
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
    promises=Cases(any_chain),
    means="Any way to group them is right.",
    hints=(
        "Keep two things: the kernels so far, and whether the last one is open.",
        "Only a `map` leaves a kernel open. A `product` and a `reduce` close theirs.",
        "A new kernel begins for a `product`, and for anything after a closed kernel.",
    ),
    explanation="""
These are the rules of thumb of a compiler that fuses. Real ones know more: Triton's softmax above
keeps a row in registers past its two reductions, since a whole row fits into one program; XLA
tries the same; and the epilogue of a matrix product (bias, relu) can move into the library's
kernel. What cannot be fused has to go through memory.
""",
    mutants=(
        mutant(
            "everything in one",
            kinds.WRONG,
            ('kind == "product" or not open_kernel', "not kernels"),
        ),
        mutant(
            "nothing fuses", kinds.WRONG, ('open_kernel = kind == "map"', "open_kernel = False")
        ),
        mutant(
            "a reduction stays open",
            kinds.WRONG,
            ('open_kernel = kind == "map"', 'open_kernel = kind != "product"'),
        ),
        mutant(
            "a product takes what follows",
            kinds.WRONG,
            ('open_kernel = kind == "map"', 'open_kernel = kind != "reduce"'),
        ),
        mutant(
            "a product joins",
            kinds.WRONG,
            ('kind == "product" or not open_kernel', "not open_kernel"),
        ),
        mutant(
            "at most 64 in a kernel",
            kinds.WRONG,
            ("or not open_kernel:", "or not open_kernel or len(kernels[-1]) == 64:"),
        ),
        mutant("at most 512 kernels", kinds.WRONG, ("return kernels", "return kernels[:512]")),
        mutant(
            "a reduction begins one",
            kinds.WRONG,
            ('kind == "product" or not', 'kind != "map" or not'),
        ),
        mutant(
            "kinds looked up by name",
            kinds.WRONG,
            ("in chain:", "in [(n, dict(chain)[n]) for n, _ in chain]:"),
        ),
        mutant("no return", kinds.NOTHING_RETURNED, ("return kernels", "kernels")),
    ),
)
