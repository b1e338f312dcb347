"""The exercises of "Number formats"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Means,
    Promises,
    PythonExercise,
    Target,
    empty,
    kinds,
    means,
    mutant,
    promises,
)

from .common import (
    ANY_SHAPE,
    HALF_OPERANDS,
    chosen,
    half_matrices,
    on_tensor_cores,
    product_of_rows,
)

HALF_SUMS = Exercise(
    id="06.half_sums",
    title="find the lost digits",
    task="""
This kernel has no race, no wrong index, and its operands are the ones that the reference has. Still
every element of C is a little off, and the more so the larger K is. Run it as it stands, then find
the digits that it loses on the way.
""",
    source="06_matmul_and_fft/exercises/half_sums.cu",
    kernel="half_sums",
    inputs=half_matrices,
    reference=product_of_rows,
    launch=lambda size: Launch((size[1] // 16, size[0] // 16), (32,)),
    small=((32, 48, 512), (32, 16, 64), (16, 16, 16)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    promises=Promises(
        sizes=chosen(
            (16, 16, 32),
            (16, 32, 16),
            (48, 16, 80),
            (64, 64, 48),
            (16, 176, 112),
            (208, 16, 64),
            (16, 16, 1040),
            (2064, 16, 32),
            (16, 2064, 32),
            (272, 256, 16),
        ),
        values=HALF_OPERANDS,
    ),
    means=(*on_tensor_cores((32, 16, 64)), means.one_store_each()),
    bug=kinds.PRECISION,
    hints=(
        "The operands are fp16 and are meant to be. What else has a type?",
        "Look at what the sums are kept in between one mma and the next.",
        "The accumulator fragment may be `float` while a and b are `__half`. Then the tile in "
        "shared memory has to be `float` as well.",
    ),
    explanation="""
The sums were kept in fp16: each of the K / 16 steps rounded them to 11 bits. With `float`
accumulators the product takes the same operands and the same number of instructions, on a GPU for
data centres at the same rate; only the registers for the sums double. (Rounding just once, at the
end, would be visible too, and is what happens when C itself is fp16.)
""",
    mutants=(
        mutant(
            "rounded to half at the end",
            kinds.PRECISION,
            ("float result = results", "float result = (__half)results"),
        ),
        mutant("no zeros", kinds.UNINITIALISED, ("wmma::fill_fragment(sum, 0.0f);", "")),
        mutant("last step missed", kinds.WRONG, ("k < K; k +=", "k + kTile < K; k +=")),
        mutant(
            "clipped to the range of half",
            kinds.WRONG,
            (
                "float result = results[i / kTile][i % kTile];",
                "float result = results[i / kTile][i % kTile];\n        "
                "result = fminf(65504.0f, fmaxf(-65504.0f, result));",
            ),
        ),
        mutant(
            "products without tensor cores",
            kinds.MEANS_MISSING,
            (
                "float result = results[i / kTile][i % kTile];",
                "float result = 0.0f * results[i / kTile][i % kTile];\n"
                "        for (int k = 0; k < K; ++k)\n"
                "            result += __half2float(A[(row + i / kTile) * K + k]) *\n"
                "                      __half2float(B[(column + i % kTile) * K + k]);",
            ),
        ),
        mutant(
            "half of the tile stored",
            kinds.PARTLY_WRITTEN,
            ("i < kTile * kTile", "i < kTile * kTile / 2"),
        ),
        mutant(
            "rounded to half at each step",
            kinds.PRECISION,
            (
                "wmma::mma_sync(sum, a, b, sum);",
                "wmma::mma_sync(sum, a, b, sum);\n"
                "        for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = (__half)sum.x[i];",
            ),
        ),
    ),
)


def by_way_of_bytes(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The product of two matrices quantised to 8 bits, one scale each."""
    scales = [np.abs(matrix).max() / 127 for matrix in (A, B)]
    a, b = (np.rint(matrix / scale) for matrix, scale in zip((A, B), scales, strict=True))
    return a @ b.T * (scales[0] * scales[1])


def matrix_of(seed: int, rows: int, columns: int, scale: float = 1.0) -> np.ndarray:
    """Normally distributed float64 values times ``scale``."""
    return np.random.default_rng(seed).standard_normal((rows, columns)) * scale


def two_matrices(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Matrices of any scale, with values of both signs or of one, some with an outlier."""
    rows, others, columns = rng.integers(1, 9), rng.integers(1, 9), rng.integers(1, 400)
    found = []
    for n in (rows, others):
        matrix = rng.standard_normal((n, columns))
        kind = rng.integers(4)
        if kind < 2:
            matrix = np.abs(matrix) * (1 if kind else -1)
        elif kind == 2:
            matrix.flat[rng.integers(matrix.size)] = -20.0
        found.append(matrix * 10.0 ** rng.integers(-6, 7))
    return found[0], found[1]


def halfway() -> tuple[np.ndarray, np.ndarray]:
    """Both scales are 1: quantised, the first matrix is rounded, and the second as it is."""
    tied = [127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 125.5, -126.5]
    return np.array([tied, tied[::-1]]), 127 * np.eye(len(tied))


def past_fp32() -> list[tuple[np.ndarray, np.ndarray]]:
    """A sum of products of 127 and 127 far past what fp32 counts to, of which little is left."""
    k = 100_001
    signs = np.where(np.arange(k) < k // 2, 1.0, -1.0)
    signs[-1] = 3 / 127
    return [(np.stack((signs, signs[::-1])), np.ones((1, k)))]


QUANTISED = PythonExercise(
    id="06.quantised_product",
    title="floats by way of bytes",
    task="""
Multiply two matrices of floats by way of 8-bit integers, with one scale for each matrix: its
largest magnitude becomes 127. Round to the nearest integer, halfway to the even one, sum in 32
bits, scale back. The sums are integers, and none of them may be rounded. Leave the matrices as
they are.
""",
    source="06_matmul_and_fft/exercises/quantised_product.py",
    function="quantised_product",
    cases=(
        (matrix_of(1, 5, 40), matrix_of(2, 7, 40)),
        (matrix_of(3, 4, 300, 100.0), matrix_of(4, 3, 300, 0.01)),
        (matrix_of(5, 1, 1), matrix_of(6, 1, 1)),
        (matrix_of(7, 2, 9, 1e30), matrix_of(8, 3, 9, 1e30)),  # past the range of float32
        (matrix_of(9, 1, 5000), matrix_of(10, 2, 5000)),
        (matrix_of(11, 2, 9, 1e-30), matrix_of(12, 3, 9, 1e-20)),
        halfway(),
    ),
    reference=by_way_of_bytes,
    promises=Cases(two_matrices, large=past_fp32),
    means="What multiplies the floats themselves lacks the rounding that the reference has.",
    hints=(
        "The scale says how much one step of the integer is worth: the largest magnitude over 127.",
        "`np.rint(A / scale).astype(np.int8)`: `astype` alone would truncate: drop the fraction.",
        "A product of two bytes needs 16 bits, and their sum more: convert to `np.int32` before "
        "you multiply, since NumPy keeps the type of the operands.",
        "An integer sum is worth scale_a * scale_b.",
    ),
    explanation="""
Three things can go wrong. `astype` without `rint` rounds towards zero, and all values get smaller.
A product of `int8` arrays stays `int8` in NumPy and wraps around; a GPU's instructions have 32-bit
sums built in. And the scales multiply, because each operand was divided by its own.
""",
    mutants=(
        mutant(
            "no magnitude below 1e-12",
            kinds.ALL_ZEROS,
            ("scale_a = np.abs(A).max()", "scale_a = max(np.abs(A).max(), 1e-12)"),
        ),
        mutant(
            "cut off",
            kinds.WRONG,
            ("np.rint(A / scale_a)", "(A / scale_a)"),
            ("np.rint(B / scale_b)", "(B / scale_b)"),
        ),
        mutant(
            "halves rounded up",
            kinds.PRECISION,
            ("np.rint(A / scale_a)", "np.floor(A / scale_a + 0.5)"),
        ),
        mutant(
            "sums of 8 bits",
            kinds.WRONG,
            ("a.astype(np.int32) @ b.astype(np.int32).T", "a @ b.T"),
        ),
        mutant(
            "sums in fp32",
            kinds.WRONG,
            (
                "a.astype(np.int32) @ b.astype(np.int32).T",
                "(a.astype('f4') @ b.astype('f4').T).astype(np.int32)",
            ),
        ),
        mutant("128 steps", kinds.WRONG, ("np.abs(A).max() / 127", "np.abs(A).max() / 128")),
        mutant("one scale forgotten", kinds.SCALED, ("(scale_a * scale_b)", "scale_a")),
        mutant(
            "not quantised",
            kinds.PRECISION,
            ("    scale_a = np", "    return A @ B.T\n    scale_a = np"),
        ),
        mutant(
            "result in float32",
            kinds.WRONG,
            ("return sums * (scale_a * scale_b)", "return (sums * scale_a * scale_b).astype('f4')"),
        ),
        mutant(
            "not scaled back", kinds.SCALED, ("sums * (scale_a * scale_b)", "sums.astype(float)")
        ),
    ),
)


def bytes_of(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Integers of 8 bits, over their whole range; in long rows -128 and -127: large sums."""
    return rng.integers(-128, -126 if shape[1] > 1100 else 128, shape).astype(np.int8)


def bytes_like(name: str) -> tuple[promises.Values, ...]:
    """Other values for one of the matrices, the ends of the range among them."""
    kinds_of_values = {
        "of -128 and 127": lambda x, rng: rng.choice([-128, 127], x.shape),
        "near -128": lambda x, rng: rng.integers(-128, -124, x.shape),
        "near 127": lambda x, rng: rng.integers(124, 128, x.shape),
        "of -1, 0 and 1": lambda x, rng: rng.integers(-1, 2, x.shape),
        "all negative": lambda x, rng: rng.integers(-128, 0, x.shape),
        "all positive": lambda x, rng: rng.integers(1, 128, x.shape),
    }
    return promises.data(name, *kinds_of_values.items())


DP4A = Exercise(
    id="06.dp4a_product",
    title="four products in one go",
    task="""
A product of 8-bit integers on ordinary cores. One thread, one element of C; let `__dp4a` take four
products at a time, and let a load bring four operands: at most 0.6 loads for each product.
""",
    source="06_matmul_and_fft/exercises/dp4a_product.cu",
    kernel="dp4a_product",
    inputs=lambda rng, size: {
        "A": bytes_of(rng, (size[0], size[2])),
        "B": bytes_of(rng, (size[1], size[2])),
        "C": empty((size[0], size[1]), np.int32),
        "M": np.int32(size[0]),
        "N": np.int32(size[1]),
        "K": np.int32(size[2]),
    },
    reference=lambda given: {"C": given["A"].astype(np.int32) @ given["B"].astype(np.int32).T},
    launch=lambda size: Launch((-(-size[1] // 16), -(-size[0] // 16)), (16, 16)),
    small=((37, 21, 52), (16, 33, 64), (1, 1, 4), (5, 3, 2084)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="global loads per product",
        measure=lambda counts: counts.global_load_requests * 32 / (32 * 32 * 64),
        at_most=0.6,
        advice="Read four neighbours as one int: a pointer to the row, cast to `const int *`.",
        size=(32, 32, 64),
    ),
    promises=Promises(
        sizes=chosen(*((m, n, 4 * k) for m, n, k in ANY_SHAPE.sizes)),
        values=(bytes_like("A"), bytes_like("B")),
    ),
    means=(
        means.instructions(
            "words that __dp4a takes",
            "dp4a.",
            at_least=32 * 32 * 64 / 4,
            at_most=2 * 32 * 32 * 64 / 4,
            advice="Let `__dp4a` make all the products, four at a time.",
            size=(32, 32, 64),
        ),
        # The compiler makes dp4a of shifts and products, too, but takes the bytes apart first. (A
        # char4 is put together by other instructions.)
        Means(
            "shifts and masks for each word of four operands",
            lambda work: work.opcodes("shr.", "shl.", "and.") / (32 * 32 * 64 / 4),
            at_most=4,
            advice="Give `__dp4a` the words as they were loaded: it takes the bytes apart itself.",
            size=(32, 32, 64),
        ),
        means.one_store_each(),
        means.a_thread_each(size=(32, 32, 64)),
        means.work_shared_out(2.0, size=(32, 32, 64)),
    ),
    hints=(
        "A row of A begins at `A + row * K`; `reinterpret_cast<const int *>` of that reads it four "
        "elements at a time.",
        "A row has K / 4 such words.",
        "`sum = __dp4a(a[word], b[word], sum);`",
    ),
    explanation="""
`__dp4a` multiplies the four bytes of one word with the four of another and adds the products to a
32-bit sum, in one instruction. For signed `int` arguments the bytes are signed, for `unsigned` ones
they are not. Integers do not round: the result is exact, whatever the order, as long as the sum
fits into 32 bits.
""",
    mutants=(
        mutant(
            "byte by byte",
            kinds.TARGET_MISSED,
            (
                "for (int word = 0; word < K / 4; ++word) {\n"
                "        sum = __dp4a(a[word], b[word], sum);",
                "for (int k = 0; k < K; ++k) {\n        sum += A[row * K + k] * B[column * K + k];",
            ),
        ),
        mutant("as many words as elements", kinds.OUT_OF_BOUNDS, ("word < K / 4", "word < K")),
        mutant(
            "unsigned bytes",
            kinds.WRONG,
            (
                "sum = __dp4a(a[word], b[word], sum)",
                "sum += __dp4a((unsigned)a[word], (unsigned)b[word], 0u)",
            ),
        ),
        mutant(
            "sum in a float",
            kinds.WRONG,
            ("int sum = 0;", "float sum = 0;"),
            ("sum = __dp4a(a[word], b[word], sum)", "sum += __dp4a(a[word], b[word], 0)"),
        ),
        mutant("last word missed", kinds.WRONG, ("word < K / 4;", "word + 1 < K / 4;")),
        mutant("no guard for the column", kinds.OUT_OF_BOUNDS, (" || column >= N", "")),
        mutant(
            "bytes taken apart by shifts",
            kinds.MEANS_MISSING,
            (
                "sum = __dp4a(a[word], b[word], sum);",
                "const int p = a[word], q = b[word];\n        for (int i = 0; i < 32; i += 8)"
                "\n            sum += (signed char)(p >> i) * (signed char)(q >> i);",
            ),
        ),
        mutant("sum begun anew", kinds.WRONG, ("b[word], sum)", "b[word], 0)")),
    ),
)
