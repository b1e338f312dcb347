"""The exercises of "Triton and CUDA"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Ask,
    Cases,
    Exercise,
    Launch,
    NumberExercise,
    Promises,
    PythonExercise,
    Target,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)

PREDICT_PROGRAMS = NumberExercise(
    id="04.predict_programs",
    title="predict the programs and their requests",
    task="""
This CUDA kernel distributes its elements as Triton did. Predict how many blocks, Triton's programs,
there are, and how many requests to load they make: one request is one load instruction of one warp.
""",
    source="04_first_kernels/exercises/vec_add_dealt.cu",
    kernel="vec_add_dealt",
    inputs=lambda rng, n: {
        "a": floats(rng, n),
        "b": floats(rng, n),
        "c": empty(n),
        "n": np.int32(n),
    },
    launch=lambda n: Launch((-(-n // 1024),), (128,)),
    asks={
        "programs": Ask(
            "n = 10,000: programs",
            10_000,
            lambda counts: counts.opcodes["ret"] / 128,  # every thread returns once
            {
                9: "Round up: the rest needs a program, too.",
                40: "That is for 256 elements a block. Here a block takes 1024.",
                79: "128 is the number of threads. How many elements does each of them take?",
            },
        ),
        "requests": Ask(
            "n = 1024: requests to load, of all warps",
            1024,
            lambda counts: counts.global_load_requests,
            {
                8: "There are two arrays to load from.",
                4: "That many warps there are. How often does each of them load?",
                64: "A lane takes four floats with one load.",
                512: "That counts lanes. A request is made by a whole warp.",
            },
        ),
        "of_524": Ask(
            "n = 524: requests to load, of all warps",
            524,
            lambda counts: counts.global_load_requests,
            {
                16: "In the second turn most warps have no element: they load nothing.",
                8: "The first turn covers 512 elements. Who takes the other 12?",
                9: "There are two arrays to load from, in the second turn, too.",
            },
        ),
    },
    hints=(
        "A program takes 1024 elements, whatever it does with them: round up.",
        "128 threads are 4 warps, and the loop has two iterations of 512 elements.",
        "In an iteration each warp loads once from `a` and once from `b`: 4 warps, 2 iterations, 2 "
        "arrays.",
        "Of 524 elements 12 are left for the second iteration: three lanes of the first warp.",
    ),
    explanation="""
4 warps, 2 iterations and 2 arrays are 16 requests of 512 bytes each. With 524 elements the second
iteration has work for three lanes of one warp; the other warps find their mask empty and ask for
nothing. A mask costs instructions, but no traffic.
""",
    mutants=(
        mutant("rounds down", kinds.WRONG_NUMBER, ("programs = 10", "programs = 9")),
        mutant("CUDA's blocks", kinds.WRONG_NUMBER, ("programs = 10", "programs = 40")),
        mutant("one array", kinds.WRONG_NUMBER, ("requests = 16", "requests = 8")),
        mutant("no empty warps", kinds.WRONG_NUMBER, ("of_524 = 10", "of_524 = 16")),
        mutant("not answered", kinds.WRONG_TYPE, ("programs = 10", "programs = ...")),
    ),
)


def row_softmax(x: np.ndarray) -> np.ndarray:
    """The softmax along the last axis, in float64."""
    power = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    return power / power.sum(axis=-1, keepdims=True)


class Memory(np.ndarray):
    """An array that writes down which of its elements are read by ``[]``, and how."""

    def __array_finalize__(self, parent: object) -> None:
        self.read: set[int] = set()
        self.slices = 0

    def __getitem__(self, index):
        values = self.view(np.ndarray)
        self.slices += isinstance(index, slice)
        self.read.update(np.arange(values.size)[index].reshape(-1).tolist())
        return values[index]

    def take(self, indices, *arguments, **options):
        values = self.view(np.ndarray)
        read = np.arange(values.size).take(indices, *arguments, **options)
        self.read.update(np.reshape(read, -1).tolist())
        return values.take(indices, *arguments, **options)

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))


def flat_rows(rows: int, columns: int, low: float, seed: int) -> Memory:
    """rows x columns random fp32 numbers between low and low + 4, one row after another."""
    x = np.random.default_rng(seed).random(rows * columns, dtype=np.float32)
    return (x * np.float32(4) + np.float32(low)).view(Memory)


def any_program(rng: np.random.Generator) -> tuple[Memory, int, int, int]:
    """Any row of up to 300 columns, with numbers that may be large or far below zero."""
    rows, columns = int(rng.integers(1, 6)), int(rng.integers(1, 300))
    low = float(rng.choice([-1e30, -5000, -90, -2, 90, 5000]))
    block = 1 << (columns - 1).bit_length() + int(rng.integers(3))
    x = flat_rows(rows, columns, low, int(rng.integers(1 << 30)))
    return x, int(rng.integers(rows)), columns, block


def read_by_the_mask(x: Memory, row: int, columns: int, block: int) -> str:
    """What is missing from a program's way to read its row."""
    wanted = set(range(row * columns, (row + 1) * columns))
    if x.slices:
        return (
            "A program has no slices: it has `block` offsets, and a mask says which it loads from."
        )
    if x.read - wanted:
        return "Elements of x were read that the mask leaves out."
    if wanted - x.read:
        return "The row was not read by `x[index]`, which stands for the load here."
    return ""


ONE_PROGRAM = PythonExercise(
    id="04.one_program",
    title="be one Triton program",
    task="""
Do in NumPy what one program of `softmax_row` does: offsets, mask, load, maximum, sum. NumPy has no
masked load: let `x[index]` stand for it, with those offsets alone that the mask allows, and no
slice. In the last row, a column that does not exist lies past the end of `x`.
""",
    source="04_first_kernels/exercises/one_program.py",
    function="one_program",
    cases=(
        (flat_rows(3, 5, -2, 2), 2, 5, 8),
        (flat_rows(3, 5, -2, 1), 1, 5, 8),
        (flat_rows(2, 4, -2, 3), 1, 4, 4),
        (flat_rows(2, 1, -2, 4), 0, 1, 1),
        (flat_rows(2, 9, -90, 5), 1, 9, 16),
        (flat_rows(2, 9, 90, 6), 0, 9, 16),
        (flat_rows(1, 3, 5000, 7), 0, 3, 4),
    ),
    reference=lambda x, row, columns, block: row_softmax(np.array(x).reshape(-1, columns)[row]),
    promises=Cases(any_program),
    means=read_by_the_mask,
    hints=(
        "The mask is `inside = column < columns`: an array of `block` truth values.",
        "Element (row, column) lies at `row * columns + column`, as in every kernel with rows.",
        "What a masked column gets must change neither the maximum nor the sum: `-np.inf`.",
        "`value = np.full(block, -np.inf)`, then `value[inside] = x[index[inside]]`.",
        "Subtract `value.max()` before `np.exp`, divide by the sum, and return `[inside]` of it.",
    ),
    explanation="""
`tl.load(pointer, mask, other=...)` does both steps at once: it reads where the mask allows it and
takes `other` elsewhere. Zero would be right for a sum, but here it would take part in the maximum,
and exp(0 - largest) in the sum. Ask for the identity, the value that changes nothing: minus
infinity for a maximum, zero for a sum, one for a product.
""",
    mutants=(
        mutant(
            "no mask", kinds.EXCEPTION, ("value[inside] = x[index[inside]]", "value = x[index]")
        ),
        mutant("zero elsewhere", kinds.SCALED, ("np.full(block, -np.inf)", "np.zeros(block)")),
        mutant(
            "rows of block", kinds.EXCEPTION, ("row * columns + column", "row * block + column")
        ),
        mutant("first row", kinds.WRONG, ("row * columns + column", "column")),
        mutant(
            "a slice",
            kinds.MEANS_MISSING,
            ("x[index[inside]]", "x[row * columns : (row + 1) * columns]"),
        ),
        mutant("never divided", kinds.SCALED, ("power / power.sum()", "power")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)


def scattered_rows(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    """Numbers far enough apart that a sum which is not scaled again is plainly wrong."""
    return {
        "x": (8 * rng.standard_normal(size) - 20).astype(np.float32),
        "y": empty(size),
        "columns": np.int32(size[1]),
    }


SOFTMAX_ONLINE = Exercise(
    id="04.softmax_online",
    title="one pass less",
    task="""
This softmax reads each row three times: for the maximum, for the sum, for the result. With a trick
twice is enough, and it works for rows of any length: keep the largest number *so far* and the sum
that belongs to it. When a larger number comes along, the sum is too large by a known factor.
""",
    source="04_first_kernels/exercises/softmax_online.cu",
    kernel="softmax_online",
    inputs=scattered_rows,
    reference=lambda given: {"y": row_softmax(given["x"])},
    launch=lambda size: Launch((size[0],), (32,)),
    small=((3, 100), (2, 257), (2, 32), (3, 7), (1, 1)),
    full=(1 << 14, 4096),
    reduction=lambda size: size[1],
    promises=Promises(
        # 12,301 floats are more than the 48 KB of a __shared__ array hold.
        sizes=promises.shapes(
            rows=(3, 6, 7, 300), columns=(1, 2, 31, 32, 33, 65, 257, 1025, 2053, 12_301)
        ),
        values=(promises.data("x", *promises.ANY_FINITE),),
    ),
    means=(
        means.one_store_each(size=(2, 320)),
        means.loads_shared_out(2.0, size=(2, 320)),
    ),
    target=Target(
        label="loads of each element",
        measure=lambda counts: counts.global_load_bytes / (4 * 2 * 320),
        at_most=2.0,
        advice="The result is right. Two loads of each element are enough: one in a loop that "
        "keeps the maximum so far and its sum together, and one for the result.",
        size=(2, 320),
    ),
    hints=(
        "expf(v - old) times expf(old - now) is expf(v - now): so a sum moves to a new maximum.",
        "In the loop: `const float now = fmaxf(largest, v);`, scale the sum by `expf(largest - "
        "now)`, then add `expf(v - now)`.",
        "Two lanes combine in the same way: each sum is scaled from its own maximum to the larger.",
        "Fetch both numbers of the other lane, with `__shfl_xor_sync`, before you change yours.",
        "`sum = sum * expf(largest - now) + their_sum * expf(theirs - now);`",
    ),
    explanation="""
This is the **online softmax** (Milakov and Gimelshein, 2018). A lane that met no number has the sum
0, and scaling leaves it 0. The least finite float takes the place of minus infinity here, since
infinity minus infinity is NaN. Pairs (largest, sum) combine in any order, so they can be reduced as
sums are. Flash attention rests on this.
""",
    mutants=(
        mutant(
            "never scaled again",
            kinds.WRONG,
            ("sum = sum * expf(largest - now) + expf(v - now)", "sum = sum + expf(v - now)"),
        ),
        mutant(
            "scaled the wrong way",
            kinds.WRONG,
            (
                "expf(largest - now) + expf(v - now)",
                "expf(fminf(now - largest, 8.0f)) + expf(v - now)",
            ),
        ),
        mutant(
            "sums just added",
            kinds.WRONG,
            ("sum * expf(largest - now) + their_sum * expf(theirs - now)", "sum + their_sum"),
        ),
        mutant(
            "their sum not scaled",
            kinds.WRONG,
            ("their_sum * expf(theirs - now)", "their_sum"),
        ),
        mutant("each lane for itself", kinds.WRONG, ("distance > 0", "distance > 16")),
        mutant(
            "whichever lanes are there",
            kinds.ORDER,
            ("theirs = __shfl_xor_sync(kWholeWarp", "theirs = __shfl_xor_sync(__activemask()"),
        ),
        mutant(
            "reads once more",
            kinds.TARGET_MISSED,
            (
                "    for (int distance",
                "    const volatile float* again = row;\n    float most = largest;\n"
                "    for (int i = lane; i < columns; i += kWarpSize) {\n"
                "        most = fmaxf(most, again[i]);\n    }\n    largest = most;\n"
                "    for (int distance",
            ),
        ),
    ),
)
