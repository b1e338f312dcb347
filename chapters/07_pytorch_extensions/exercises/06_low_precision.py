"""The exercises of "Low precision"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Means,
    Promises,
    PythonExercise,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.promises import AS_GIVEN, Given, Values
from course_utils.exercises.vectors import one_thread_each

from .common import most_read

Shape = tuple[int, ...]


def scaled_steps(
    weights: np.ndarray, gradients: np.ndarray, rate: float, scale: float, every: int
) -> tuple[np.ndarray, list[float]]:
    """What ``scaled_descent`` returns."""
    weights, scales, good = weights.astype(np.float32), [], 0
    for gradient in gradients:
        scales.append(scale)
        with np.errstate(over="ignore"):
            half = (np.float32(scale) * gradient).astype(np.float16)
        if not np.isfinite(half).all():
            scale, good = scale / 2, 0
            continue
        weights = weights - np.float32(rate) * (half.astype(np.float32) / np.float32(scale))
        good += 1
        if good == every:
            scale, good = scale * 2, 0
    return weights, scales


def descent(seed: int, steps: int, n: int, size: float, scale: float, every: int) -> tuple:
    """Arguments of ``scaled_descent``: gradients of about ``size``, each number of another."""
    rng = np.random.default_rng(seed)
    gradients = rng.standard_normal((steps, n)) * size * 10.0 ** rng.uniform(-1, 1, (steps, n))
    weights = rng.standard_normal(n) * size
    return (
        weights.astype(np.float32),
        gradients.astype(np.float32),
        float(rng.uniform(0.1, 1)),
        scale,
        every,
    )


def broken(arguments: tuple, step: int, value: float) -> tuple:
    """The same with one number of one gradient that no scale makes finite."""
    arguments[1][step, -1] = value
    return arguments


def any_descent(rng: np.random.Generator) -> tuple:
    steps, n = int(rng.integers(1, 40)), int(rng.integers(1, 9))
    scale = 2.0 ** int(rng.integers(-3, 30))
    size = 10.0 ** rng.uniform(-9, 3)
    drawn = descent(int(rng.integers(1 << 30)), steps, n, size, scale, int(rng.integers(1, 6)))
    if rng.random() < 0.4:
        drawn = broken(
            drawn, int(rng.integers(steps)), float(rng.choice([np.nan, np.inf, -np.inf]))
        )
    return drawn


LOSS_SCALER = PythonExercise(
    id="07.loss_scaler",
    title="a scale that looks after itself",
    task="""
Train with fp16 gradients and a *dynamic* loss scale: as large as fp16 allows, found without
knowing the gradients. A step whose gradients overflow is left out and halves the scale; `every`
good steps in a row double it, and the count begins anew. A gradient can also be NaN. Any number of
steps, any scale that is a power of two. Leave the arguments as they are.
""",
    source="07_pytorch_extensions/exercises/loss_scaler.py",
    function="scaled_descent",
    cases=(
        descent(1, 12, 5, 1e-7, 65536.0, 4),
        descent(2, 9, 3, 10.0, 65536.0, 2),
        descent(3, 30, 4, 1e-3, 2.0**24, 3),
        broken(descent(4, 12, 3, 1e-4, 1024.0, 4), 2, np.nan),
        broken(descent(5, 12, 3, 1e-4, 1024.0, 5), 4, -np.inf),
        descent(6, 1, 1, 1e-8, 1.0, 1),
        descent(7, 30, 2, 1e10, 8.0, 3),  # far below a scale of 1
        descent(11, 9, 3, 1e-20, 2.0**58, 2),  # far above that of any fp16 number
        broken(descent(8, 5, 2, 1e-3, 1024.0, 2), 1, 65512 / 1024),  # rounds to 65504
        broken(descent(9, 5, 2, 1e-3, 1024.0, 2), 1, 65520 / 1024),  # rounds to infinity
        broken(descent(10, 6, 700, 1e-3, 1024.0, 2), 2, np.nan),  # the last of many
    ),
    reference=scaled_steps,
    promises=Cases(any_descent),
    means="The scales that are returned show each decision, the weights every rounding to fp16.",
    rtol=1e-5,
    hints=(
        "`np.float16(scale * gradient)` is what the backward pass brings. `np.isfinite(...).all()` "
        "is False for infinities and NaN.",
        "Divide by the scale in float32: a small gradient divided in fp16 is 0 again.",
        "An overflow halves the scale and sets the count of good steps to 0; so does a doubling.",
    ),
    explanation="""
The scale is a power of two, so it costs no digits, and it is taken out again before the weights
see it. What remains is the search for the largest one that overflows rarely: try twice as much
from time to time, and give way at once. PyTorch's `GradScaler` begins with 65,536 and doubles
after 2,000 good steps. bf16 has fp32's exponents and needs none of this.
""",
    mutants=(
        mutant("not taken out", kinds.WRONG, (" / np.float32(scale))", ")")),
        mutant(
            "taken out in fp16",
            kinds.WRONG,
            ("half.astype(np.float32) / np.float32(scale)", "half / np.float16(scale)"),
        ),
        mutant(
            "never rounded",
            kinds.WRONG,
            ("half.astype(np.float32) / np.float32(scale)", "gradient"),
        ),
        mutant(
            "infinities only", kinds.WRONG, ("np.isfinite(half).all()", "not np.isinf(half).any()")
        ),
        mutant("NaN only", kinds.WRONG, ("np.isfinite(half).all()", "not np.isnan(half).any()")),
        mutant(
            "finite before the rounding",
            kinds.WRONG,
            ("np.isfinite(half).all()", "np.isfinite(gradient).all()"),
        ),
        mutant(
            "larger than 65504 before the rounding",
            kinds.WRONG,
            ("np.isfinite(half).all()", "(np.abs(np.float32(scale) * gradient) <= 65504).all()"),
        ),
        mutant("the first 64 alone", kinds.WRONG, ("np.isfinite(half)", "np.isfinite(half[:64])")),
        mutant("no scale below 1", kinds.WRONG, ("scale / 2", "max(scale / 2, 1.0)")),
        mutant("one finite number is enough", kinds.WRONG, (".all()", ".any()")),
        mutant(
            "overflow keeps the count", kinds.WRONG, ("scale, good = scale / 2, 0", "scale /= 2")
        ),
        mutant(
            "doubling keeps the count",
            kinds.WRONG,
            ("scale, good = 2 * scale, 0", "scale = 2 * scale"),
        ),
        mutant("never larger", kinds.WRONG, ("if good == every:", "if False:")),
        mutant("one step late", kinds.WRONG, ("good == every", "good > every")),
        mutant(
            "the scale after the step",
            kinds.WRONG,
            ("        scales.append(scale)\n", ""),
            (
                "            scale, good = scale / 2, 0\n",
                "            scale, good = scale / 2, 0\n        scales.append(scale)\n",
            ),
        ),
        mutant(
            "weights changed in place", kinds.INPUT_CHANGED, ("weights = weights.copy()", "pass")
        ),
    ),
)


def numbers_of(exponent_bits: int, fraction_bits: int) -> np.ndarray:
    """What the codes without a sign stand for, in order."""
    code = np.arange(1 << (exponent_bits + fraction_bits))
    fraction = code & ((1 << fraction_bits) - 1)
    exponent = code >> fraction_bits
    whole = fraction + np.where(exponent > 0, 1 << fraction_bits, 0)
    bias = 2 ** (exponent_bits - 1) - 1
    return whole * 2.0 ** (np.maximum(exponent, 1) - bias - fraction_bits)


def nearest_codes(x: np.ndarray, exponent_bits: int, fraction_bits: int) -> np.ndarray:
    """The code of the number next to each x, of two equally near ones the even one."""
    numbers = numbers_of(exponent_bits, fraction_bits)
    size = np.abs(x.astype(np.float64))
    middles = (numbers[1:] + numbers[:-1]) / 2
    code = np.searchsorted(middles, size, side="left")
    tie = (code < len(middles)) & (size == middles[np.minimum(code, len(middles) - 1)])
    code = np.where(tie & (code % 2 == 1), code + 1, code)
    sign = np.signbit(x).astype(np.uint8) << (exponent_bits + fraction_bits)
    return code.astype(np.uint8) | sign


def in_format(e: int, m: int) -> Values:
    """This format, and a fifth of x halfway between two of its numbers."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        x, numbers = given["x"], numbers_of(e, m)
        ties = rng.choice((numbers[1:] + numbers[:-1]) / 2, x.shape)
        some = rng.random(x.shape) < 0.2
        return {
            "x": np.where(some, np.copysign(ties, x), x),
            "exponent_bits": np.int32(e),
            "fraction_bits": np.int32(m),
        }

    return Values(f"E{e}M{m}", change)


def format_alternatives() -> tuple[Values, ...]:
    """E4M3's bits as given, and others."""
    return AS_GIVEN, *(
        in_format(e, m) for e, m in ((e, m) for e in range(2, 7) for m in range(1, 8 - e))
    )


def halfway(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Few digits, so that many numbers lie in the middle between two."""
    return np.round(x * 8) / 8 * 2.0 ** rng.integers(-9, 6, x.shape)


def of_every_size(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.copysign(2.0 ** rng.uniform(-110, 127, x.shape), x)


def beside_halfway(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The last bit of an fp32 number decides."""
    middles = halfway(x, rng).astype(np.float32)
    return np.nextafter(middles, rng.choice(np.float32([-np.inf, np.inf]), x.shape))


def just_below_a_power(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The rounding goes on to the next exponent."""
    return np.copysign(2.0 ** rng.integers(-18, 18, x.shape) * (1 - 2.0**-20), x)


SMALL_FLOATS = Exercise(
    id="07.small_floats",
    title="round to any small float",
    task="""
Round fp32 numbers to a float of at most 8 bits, such as E4M3, E5M2 or E2M1: how many bits are
exponent and fraction is known only at run time. To the nearest, ties to the even code, and what is
too large, infinity included, to the largest number. Here all codes are numbers, in E4M3 and E5M2
too: no code is kept for infinity or NaN. Numbers below the smallest normal one count too. 2 to 6
bits of exponent, 1 to 5 of fraction; x is no NaN.
""",
    source="07_pytorch_extensions/exercises/small_floats.cu",
    kernel="small_floats",
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "codes": empty(n, np.uint8),
        "n": np.int32(n),
        "exponent_bits": np.int32(4),
        "fraction_bits": np.int32(3),
    },
    reference=lambda given: {
        "codes": nearest_codes(given["x"], int(given["exponent_bits"]), int(given["fraction_bits"]))
    },
    launch=one_thread_each,
    small=(1000, 257, 31, 1),
    full=1 << 24,
    exact=True,
    promises=Promises(
        sizes=promises.lengths(),
        values=(
            (
                *promises.data(
                    "x", *promises.ANY_ORDERED, promises.ZEROS_OF_BOTH_SIGNS, promises.HUGE
                ),
                *promises.data(
                    "x",
                    ("halfway between two", halfway),
                    ("next to the middle of two", beside_halfway),
                    ("of every size", of_every_size),
                    ("just below powers of two", just_below_a_power),
                ),
            ),
            format_alternatives(),
        ),
    ),
    means=(means.one_store_each(), means.work_shared_out(2.0, size=1000)),
    hints=(
        "For a normal number of the format: drop 23 - fraction_bits bits of `size`, after adding a "
        "half of what is dropped, less one, plus the lowest bit that stays. Ties go to even then.",
        "A carry out of the fraction raises the exponent by itself: both stand side by side.",
        "The exponent's bias changes from 127 to 1 - least: subtract "
        "`(least + 126) << fraction_bits`.",
        "Below the smallest normal number the code is |x| over the one distance that there is, "
        "2^(least - fraction_bits), rounded: `__float2int_rn`.",
    ),
    explanation="""
Because the code of a float is exponent and fraction side by side, the codes of positive numbers
are in order, rounding is an addition, and too large is a comparison of codes. That is all that
`cvt.rn.satfinite.e4m3x2.f32` does, two numbers at a time. (E4M3 as the hardware has it gives its
last code to NaN, so it ends at 448 and not at 480.)
""",
    mutants=(
        mutant("digits dropped", kinds.PRECISION, ("(size + half) >> dropped", "size >> dropped")),
        mutant(
            "ties away from zero",
            kinds.WRONG,
            ("(1u << (dropped - 1)) - 1 + (size >> dropped & 1)", "1u << (dropped - 1)"),
        ),
        mutant(
            "ties up with one bit of fraction",
            kinds.WRONG,
            ("(size >> dropped & 1)", "(dropped > 21 ? 1 : size >> dropped & 1)"),
        ),
        mutant(
            "ties down with one bit of fraction",
            kinds.WRONG,
            ("(size >> dropped & 1)", "(dropped > 21 ? 0 : size >> dropped & 1)"),
        ),
        mutant(
            "ties to odd",
            kinds.WRONG,
            ("(size >> dropped & 1)", "(~size >> dropped & 1)"),
        ),
        mutant("wraps around", kinds.WRONG, ("    code = min(code, largest);\n", "")),
        mutant("one code for NaN", kinds.WRONG, ("min(code, largest)", "min(code, largest - 1)")),
        mutant(
            "small ones to zero",
            kinds.WRONG,
            ("code = __float2int_rn(steps);", "code = 0;"),
        ),
        mutant("small ones cut off", kinds.PRECISION, ("__float2int_rn", "__float2int_rz")),
        mutant(
            "small ones half as far apart",
            kinds.WRONG,
            ("exp2f(float(fraction_bits - least))", "exp2f(float(fraction_bits - least + 1))"),
        ),
        mutant(
            "last bit lost",
            kinds.PRECISION,
            ("size = bits & 0x7fffffff", "size = bits & 0x7ffffffe"),
        ),
        mutant(
            "too large for a scale of its own",
            kinds.WRONG,
            ("code = min(code, largest)", "code = size < 0x7e800000 ? min(code, largest) : code"),
        ),
        mutant("bias of E4M3", kinds.WRONG, ("(least + 126)", "120")),
        mutant("no sign", kinds.WRONG, ("code | sign <<", "code | 0 * sign <<")),
        mutant(
            "sign in the highest bit",
            kinds.WRONG,
            ("sign << (exponent_bits + fraction_bits)", "sign << 7"),
        ),
        mutant(
            "no sign of zeros",
            kinds.WRONG,
            ("unsigned sign = bits >> 31;", "unsigned sign = x[i] < 0.0f;"),
        ),
        mutant(
            "no guard", kinds.OUT_OF_BOUNDS, ("    if (i >= n) {\n        return;\n    }\n", "")
        ),
    ),
)


def some_blocks(rng: np.random.Generator, blocks: int) -> dict:
    return {
        "x": floats(rng, 32 * blocks),
        "codes": empty(4 * blocks, np.uint32),
        "scales": empty(blocks, np.uint8),
        "blocks": np.int32(blocks),
    }


def mxfp4_of(given: Given) -> dict:
    x = given["x"].astype(np.float64).reshape(-1, 32)
    largest = np.abs(x).max(1)
    exponents = np.full(len(x), -127)
    for exponent in range(-127, 128):  # the least with which the largest is no more than 6
        exponents += (exponents == exponent) & (largest > 6 * 2.0**exponent)
    size = nearest_codes((x * 2.0 ** -exponents[:, None]).astype(np.float64), 2, 1)
    words = size.reshape(-1, 8).astype(np.uint32) << 4 * np.arange(8, dtype=np.uint32)
    return {
        "codes": np.bitwise_or.reduce(words, axis=1),
        "scales": (exponents + 127).astype(np.uint8),
    }


def of_blocks(change) -> promises.ArrayChange:
    """``change(x, rng)`` of x with a row for each block."""
    return lambda x, rng: change(x.reshape(-1, 32), rng).reshape(x.shape)


def beside_six(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Blocks whose largest number is 6 times any power of two, or one bit more or less."""
    six = (6 * 2.0 ** rng.integers(-100, 100, (len(x), 1))).astype(np.float32)
    towards = rng.permuted(np.resize(np.float32([-np.inf, np.nan, np.inf]), len(x)))[:, None]
    six = np.where(np.isnan(towards), six, np.nextafter(six, towards))
    return np.where(np.arange(32) == rng.integers(32), -six, six * np.tanh(x))


def least_normal(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Hardly more than the least number that is not denormal: the scale has its least code."""
    return np.copysign(2.0 ** (rng.uniform(0, 1, x.shape) - 126 + rng.integers(4)), x)


BLOCKS_OF_NUMBERS = promises.data(
    "x",
    *promises.ANY_FINITE,
    promises.HUGE,
    ("hardly more than 0 (1e-38)", least_normal),
    ("with largest numbers beside 6 times a power", of_blocks(beside_six)),
    ("of zeros of both signs", promises.ZEROS_OF_BOTH_SIGNS[1]),
    ("halfway between two", lambda x, rng: np.round(x * 8) / 4),
    (
        "with blocks of every size",
        of_blocks(lambda x, rng: x * 2.0 ** rng.integers(-118, 124, (len(x), 1))),
    ),
    (
        "with one outlier a block",
        of_blocks(lambda x, rng: np.where(np.arange(32) == rng.integers(32), -300 * x, x)),
    ),
    (
        "with largest numbers of 6 times a power",
        of_blocks(lambda x, rng: np.where(np.arange(32) == rng.integers(32), -24.0, x.clip(-9, 9))),
    ),
    ("with blocks of zeros", of_blocks(lambda x, rng: x * (rng.random((len(x), 1)) < 0.5))),
)


MXFP4_BLOCKS = Exercise(
    id="07.mxfp4_blocks",
    title="blocks of four-bit floats",
    task="""
Quantise blocks of 32 numbers to MXFP4: one power of two for the block, the least with which no
magnitude divided by it is above 6, and four bits for each number. A warp has a block, a lane a
number; eight codes make a word. Any finite numbers but denormal ones, which the course's compiler
options make zeros of; blocks of zeros too. The sign of a number is kept, also that of a zero.
""",
    source="07_pytorch_extensions/exercises/mxfp4_blocks.cu",
    kernel="mxfp4_blocks",
    inputs=some_blocks,
    reference=mxfp4_of,
    launch=lambda blocks: Launch((-(-blocks // 8),), (256,)),
    small=(9, 24, 3, 1),
    full=1 << 18,
    exact=True,
    promises=Promises(
        sizes=promises.lengths("blocks", most=2100).with_longest(blocks=4099),
        values=(BLOCKS_OF_NUMBERS,),
    ),
    means=(
        means.reads_each_once(4 * 32 * 24, size=24),
        means.loads_shared_out(2.0, size=24),
        means.no_shared_memory("Shuffles tell the warp its largest number.", size=24),
        means.shuffles(
            0,
            12 * 32 * 24,
            advice="Five shuffles tell all lanes the largest of 32 numbers: halve the distance.",
            size=24,
        ),
        means.no_local_memory("A number and its code stay in registers.", size=24),
        Means(
            "bytes stored for each block",
            lambda work: work.counts.global_store_bytes / 24,
            at_least=17,
            at_most=17,
            advice="Sixteen bytes of codes and one scale: each is stored once.",
            size=24,
        ),
    ),
    within=2.0,
    hints=(
        "Five shuffles give every lane the largest magnitude.",
        "6 is 1.5 · 2². With e the exponent of the largest number the scale is e - 2, one more if "
        "its fraction is above 1.5's: above 0x400000 of 23 bits.",
        "2^(127 - scale) has the bits `(254 - scale) << 23`, and the product with it is exact.",
        "The code is how many middles are below: 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5. In the "
        "middle the even code wins: > at 0.25, >= at 0.75, and so on in turn.",
    ),
    explanation="""
A scale that is a power of two costs one byte, moves no digits and is found with integers alone. It
wastes up to half of the range, though: a block whose largest number is 6.1 gets a scale of 2, and
counts in steps of 1 where a scale of 6.1 / 6 would do. The recipe of the MX specification takes a
scale of 1 there, and makes 6 of whatever is above: it keeps the small steps and cuts the largest
numbers, up to nearly 8. NVFP4 spends its eight bits of scale on digits instead, and takes the
range from one float for the whole tensor.
""",
    mutants=(
        mutant(
            "scale always down",
            kinds.WRONG,
            (" + ((bits & 0x007fffff) > 0x00400000)", ""),
        ),
        mutant("scale always up", kinds.WRONG, ("((bits & 0x007fffff) > 0x00400000)", "1")),
        mutant("6 itself too large", kinds.WRONG, ("> 0x00400000)", ">= 0x00400000)")),
        mutant("largest of 4", kinds.WRONG, ("> 0x00400000)", "> 0)")),
        mutant("six, nearly", kinds.WRONG, ("bits & 0x007fffff", "bits & 0x007ffffe")),
        mutant(
            "a logarithm that rounds",
            kinds.WRONG,
            (
                "int(bits >> 23) - 2 + ((bits & 0x007fffff) > 0x00400000)",
                "bits ? 127 + int(ceilf(log2f(largest / 6.0f))) : 0",
            ),
        ),
        mutant("not that small", kinds.WRONG, ("max(scale, 0)", "max(scale, bits ? 2 : 0)")),
        mutant("not that large", kinds.WRONG, ("max(scale, 0)", "min(max(scale, 0), 251)")),
        mutant(
            "a shuffle for each lane",
            kinds.MEANS_MISSING,
            (
                "for (int distance = 16; distance > 0; distance /= 2)",
                "for (int from = 0; from < 32; ++from)",
            ),
            (
                "__shfl_xor_sync(kWholeWarp, largest, distance)",
                "__shfl_sync(kWholeWarp, fabsf(own), from)",
            ),
        ),
        mutant("no bound below", kinds.WRONG, ("    scale = max(scale, 0);\n", "")),
        mutant("largest, not magnitude", kinds.WRONG, ("largest = fabsf(own)", "largest = own")),
        mutant("16 numbers a scale", kinds.WRONG, ("int distance = 16", "int distance = 8")),
        mutant(
            "middles up",
            kinds.WRONG,
            ("steps > 0.25f", "steps >= 0.25f"),
            ("steps > 1.25f", "steps >= 1.25f"),
            ("steps > 2.5f", "steps >= 2.5f"),
            ("steps > 5.0f", "steps >= 5.0f"),
        ),
        mutant("steps as integers have them", kinds.WRONG, ("steps > 5.0f", "steps > 4.5f")),
        mutant("signs forgotten", kinds.WRONG, (" >> 31 << 3;", " >> 31 << 4;")),
        mutant(
            "no sign of zeros",
            kinds.WRONG,
            ("__float_as_uint(own) >> 31 << 3", "unsigned(own < 0.0f) << 3"),
        ),
        mutant("first code highest", kinds.WRONG, ("4 * (lane % 8)", "4 * (7 - lane % 8)")),
        mutant("codes of four lanes", kinds.WRONG, ("int distance = 4", "int distance = 2")),
        mutant("own code alone", kinds.WRONG, ("word |= ", "unsigned other = ")),
        mutant("every lane stores", kinds.MEANS_MISSING, ("if (lane % 8 == 0)", "if (true)")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (block >= blocks)", "if (block > blocks)")),
    ),
)


def bytes_to_multiply(rng: np.random.Generator, size: Shape) -> dict:
    rows, k = size
    w, q, zero = rng.integers(-128, 128, size), rng.integers(0, 256, k), 57
    scales = rng.uniform(0.5, 2, rows)
    if k > 1 << 15:  # sums are more than a float counts up to, and little of them is left
        # Σ w · (q - 128) and 128 · Σ w in even rows. In odd ones half of Σ w · q, and then comes
        # what takes it back. In every third row a sum above 2^30 is left, and a scale that makes
        # the result no larger than the others'.
        middle, zero = k // 2, 0
        q = np.where(np.arange(k) < middle, rng.random(k) < 0.001, 255)
        w[::2] = np.where(np.arange(k) < middle, rng.integers(120, 128, k), 0)
        some = rng.integers(120, 128, (k - middle) // 2)
        w[1::2], w[1::2, -1] = 0, 3
        w[1::2, middle : middle + 2 * len(some)] = np.append(some, -rng.permutation(some))
        w[2::3], scales[2::3] = 127, 1e-6
    return {
        "w": w.astype(np.int8),
        "w_scales": scales.astype(np.float32),
        "q": q.astype(np.uint8),
        "x_scale": np.float32(0.03),
        "zero": np.int32(zero),
        "y": empty(rows),
        "M": np.int32(rows),
        "K": np.int32(k),
    }


def product_past_zero(given: Given) -> dict:
    shifted = given["q"].astype(np.int64) - int(given["zero"])
    sums = given["w"].astype(np.int64) @ shifted
    return {"y": given["w_scales"].astype(np.float64) * float(given["x_scale"]) * sums}


def bytes_from(low: int, high: int) -> promises.ArrayChange:
    return f"from {low} to {high}", lambda x, rng: rng.integers(low, high + 1, x.shape)


ZERO_POINT = Exercise(
    id="07.zero_point",
    title="bytes with a zero point",
    task="""
Multiply 8-bit weights by 8-bit activations that lie on one side of 0 for the most part, as after
a GELU: they are stored as unsigned bytes, of which `zero` stands for 0. `__dp4a` takes signed bytes
on both sides, or unsigned ones on both. Bring the two together without taking the bytes apart, and
without losing exactness. Any zero point from 0 to 255, and any bytes whose sums fit an `int`.
""",
    source="07_pytorch_extensions/exercises/zero_point.cu",
    kernel="zero_point",
    inputs=bytes_to_multiply,
    reference=product_past_zero,
    launch=lambda size: Launch((-(-size[0] // 8),), (256,)),
    small=((9, 260), (24, 512), (3, 128), (1, 4)),
    full=(1 << 13, 1 << 13),
    promises=Promises(
        sizes=promises.shapes(rows=(1, 3, 8, 17, 65), K=(4, 64, 132, 260, 1028)).with_longest(
            K=80_004
        ),
        values=(
            (AS_GIVEN, *promises.data("w", bytes_from(-128, -120), bytes_from(120, 127))),
            (
                AS_GIVEN,
                *promises.data("q", bytes_from(0, 5), bytes_from(250, 255), bytes_from(126, 130)),
            ),
            promises.scalars("zero", 0, 127, 128, 129, 255),
            promises.scalars("x_scale", 1e-4, 20),
        ),
    ),
    means=(
        means.instructions(
            "words that __dp4a takes",
            "dp4a.",
            at_least=24 * 512 / 4,
            at_most=3 * 24 * 512 / 4,
            advice="Let `__dp4a` make all the products, four at a time.",
            size=(24, 512),
        ),
        means.loads_shared_out(2.0, size=(24, 512)),
        means.one_store_each(),
        Means(
            "loads for each word of four weights",
            lambda work: work.counts.global_load_requests * 32 / (24 * 512 / 4),
            at_most=5.5,
            advice="Four weights come with one load, and four activations with another.",
            size=(24, 512),
        ),
        Means(
            "shifts and masks for each word of four weights",
            lambda work: work.opcodes("shr.", "shl.", "and.", "bfe.", "prmt.") / (24 * 512 / 4),
            at_most=4.5,
            advice="Give `__dp4a` the words as they were loaded, one of them with bits turned.",
            size=(24, 512),
        ),
    ),
    within=2.0,
    hints=(
        "A byte q minus 128 fits a signed byte, and has the bits of q with the highest one turned: "
        "`int shifted = word ^ 0x80808080` does it for four (without a name it would be unsigned).",
        "Σ w · (q - zero) = Σ w · (q - 128) - (zero - 128) · Σ w.",
        "`__dp4a(word, 0x01010101, sum)` adds up four weights.",
    ),
    explanation="""
A zero point spreads all 256 steps over the range that occurs, wherever 0 lies in it. It costs one
more number for each row, Σ w, which depends on no activation: real kernels compute it once, when
the weights are quantised. Everything is an integer until the last line, so nothing is rounded
before. (PTX has what CUDA C++ does not: `dp4a.s32.u32` takes signed bytes and unsigned ones.)
""",
    mutants=(
        mutant("no zero point", kinds.WRONG, ("    sum -= (zero - 128) * of_w;\n", "")),
        mutant("zero point not moved", kinds.WRONG, ("(zero - 128) * of_w", "zero * of_w")),
        mutant("moved the other way", kinds.WRONG, ("(zero - 128)", "(zero + 128)")),
        mutant("added", kinds.WRONG, ("sum -= (zero", "sum += (zero")),
        mutant(
            "taken as signed",
            kinds.WRONG,
            ("words_q[k] ^ 0x80808080", "words_q[k]"),
            ("(zero - 128)", "zero"),
        ),
        mutant("one byte moved", kinds.WRONG, ("^ 0x80808080", "^ 0x80")),
        mutant(
            "sums in fp32",
            kinds.WRONG,
            (
                "sum -= (zero - 128) * of_w",
                "sum = int(float(sum) - float(zero - 128) * float(of_w))",
            ),
        ),
        mutant(
            "each word exact, their sum in fp32",
            kinds.WRONG,
            ("    int of_w = 0;", "    float all = 0.0f;"),
            (
                "sum = __dp4a(words[k], shifted, sum);",
                "all += __dp4a(words[k], shifted, 0) -\n"
                "               (zero - 128) * __dp4a(words[k], 0x01010101, 0);",
            ),
            ("        of_w = __dp4a(words[k], 0x01010101, of_w);\n", ""),
            ("    sum -= (zero - 128) * of_w;", "    sum = int(all);"),
        ),
        mutant("sums of 30 bits", kinds.WRONG, ("x_scale * sum;", "x_scale * (sum << 2 >> 2);")),
        mutant("sums of 31 bits", kinds.WRONG, ("x_scale * sum;", "x_scale * (sum << 1 >> 1);")),
        mutant("weights summed in 16 bits", kinds.WRONG, ("int of_w = 0", "short of_w = 0")),
        mutant("zero times K", kinds.WRONG, ("(zero - 128) * of_w", "(zero - 128) * K")),
        mutant(
            "first word missed",
            kinds.WRONG,
            ("int k = lane; k < K / 4", "int k = lane + 1; k < K / 4"),
        ),
        mutant("words of the next row", kinds.OUT_OF_BOUNDS, ("k < K / 4", "k <= K / 4")),
        mutant(
            "every lane all words",
            kinds.SCALED,
            ("int k = lane; k < K / 4; k += 32", "int k = 0; k < K / 4; ++k"),
        ),
        mutant(
            "bytes one by one",
            kinds.MEANS_MISSING,
            (
                "        sum = __dp4a(words[k], shifted, sum);\n",
                "        for (int i = 0; i < 4; ++i) {\n"
                "            int x = q[4 * k + i] - 128;\n"
                "            sum += w[(long long)row * K + 4 * k + i] * x;\n"
                "        }\n",
            ),
        ),
        mutant(
            "bytes taken apart and put together",
            kinds.MEANS_MISSING,
            (
                "int shifted = words_q[k] ^ 0x80808080; // q - 128, which fits a signed byte\n",
                "int shifted = 0;\n"
                "        for (int bit = 0; bit < 32; bit += 8) {\n"
                "            shifted |= ((words_q[k] >> bit & 255) - 128 & 255) << bit;\n"
                "        }\n",
            ),
        ),
        mutant(
            "sum rounded to fp16",
            kinds.WRONG,
            (
                "    sum -= (zero - 128) * of_w;\n",
                "    sum = __half2int_rn(__int2half_rn(sum - (zero - 128) * of_w));\n",
            ),
            (
                "constexpr unsigned kWholeWarp",
                "#include <cuda_fp16.h>\nconstexpr unsigned kWholeWarp",
            ),
        ),
    ),
)


def rows_to_prune(rng: np.random.Generator, size: Shape) -> dict:
    rows, k = size
    return {
        "x": floats(rng, size),
        "kept": empty((rows, k // 2)),
        "places": empty((rows, k // 16), np.uint16),
        "rows": np.int32(rows),
        "K": np.int32(k),
    }


def huge_and_infinite(given: Given, rng: np.random.Generator) -> Given:
    return {"x": promises.SOME_INFINITE[1](promises.HUGE[1](given["x"], rng), rng)}


def pruned(given: Given) -> dict:
    x = given["x"]
    fours = x.reshape(-1, 4)
    order = np.argsort(-np.abs(fours), axis=1, kind="stable")[:, :2]
    places = np.sort(order, axis=1)
    words = places.reshape(-1, 8).astype(np.uint32) << 2 * np.arange(8, dtype=np.uint32)
    return {
        "kept": np.take_along_axis(fours, places, axis=1).reshape(len(x), -1),
        "places": words.sum(1).astype(np.uint16).reshape(len(x), -1),
    }


TWO_OF_FOUR = Exercise(
    id="07.two_of_four",
    title="two of every four, and where they were",
    task="""
Prune rows to 2:4 sparsity: of each four neighbours keep the two of largest magnitude, in their
order, of equal ones the first. Eight places of two bits make a word, which is what `mma.sp` wants
for 16 columns. Any numbers but NaN and denormal ones, which the course's compiler options take for
zeros.
""",
    source="07_pytorch_extensions/exercises/two_of_four.cu",
    kernel="two_of_four",
    inputs=rows_to_prune,
    reference=pruned,
    launch=lambda size: Launch((-(-size[0] * size[1] // 4096),), (256,)),
    small=((9, 48), (24, 512), (3, 32), (1, 16)),
    full=(1 << 12, 1 << 12),
    exact=True,
    promises=Promises(
        sizes=promises.shapes(rows=(1, 2, 5, 33, 257), K=(16, 32, 48, 160, 1040)).with_longest(
            K=528_016
        ),
        values=(
            (
                Values("x near the largest float, some ±inf", huge_and_infinite),
                *promises.data("x", *promises.ANY_ORDERED, promises.ZEROS_OF_BOTH_SIGNS),
                *promises.data(
                    "x",
                    promises.SMALLEST_NORMAL,
                    promises.FAINT,
                    (
                        "the largest float or infinite",
                        lambda x, rng: (
                            rng.choice([np.inf, np.finfo(np.float32).max], x.shape)
                            * rng.choice([-1, 1], x.shape)
                        ),
                    ),
                    (
                        "of equal magnitudes",
                        lambda x, rng: rng.choice([-2.0, -1.0, 1.0, 2.0], x.shape),
                    ),
                    (
                        "zero, all but one of four",
                        lambda x, rng: (
                            x.reshape(-1, 4) * (np.arange(4) == rng.integers(4))
                        ).reshape(x.shape),
                    ),
                    (
                        "that differ in their last bits",
                        lambda x, rng: np.copysign(
                            1
                            + 2.0**-23
                            * rng.permuted(np.resize(range(4), (x.size // 4, 4)), axis=1).reshape(
                                x.shape
                            ),
                            x,
                        ),
                    ),
                ),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(2.0, size=(24, 512)),
    ),
    within=2.0,
    hints=(
        "Go over the four, and keep the places of the largest and of the second largest.",
        "Only something *larger* takes a place away: then the first of equal ones stays.",
        "The word gets `low | high << 2` at bit 4 · four, with low < high.",
    ),
    explanation="""
Each four numbers become two and four bits: nine sixteenths of the bytes of fp16. The order matters
to the hardware: `mma.sp` wants the places of a pair ascending. Which two are best is another
question: by magnitude is the simplest answer, and the network is usually trained on for a while
afterwards.
""",
    mutants=(
        mutant(
            "threads as far as 16 bits",
            kinds.PARTLY_WRITTEN,
            ("int thread =", "unsigned short thread ="),
        ),
        mutant(
            "largest, not magnitude",
            kinds.WRONG,
            ("float size = fabsf(from[4 * four + i]);", "float size = from[4 * four + i];"),
            ("size > fabsf(from[4 * four + first])", "size > from[4 * four + first]"),
            ("size > fabsf(from[4 * four + second])", "size > from[4 * four + second]"),
        ),
        mutant(
            "last of equal ones",
            kinds.WRONG,
            ("size > fabsf(from[4 * four + first])", "size >= fabsf(from[4 * four + first])"),
        ),
        mutant(
            "last of equal second ones",
            kinds.WRONG,
            ("size > fabsf(from[4 * four + second])", "size >= fabsf(from[4 * four + second])"),
        ),
        mutant(
            "halves compared",
            kinds.WRONG,
            (
                "float size = fabsf(from[4 * four + i]);",
                "float size = 0.25f * fabsf(from[4 * four + i]);",
            ),
            (
                "size > fabsf(from[4 * four + first])",
                "size > 0.25f * fabsf(from[4 * four + first])",
            ),
            (
                "size > fabsf(from[4 * four + second])",
                "size > 0.25f * fabsf(from[4 * four + second])",
            ),
        ),
        mutant(
            "infinity no larger than the largest float",
            kinds.WRONG,
            (
                "float size = fabsf(from[4 * four + i]);",
                "float size = fminf(fabsf(from[4 * four + i]), 3.4028235e38f);",
            ),
        ),
        mutant(
            "nothing below 1e-30",
            kinds.WRONG,
            (
                "float size = fabsf(from[4 * four + i]);",
                "float size = fabsf(from[4 * four + i]);\n            if (size < 1e-30f) size = 0;",
            ),
        ),
        mutant(
            "last bits ignored",
            kinds.WRONG,
            (
                "float size = fabsf(from[4 * four + i]);",
                "float size = __uint_as_float(__float_as_uint(from[4 * four + i]) & 0x7ffffffc);",
            ),
        ),
        mutant(
            "the first block does all",
            kinds.MEANS_MISSING,
            (
                "if (thread >= rows * (K / 16)) {\n        return;\n    }",
                "if (blockIdx.x > 0) {\n        return;\n    }\n"
                "    for (; thread < rows * (K / 16); thread += blockDim.x) {",
            ),
            ("places[thread] = word;", "places[thread] = word;\n    }"),
        ),
        mutant("the old first forgotten", kinds.WRONG, ("                second = first;\n", "")),
        mutant(
            "largest first",
            kinds.WRONG,
            ("low = min(first, second), high = max(first, second)", "low = first, high = second"),
        ),
        mutant("the first two", kinds.WRONG, ("int i = 1; i < 4", "int i = 1; i < 2")),
        mutant("places of four bits", kinds.WRONG, ("low | high << 2", "low | high << 4")),
        mutant("places swapped", kinds.WRONG, ("low | high << 2", "high | low << 2")),
        mutant("first four highest", kinds.WRONG, ("<< 4 * four", "<< 4 * (3 - four)")),
        mutant("a bit for each", kinds.WRONG, ("(low | high << 2)", "(1 << low | 1 << high)")),
        mutant("the last four alone", kinds.WRONG, ("word |= ", "word = ")),
        mutant(
            "magnitudes kept",
            kinds.WRONG,
            ("= from[4 * four + low]", "= fabsf(from[4 * four + low])"),
        ),
        mutant(
            "no guard", kinds.OUT_OF_BOUNDS, ("if (thread >= rows * (K / 16))", "if (thread < 0)")
        ),
    ),
)


def nibbles_to_multiply(rng: np.random.Generator, size: Shape) -> dict:
    rows, k = size
    return {
        "words": rng.integers(0, 1 << 32, (rows, k // 8), dtype=np.uint32),
        "scales": rng.uniform(0.01, 0.1, (rows, k // 32)).astype(np.float16),
        "x": floats(rng, k).astype(np.float16),
        "y": empty(rows),
        "M": np.int32(rows),
        "K": np.int32(k),
    }


def product_of_nibbles(given: Given) -> dict:
    words = given["words"]
    digits = words[..., None] >> 4 * np.arange(8, dtype=np.uint32) & 15
    whole = digits.reshape(len(words), -1).astype(np.float64) - 8
    scales = given["scales"].astype(np.float64).repeat(32, axis=1)
    return {"y": (whole * scales) @ given["x"].astype(np.float64)}


NIBBLE_PRODUCT = Exercise(
    id="07.nibble_product",
    title="four bits without a conversion",
    task="""
Multiply weights of 4 bits by a vector in fp16. To convert eight nibbles to floats takes eight
conversions, after as many shifts and masks. Make the bits of fp16 numbers instead, two at a time,
and sum in fp32. There is a scale for each 32 neighbours, of any sign. Any nibbles; x is finite, as
are all products.
""",
    source="07_pytorch_extensions/exercises/nibble_product.cu",
    kernel="nibble_product",
    inputs=nibbles_to_multiply,
    reference=product_of_nibbles,
    launch=lambda size: Launch((-(-size[0] // 8),), (256,)),
    small=((9, 288), (24, 512), (3, 64), (1, 32)),
    full=(1 << 13, 1 << 13),
    reduction=lambda size: size[1],
    promises=Promises(
        sizes=promises.shapes(rows=(1, 3, 8, 17, 65), K=(32, 64, 96, 288, 800)).with_longest(
            K=34_016
        ),
        values=(
            promises.data(
                "x", promises.POSITIVE, promises.SMALL, promises.MIDDLING, promises.EQUAL
            ),
            (
                AS_GIVEN,
                *promises.data(
                    "words",
                    ("of zeros", lambda x, rng: np.full_like(x, 0)),
                    ("of ones", lambda x, rng: np.full_like(x, 0xFFFFFFFF)),
                    ("of the lowest bits", lambda x, rng: x & np.uint32(0x11111111)),
                ),
            ),
            promises.data(
                "scales",
                (
                    "with large and negative ones",
                    lambda x, rng: x * rng.choice([-1, 1, 64], x.shape),
                ),
            ),
        ),
    ),
    means=(
        means.instructions(
            "conversions of integers",
            *(
                f"cvt.{mode}{to}.{of}"
                for mode in ("rn.", "")
                for to in ("f32", "f16", "f64")
                for of in ("s", "u")
            ),
            at_most=0,
            advice="`nibble | 0x6400` is an fp16 number already: 1024 + nibble.",
            size=(24, 512),
        ),
        means.loads_shared_out(2.0, size=(24, 512)),
        means.one_store_each(),
        means.instructions(
            "conversions of fp16 to fp32",
            "cvt.f32.f16",
            at_least=2 * 24 * 512,
            advice="Make fp16 numbers of the nibbles: `__half22float2` makes floats of two.",
            size=(24, 512),
        ),
        means.no_local_memory("No table of 16 numbers: the bits are the number.", size=(24, 512)),
        means.no_shared_memory("No table of 16 numbers: the bits are the number.", size=(24, 512)),
    ),
    within=2.0,
    hints=(
        "`words[word] >> 4 * i & 0x000f000f` has the nibbles i and i + 4, one in each half.",
        "`| 0x64006400` makes two fp16 numbers of them, 1024 larger than the nibbles.",
        "1032 in fp16 has the bits 0x6408. `__hsub2` takes it away from both, exactly.",
        "`__half22float2` gives two floats; x is wanted at i and at i + 4.",
    ),
    explanation="""
Between 1024 and 2047 the fp16 numbers are the integers, and their lowest bits count. So an OR
makes the number, and a subtraction takes 1024, and the 8 of the nibbles, away again: two
instructions for two weights in place of two conversions, and both are exact. In fp32 the same
works from 2²³ on.
""",
    mutants=(
        mutant(
            "magnitudes of scales",
            kinds.WRONG,
            ("part * __half2float(", "part * fabsf(__half2float("),
            ("(kGroup / 8)]);", "(kGroup / 8)]));"),
        ),
        mutant("1024 stays", kinds.WRONG, ("0x64086408", "0x00080008")),
        mutant("never negative", kinds.WRONG, ("0x64086408", "0x64006400")),
        mutant("neighbours paired", kinds.WRONG, ("of_x[i + 4]", "of_x[i + 1]")),
        mutant("two nibbles at a time", kinds.WRONG, ("& 0x000f000f", "& 0x00ff00ff")),
        mutant("half of the word", kinds.WRONG, ("i < 4; ++i", "i < 2; ++i")),
        mutant("from above", kinds.WRONG, (">> 4 * i &", ">> 4 * (3 - i) &")),
        mutant("one scale a row", kinds.WRONG, ("scales[word / (kGroup / 8)]", "scales[0]")),
        mutant("a scale for eight words", kinds.WRONG, ("word / (kGroup / 8)", "word / 8")),
        mutant("added twice", kinds.WRONG, ("part += two.x", "sum += two.x")),
        mutant(
            "summed in fp16",
            kinds.PRECISION,
            (
                "part += two.x * __half2float(of_x[i]) + two.y * __half2float(of_x[i + 4]);",
                "part = __half2float(__float2half(part + two.x * __half2float(of_x[i]) +\n"
                "                two.y * __half2float(of_x[i + 4])));",
            ),
        ),
        mutant(
            "converted",
            kinds.MEANS_MISSING,
            (
                "float2 two =\n                __half22float2",
                "float2 two = make_float2(float(nibbles & 15) - 8, float(nibbles >> 16) - 8);\n"
                "            float2 not_used = __half22float2",
            ),
        ),
        mutant(
            "a table of constants",
            kinds.MEANS_MISSING,
            (
                "constexpr int kGroup",
                "__constant__ float kTable[16] = {-8, -7, -6, -5, -4, -3, -2, -1,\n"
                "                                 0, 1, 2, 3, 4, 5, 6, 7};\nconstexpr int kGroup",
            ),
            (
                "float2 two =\n                __half22float2",
                "float2 two = make_float2(kTable[nibbles & 15], kTable[nibbles >> 16]);\n"
                "            __half2 not_used =",
            ),
            ("(__hsub2(as_halves(nibbles", "__hsub2(as_halves(nibbles"),
            ("as_halves(0x64086408)));", "as_halves(0x64086408));"),
        ),
        mutant(
            "the first row's words", kinds.WRONG, ("words += (long long)row", "words += 0LL * row")
        ),
        mutant("one word too many", kinds.OUT_OF_BOUNDS, ("word < K / 8", "word <= K / 8")),
    ),
)


def some_sequences(rng: np.random.Generator, size: Shape) -> dict:
    sequences, tokens = size
    return with_offsets(np.sort(rng.integers(0, tokens + 1, sequences - 1)), tokens)


def with_offsets(inner: np.ndarray, tokens: int) -> dict:
    """The arguments for sequences that begin at 0 and at each of ``inner``."""
    return {
        "offsets": np.concatenate([[0], inner, [tokens]]).astype(np.int32),
        "owner": empty(tokens, np.int32),
        "left": empty(tokens, np.int32),
        "first": np.int32(700),
        "sequences": np.int32(len(inner) + 1),
        "tokens": np.int32(tokens),
    }


def owners(given: Given) -> dict:
    offsets = given["offsets"]
    owner = np.arange(len(offsets) - 1).repeat(np.diff(offsets))
    left = offsets[owner + 1] - np.arange(len(owner))
    return {"owner": (given["first"] + owner).astype(np.int32), "left": left.astype(np.int32)}


def cut(label: str, inner) -> Values:
    """Other beginnings: ``inner(count, tokens, rng)``."""

    def other(given: Given, rng: np.random.Generator) -> Given:
        tokens, count = int(given["tokens"]), int(given["sequences"]) - 1
        return {"offsets": with_offsets(np.sort(inner(count, tokens, rng)), tokens)["offsets"]}

    return Values(label, other)


RAGGED_ROWS = Exercise(
    id="07.ragged_rows",
    title="whose token is this?",
    task="""
A batch of sequences lies in one array without padding, and `offsets` says where each begins. Give
every token a thread, and store its sequence, and how many tokens of that are left. There may be
thousands of sequences, and empty ones among them; a thread reads few of the offsets, not all.
""",
    source="07_pytorch_extensions/exercises/ragged_rows.cu",
    kernel="ragged_rows",
    inputs=some_sequences,
    reference=owners,
    launch=lambda size: Launch((-(-size[1] // 256),), (256,)),
    small=((5, 300), (40, 513), (3, 33), (1, 1)),
    full=(1 << 16, 1 << 24),
    exact=True,
    promises=Promises(
        sizes=promises.shapes(
            sequences=(1, 2, 3, 31, 33, 1000), tokens=(1, 2, 33, 257, 1025, 4099)
        ).with_longest(sequences=131_101, tokens=65_543),
        values=(
            (
                AS_GIVEN,
                cut("all in the first sequence", lambda n, t, rng: np.full(n, t)),
                cut("all in the last sequence", lambda n, t, rng: np.zeros(n, int)),
                cut(
                    "many empty sequences",
                    lambda n, t, rng: rng.integers(0, t + 1, 1 + n // 50).repeat(51)[:n],
                ),
                cut(
                    "one or no token each at first",
                    lambda n, t, rng: np.minimum(np.arange(n) // 2, t),
                ),
            ),
            promises.scalars("first", 0, 41, -2_000_000),
        ),
    ),
    means=(
        means.one_store_each(),
        means.a_thread_each(0.5, size=(40, 513)),
        most_read(
            "bytes that a thread reads, at most",
            at_most=4 * 16,
            advice="The offsets are in order: halving finds one of 40 in six steps.",
            size=(40, 513),
        ),
        most_read(
            "bytes that a thread reads where there are 3000 sequences, at most",
            at_most=4 * 24,
            advice="The offsets are in order: halving finds one of 3000 in twelve steps.",
            size=(3000, 600),
        ),
        most_read(
            "bytes that a thread reads where there are 100,000 sequences, at most",
            at_most=4 * 34,
            advice="The offsets are in order: halving finds one of 100,000 in 17 steps.",
            size=(100_000, 600),
        ),
    ),
    within=2.0,
    hints=(
        "Keep two bounds with offsets[low] <= token < offsets[high], and look at the middle.",
        "offsets[sequences] is the number of tokens: `high` begins there.",
        "An empty sequence has the same offset as the next one. Where offsets[middle] equals the "
        "token go up: the last of several equal offsets is the one whose sequence has it.",
    ),
    explanation="""
A thread a token shares the work evenly, whatever the lengths are: one sequence of a thousand
tokens and a thousand of one token cost the same. A block a sequence, as in `ragged_mean`, is
simpler, and waits for the longest. The search costs a read for each halving, about log₂ of the
number of sequences, and the first ones are the same for all threads.
""",
    mutants=(
        mutant(
            "steps of 1024 first",
            kinds.MEANS_MISSING,
            (
                "    while (high - low > 1) {",
                "    while (low + 1024 < sequences && offsets[low + 1024] <= token) low += 1024;\n"
                "    while (high - low > 1) {",
            ),
        ),
        mutant(
            "first of equal offsets",
            kinds.WRONG,
            ("offsets[middle] <= token", "offsets[middle] < token"),
        ),
        mutant("first is 700", kinds.WRONG, ("first + low", "700 + low")),
        mutant(
            "eleven steps at most",
            kinds.WRONG,
            (
                "while (high - low > 1) {",
                "for (int step = 0; step < 11 && high - low > 1; ++step) {",
            ),
        ),
        mutant(
            "one by one where there are many",
            kinds.MEANS_MISSING,
            (
                "int middle = (low + high) / 2;",
                "int middle = sequences > 1000 ? low + 1 : (low + high) / 2;",
            ),
        ),
        mutant(
            "one by one from a guess",
            kinds.MEANS_MISSING,
            (
                "int low = 0, high = sequences;",
                "int low = (long long)token * sequences / tokens, high = low + 1;\n"
                "    for (; offsets[low] > token; --low, --high) {\n    }\n"
                "    for (; offsets[high] <= token; ++low, ++high) {\n    }",
            ),
        ),
        mutant("counted from 0", kinds.WRONG, ("first + low", "low")),
        mutant("65,536 sequences", kinds.WRONG, ("first + low", "first + (low & 0xffff)")),
        mutant("the upper bound", kinds.WRONG, ("first + low", "first + high")),
        mutant(
            "the last sequence left out", kinds.EDGES, ("high = sequences", "high = sequences - 1")
        ),
        mutant(
            "one past the end", kinds.OUT_OF_BOUNDS, ("high = sequences", "high = sequences + 3")
        ),
        mutant("left in all", kinds.WRONG, ("offsets[low + 1] - token", "tokens - token")),
        mutant("without itself", kinds.OFF_BY_ONE, ("[low + 1] - token", "[low + 1] - token - 1")),
        mutant("from the front", kinds.WRONG, ("offsets[low + 1] - token", "token - offsets[low]")),
        mutant("stops too early", kinds.WRONG, ("high - low > 1", "high - low > 2")),
        mutant("never ends", kinds.ENDLESS_LOOP, ("high - low > 1", "high - low > 0")),
        mutant(
            "one by one",
            kinds.MEANS_MISSING,
            ("int middle = (low + high) / 2;", "int middle = low + 1;"),
        ),
        mutant(
            "sixteen at most",
            kinds.WRONG,
            (
                "while (high - low > 1) {",
                "for (int step = 0; step < 9 && high - low > 1; ++step) {",
            ),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (token >= tokens)", "if (token > tokens)")),
    ),
)
