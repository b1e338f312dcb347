"""The exercises of "Low precision"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import AS_GIVEN, Domain, DrawnCases, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.reviews import review
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.vectors import one_thread_each
from course_utils.exercises.authoring.worked import Worked

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


def descent(
    seed: int, steps: int, n: int, size: float, scale: float, every: int
) -> tuple[Any, ...]:
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


def by_hand() -> tuple[Any, ...]:
    """Small integers, and one that fp16 does not have."""
    gradients = np.array([[1, 2], [3, 0], [70_000, 1], [1, 1]], np.float32)
    return np.array([4, 8], np.float32), gradients, 1.0, 1.0, 2


def broken(arguments: tuple[Any, ...], step: int, value: float) -> tuple[Any, ...]:
    """The same with one number of one gradient that no scale makes finite."""
    arguments[1][step, -1] = value
    return arguments


def any_descent(rng: np.random.Generator) -> tuple[Any, ...]:
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
    function="scaled_descent",
    cases=(
        by_hand(),
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
    contract=DrawnCases(any_descent),
    rtol=1e-5,
)


def numbers_of(exponent_bits: int, fraction_bits: int) -> np.ndarray:
    """The values of the codes without a sign, in order."""
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


def in_format(e: int, m: int) -> InputClass:
    """This format, and a fifth of x halfway between two of its numbers."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        x, numbers = given["x"], numbers_of(e, m)
        ties = rng.choice((numbers[1:] + numbers[:-1]) / 2, x.shape)
        some = rng.random(x.shape) < 0.2
        return {
            "x": np.where(some, np.copysign(ties, x), x),
            **int32s(exponent_bits=e, fraction_bits=m),
        }

    return InputClass(f"E{e}M{m}", change)


def format_alternatives() -> tuple[InputClass, ...]:
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
    return np.nextafter(middles, rng.choice(np.array([-np.inf, np.inf], np.float32), x.shape))


def just_below_a_power(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The rounding goes on to the next exponent."""
    return np.copysign(2.0 ** rng.integers(-18, 18, x.shape) * (1 - 2.0**-20), x)


SMALL_FLOATS = KernelExercise(
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "codes": empty(n, np.uint8),
        **int32s(n=n, exponent_bits=4, fraction_bits=3),
    },
    reference=lambda given: {
        "codes": nearest_codes(given["x"], int(given["exponent_bits"]), int(given["fraction_bits"]))
    },
    launch=one_thread_each,
    small=(1000, 257, 31, 1),
    full=1 << 24,
    exact=True,
    contract=Domain(
        sizes=domain.lengths(),
        values=(
            (
                *domain.data("x", *domain.ANY_ORDERED, domain.ZEROS_OF_BOTH_SIGNS, domain.HUGE),
                *domain.data(
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
    method=(method.one_store_per_result(), method.balanced_work(2.0, size=1000)),
)


def some_blocks(rng: np.random.Generator, blocks: int) -> Given:
    return {
        "x": floats(rng, 32 * blocks),
        "codes": empty(4 * blocks, np.uint32),
        "scales": empty(blocks, np.uint8),
        "blocks": np.int32(blocks),
    }


def mxfp4_of(given: Given) -> dict[str, np.ndarray]:
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


def of_blocks(change: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """``change(x, rng)`` of x with a row for each block."""
    return lambda x, rng: change(x.reshape(-1, 32), rng).reshape(x.shape)


def beside_six(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Blocks whose largest number is 6 times any power of two, or one bit more or less."""
    six = (6 * 2.0 ** rng.integers(-100, 100, (len(x), 1))).astype(np.float32)
    towards = rng.permuted(np.resize(np.array([-np.inf, np.nan, np.inf], np.float32), len(x)))[
        :, None
    ]
    six = np.where(np.isnan(towards), six, np.nextafter(six, towards))
    return np.where(np.arange(32) == rng.integers(32), -six, six * np.tanh(x))


def least_normal(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Hardly more than the least number that is not denormal: the scale has its least code."""
    return np.copysign(2.0 ** (rng.uniform(0, 1, x.shape) - 126 + rng.integers(4)), x)


BLOCKS_OF_NUMBERS = domain.data(
    "x",
    *domain.ANY_FINITE,
    domain.HUGE,
    ("hardly more than 0 (1e-38)", least_normal),
    ("with largest numbers beside 6 times a power", of_blocks(beside_six)),
    ("of zeros of both signs", domain.ZEROS_OF_BOTH_SIGNS[1]),
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


MXFP4_BLOCKS = KernelExercise(
    inputs=some_blocks,
    reference=mxfp4_of,
    launch=lambda blocks: Launch((ceil_div(blocks, 8),), (256,)),
    small=(9, 24, 3, 1),
    worked=Worked(why_not="a block of the format has 32 numbers"),
    full=1 << 18,
    exact=True,
    contract=Domain(
        sizes=domain.lengths("blocks", most=2100).with_outlier(blocks=4099),
        values=(BLOCKS_OF_NUMBERS,),
    ),
    method=(
        method.reads_each_once(4 * 32 * 24, size=24),
        method.balanced_loads(2.0, size=24),
        method.no_shared_memory("Shuffles tell the warp its largest number.", size=24),
        method.shuffles(
            0,
            12 * 32 * 24,
            advice="Five shuffles tell all lanes the largest of 32 numbers: halve the distance.",
            size=24,
        ),
        method.no_local_memory("A number and its code stay in registers.", size=24),
        Requirement(
            "bytes stored for each block",
            lambda stats: stats.counts.global_store_bytes / 24,
            at_least=17,
            at_most=17,
            advice="Sixteen bytes of codes and one scale: each is stored once.",
            size=24,
        ),
    ),
    within=2.0,
)


def bytes_to_multiply(rng: np.random.Generator, size: Shape) -> Given:
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
        **int32s(M=rows, K=k),
    }


def product_past_zero(given: Given) -> dict[str, np.ndarray]:
    shifted = given["q"].astype(np.int64) - int(given["zero"])
    sums = given["w"].astype(np.int64) @ shifted
    return {"y": given["w_scales"].astype(np.float64) * float(given["x_scale"]) * sums}


def bytes_from(low: int, high: int) -> domain.ArrayChange:
    return f"from {low} to {high}", lambda x, rng: rng.integers(low, high + 1, x.shape)


ZERO_POINT = KernelExercise(
    inputs=bytes_to_multiply,
    reference=product_past_zero,
    launch=lambda size: Launch((ceil_div(size[0], 8),), (256,)),
    small=((9, 260), (24, 512), (3, 128), (1, 4)),
    worked=Worked(whole=("w", "w_scales", "q"), values={"x_scale": 0.5, "zero": 2}),
    full=(1 << 13, 1 << 13),
    contract=Domain(
        sizes=domain.shapes(rows=(1, 3, 8, 17, 65), K=(4, 64, 132, 260, 1028))
        .with_outlier(K=80_004)
        .limited_in("K"),
        values=(
            (AS_GIVEN, *domain.data("w", bytes_from(-128, -120), bytes_from(120, 127))),
            (
                AS_GIVEN,
                *domain.data("q", bytes_from(0, 5), bytes_from(250, 255), bytes_from(126, 130)),
            ),
            domain.scalars("zero", 0, 127, 128, 129, 255),
            domain.scalars("x_scale", 1e-4, 20),
        ),
    ),
    method=(
        method.instructions(
            "words that __dp4a takes",
            "dp4a.",
            at_least=24 * 512 / 4,
            at_most=3 * 24 * 512 / 4,
            advice="Let `__dp4a` make all the products, four at a time.",
            size=(24, 512),
        ),
        method.balanced_loads(2.0, size=(24, 512)),
        method.one_store_per_result(),
        Requirement(
            "loads for each word of four weights",
            lambda stats: stats.counts.global_load_requests * 32 / (24 * 512 / 4),
            at_most=5.5,
            advice="Four weights come with one load, and four activations with another.",
            size=(24, 512),
        ),
        Requirement(
            "shifts and masks for each word of four weights",
            lambda stats: stats.opcodes("shr.", "shl.", "and.", "bfe.", "prmt.") / (24 * 512 / 4),
            at_most=4.5,
            advice="Give `__dp4a` the words as they were loaded, one of them with bits turned.",
            size=(24, 512),
        ),
    ),
    within=2.0,
)


FAULTS = {
    7: "race",
    9: "barrier",
    13: "range",
    16: "rounding",
}  # tests/exercises/test_reviewed_quantiser.py proves it


REVIEW_QUANTISER = review(
    FAULTS,
    example='{3: "bounds"}',
    start="Follow thread 200 through the loop in line 8, then the largest number of a row to line "
    "16.",
)


def rows_to_prune(rng: np.random.Generator, size: Shape) -> Given:
    rows, k = size
    return {
        "x": floats(rng, size),
        "kept": empty((rows, k // 2)),
        "places": empty((rows, k // 16), np.uint16),
        **int32s(rows=rows, K=k),
    }


def huge_and_infinite(given: Given, rng: np.random.Generator) -> Given:
    return {"x": domain.SOME_INFINITE[1](domain.HUGE[1](given["x"], rng), rng)}


def pruned(given: Given) -> dict[str, np.ndarray]:
    x = given["x"]
    fours = x.reshape(-1, 4)
    order = np.argsort(-np.abs(fours), axis=1, kind="stable")[:, :2]
    places = np.sort(order, axis=1)
    words = places.reshape(-1, 8).astype(np.uint32) << 2 * np.arange(8, dtype=np.uint32)
    return {
        "kept": np.take_along_axis(fours, places, axis=1).reshape(len(x), -1),
        "places": words.sum(1).astype(np.uint16).reshape(len(x), -1),
    }


TWO_OF_FOUR = KernelExercise(
    inputs=rows_to_prune,
    reference=pruned,
    launch=lambda size: Launch((ceil_div(size[0] * size[1], 4096),), (256,)),
    small=((9, 48), (24, 512), (3, 32), (1, 16)),
    full=(1 << 12, 1 << 12),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(rows=(1, 2, 5, 33, 257), K=(16, 32, 48, 160, 1040)).with_outlier(
            K=528_016
        ),
        values=(
            (
                InputClass("x near the largest float, some ±inf", huge_and_infinite),
                *domain.data("x", *domain.ANY_ORDERED, domain.ZEROS_OF_BOTH_SIGNS),
                *domain.data(
                    "x",
                    domain.SMALLEST_NORMAL,
                    domain.FAINT,
                    (
                        "the largest float or infinite",
                        lambda x, rng: (
                            rng.choice([np.inf, float(np.finfo(np.float32).max)], x.shape)
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
    method=(method.one_store_per_result(size=(24, 512)), method.balanced_work(2.0, size=(24, 512))),
    within=2.0,
)


def nibbles_to_multiply(rng: np.random.Generator, size: Shape) -> Given:
    rows, k = size
    return {
        "words": rng.integers(0, 1 << 32, (rows, k // 8), dtype=np.uint32),
        "scales": rng.uniform(0.01, 0.1, (rows, k // 32)).astype(np.float16),
        "x": floats(rng, k).astype(np.float16),
        "y": empty(rows),
        **int32s(M=rows, K=k),
    }


def product_of_nibbles(given: Given) -> dict[str, np.ndarray]:
    words = given["words"]
    digits = words[..., None] >> 4 * np.arange(8, dtype=np.uint32) & 15
    whole = digits.reshape(len(words), -1).astype(np.float64) - 8
    scales = given["scales"].astype(np.float64).repeat(32, axis=1)
    return {"y": (whole * scales) @ given["x"].astype(np.float64)}


NIBBLE_PRODUCT = KernelExercise(
    inputs=nibbles_to_multiply,
    reference=product_of_nibbles,
    launch=lambda size: Launch((ceil_div(size[0], 8),), (256,)),
    small=((9, 288), (24, 512), (3, 64), (1, 32)),
    worked=Worked(  # four weights other than 0: 2, 3, -1 and 1, of the nibbles a, b, 7 and 9
        size=(1, 32),
        values={
            "words": (0x888788BA, 0x88888889, 0x88888888, 0x88888888),
            "scales": -2,
            "x": {0: 4, 1: 5, 4: 3, 8: 6},
        },
    ),
    full=(1 << 13, 1 << 13),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(rows=(1, 3, 8, 17, 65), K=(32, 64, 96, 288, 800)).with_outlier(
            K=34_016
        ),
        values=(
            domain.data("x", domain.POSITIVE, domain.SMALL, domain.MIDDLING, domain.EQUAL),
            (
                AS_GIVEN,
                *domain.data(
                    "words",
                    ("of zeros", lambda x, rng: np.full_like(x, 0)),
                    ("of ones", lambda x, rng: np.full_like(x, 0xFFFFFFFF)),
                    ("of the lowest bits", lambda x, rng: x & np.uint32(0x11111111)),
                ),
            ),
            domain.data(
                "scales",
                (
                    "with large and negative ones",
                    lambda x, rng: x * rng.choice([-1, 1, 64], x.shape),
                ),
            ),
        ),
    ),
    method=(
        method.instructions(
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
        method.balanced_loads(2.0, size=(24, 512)),
        method.one_store_per_result(),
        method.instructions(
            "conversions of fp16 to fp32",
            "cvt.f32.f16",
            at_least=2 * 24 * 512,
            advice="Make fp16 numbers of the nibbles: `__half22float2` makes floats of two.",
            size=(24, 512),
        ),
        method.no_local_memory("No table of 16 numbers: the bits are the number.", size=(24, 512)),
        method.no_shared_memory("No table of 16 numbers: the bits are the number.", size=(24, 512)),
    ),
    within=2.0,
)


def some_sequences(rng: np.random.Generator, size: Shape) -> Given:
    sequences, tokens = size
    return with_offsets(np.sort(rng.integers(0, tokens + 1, sequences - 1)), tokens)


def with_offsets(inner: np.ndarray, tokens: int) -> dict[str, Any]:
    """The arguments for sequences that begin at 0 and at each of ``inner``."""
    return {
        "offsets": np.concatenate([[0], inner, [tokens]]).astype(np.int32),
        "owner": empty(tokens, np.int32),
        "left": empty(tokens, np.int32),
        **int32s(first=700, sequences=len(inner) + 1, tokens=tokens),
    }


def owners(given: Given) -> dict[str, np.ndarray]:
    offsets, token = given["offsets"], np.arange(given["tokens"])
    # Of wrong offsets `repeat` would make billions of owners.
    owner = np.searchsorted(offsets, token, side="right") - 1
    left = offsets[owner + 1] - token
    return {"owner": (given["first"] + owner).astype(np.int32), "left": left.astype(np.int32)}


def cut(label: str, inner: Callable[..., Any]) -> InputClass:
    """Other beginnings: ``inner(count, tokens, rng)``."""

    def other(given: Given, rng: np.random.Generator) -> Given:
        tokens, count = int(given["tokens"]), int(given["sequences"]) - 1
        return {"offsets": with_offsets(np.sort(inner(count, tokens, rng)), tokens)["offsets"]}

    return InputClass(label, other)


RAGGED_ROWS = KernelExercise(
    inputs=some_sequences,
    reference=owners,
    launch=lambda size: Launch((ceil_div(size[1], 256),), (256,)),
    small=((5, 300), (40, 513), (3, 33), (1, 1)),
    full=(1 << 16, 1 << 24),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(
            sequences=(1, 2, 3, 31, 33, 1000), tokens=(1, 2, 33, 257, 1025, 4099)
        ).with_outlier(sequences=131_101, tokens=65_543),
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
            domain.scalars("first", 0, 41, -2_000_000),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.a_thread_each(0.5, size=(40, 513)),
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
)
