"""The exercises of "cuRAND"."""

from __future__ import annotations

from collections.abc import Callable
from runpy import run_path

import numpy as np

from course_utils import ceil_div
from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, int32s
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.versions import Version, told_apart
from course_utils.exercises.authoring.worked import Worked
from course_utils.paths import KERNELS

OURS = run_path(str(KERNELS / "07_pytorch_extensions/philox.py"))
SEEDS = (0, 1, (1 << 40) + 3, (1 << 64) - 99)


def words(rng: np.random.Generator, shape: int | tuple[int, ...]) -> np.ndarray:
    """Any 32 bits."""
    return rng.integers(0, 1 << 32, shape, dtype=np.uint32)


# --- skipping ahead ---


def after_steps(given: Given) -> dict[str, np.ndarray]:
    factor, step, modulus = 1664525, 1013904223, 1 << 32

    def state(steps: int) -> int:
        power = pow(factor, steps, (factor - 1) * modulus)  # so that the sum can be divided
        return (power * int(given["seed"]) + (power - 1) // (factor - 1) * step) % modulus

    skip = int(given["skip"])
    return {"out": np.array([state(skip + i) for i in range(int(given["n"]))], np.uint32)}


SKIP_AHEAD = KernelExercise(
    inputs=lambda rng, n: {
        "out": empty(n, np.uint32),
        "seed": np.uint32(rng.integers(0, 1 << 32)),
        "skip": np.uint64(1000),
        "n": np.int32(n),
    },
    reference=after_steps,
    launch=lambda n: Launch((ceil_div(n, 128),), (128,)),
    small=(300, 33, 1),
    worked=Worked(values={"seed": 1, "skip": 0}),
    full=1 << 16,
    exact=True,
    contract=Domain(
        sizes=domain.lengths(most=1025).with_outlier(n=65_600),
        values=(
            domain.scalars("skip", 0, 1, 1 << 31, (1 << 32) + 5, (1 << 63) + 12345),
            domain.scalars("seed", 0, 1, (1 << 32) - 1),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(),
        method.instructions(
            "products (two or three for each bit of the number of steps)",
            "mad.",
            "mul.",
            at_most=300 * 4099,
            advice="A few dozen operations lead to any place, all i steps of thread i included.",
            size=4099,
        ),
    ),
)

# --- the rounds ---


def after_rounds(given: Given) -> dict[str, np.ndarray]:
    low = np.uint64(0xFFFFFFFF)
    x, y, z, w = given["counters"].astype(np.uint64).T
    for turn in range(int(given["rounds"])):
        keys = (int(given["key"]) >> 32 * i for i in (0, 1))
        weyl = zip(keys, (0x9E3779B9, 0xBB67AE85), strict=True)
        first, second = (np.uint64(key + turn * step & 0xFFFFFFFF) for key, step in weyl)
        by_x, by_z = np.uint64(0xD2511F53) * x, np.uint64(0xCD9E8D57) * z
        x, y, z, w = by_z >> 32 ^ y ^ first, by_z & low, by_x >> 32 ^ w ^ second, by_x & low
    return {"out": np.stack([x, y, z, w], axis=1).astype(np.uint32)}


PHILOX_ROUNDS = KernelExercise(
    inputs=lambda rng, n: {
        "counters": words(rng, (n, 4)),
        "out": empty((n, 4), np.uint32),
        "key": np.uint64(0x123456789ABCDEF0),
        **int32s(rounds=10, n=n),
    },
    reference=after_rounds,
    launch=lambda n: Launch((ceil_div(n, 128),), (128,)),
    small=(300, 33, 1),
    worked=Worked(size=1, values={"counters": (1, 2, 3, 4), "key": 5, "rounds": 1}),
    axes={"out": ("counter", "word")},
    full=1 << 22,
    exact=True,
    contract=Domain(
        sizes=domain.lengths(most=1025).with_outlier(n=65_600),
        values=(domain.scalars("rounds", 0, 1, 2, 7, 300), domain.scalars("key", *SEEDS)),
    ),
    method=(method.one_store_per_result(), method.balanced_work()),
)

# --- going on where you stopped ---


def later_part(given: Given) -> dict[str, np.ndarray]:
    first, streams = int(given["offset"]), int(given["streams"])
    start = first // 4
    groups = range(start, (first + int(given["n"]) + 3) // 4)
    turn, stream = np.divmod(np.array(groups, np.uint64), np.uint64(streams))
    drawn = OURS["philox"](int(given["seed"]), stream, turn).ravel()
    return {"out": drawn[first - 4 * start :][: int(given["n"])]}


GO_ON = KernelExercise(
    inputs=lambda rng, n: {
        "out": empty(n, np.uint32),
        "seed": np.uint64(1234),
        "offset": np.uint64(rng.integers(1, 4)),
        **int32s(streams=100, n=n),
    },
    reference=later_part,
    launch=lambda n: Launch((ceil_div(n, 512) + 1,), (128,)),
    small=(1001, 4096, 130, 3, 1),
    budget=250_000,  # for one thread alone
    full=1 << 24,
    exact=True,
    contract=Domain(
        sizes=domain.shapes(n=(1, 2, 3, 4, 5, 31, 32, 33, 127, 128, 1025, 4096, 4099)),
        launches=domain.grids((1, 1), (1, 32), (3, 96), (7, 256), (40, 1)),
        values=(
            domain.scalars(
                "offset", 0, 1, 2, 3, 4, 399, 401, (1 << 34) + 5, (1 << 59) + 6, (1 << 59) + 75
            ),
            domain.scalars("seed", *SEEDS),
            (  # many of them show far on in the stream only
                *domain.scalars("streams", 1, 3),
                *domain.together(
                    *(
                        {"streams": streams, "offset": (1 << 59) + 6}
                        for streams in (65_536, 70_001, 1 << 29, (1 << 31) - 1)
                    )
                )[1:],
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=1001),
        method.instructions(
            "upper halves of products (two a round, ten rounds a block of four)",
            "mul.hi",
            at_least=18 * 250,
            at_most=22 * 260,
            advice="Let one thread call `philox` for a group, and store all of it that is wanted.",
            size=1001,
        ),
    ),
    within=2.5,
)

# --- which number is whose? ---


def place_in_torch(i: int, threads: int) -> tuple[int, int, int]:
    first = i // (4 * threads)  # the blocks before are full
    for number in range(4):
        if i - (4 * first + number) * threads < threads:
            return i - (4 * first + number) * threads, first, number
    raise AssertionError("an element has a place")


WHERE_FROM = PythonExercise(
    cases=(
        (0, 256),
        (255, 256),
        (256, 256),
        (1000, 256),
        (1024, 256),
        (5000, 512),
        (3, 1),
        (5_000_000_000, 540_672),
        (2**60 - 1, 2**58),
    ),
    reference=place_in_torch,
    contract=DrawnCases(lambda rng: (int(rng.integers(0, 40_000)), int(rng.integers(1, 2000)))),
)

# --- normal numbers ---


def extreme(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """No bit, all bits, and some in between."""
    return rng.choice(np.array([0, 1 << 31, (1 << 32) - 200, (1 << 32) - 1], np.uint32), x.shape)


def by_radius_and_angle(given: Given) -> dict[str, np.ndarray]:
    u, v = (OURS["uniform"](given[name]).astype(np.float64) for name in ("first", "second"))
    radius = np.sqrt(-2 * np.log(u))
    pairs = radius * np.sin(2 * np.pi * v), radius * np.cos(2 * np.pi * v)
    return {"out": np.stack(pairs, axis=1).ravel()}


# Radii of 1, 2, 3, 1 and 2, angles of a quarter, a half, three quarters, a twelfth and an eighth.
OF_WHOLE_RADII = {
    "first": np.rint(np.exp(-(np.array([1, 2, 3, 1, 2]) ** 2) / 2) * 2.0**32).astype(np.uint32),
    "second": np.rint(np.array([1 / 4, 1 / 2, 3 / 4, 1 / 12, 1 / 8]) * 2.0**32).astype(np.uint32),
}


BOX_MULLER = KernelExercise(
    inputs=lambda rng, n: {
        "first": words(rng, n),
        "second": words(rng, n),
        "out": empty(2 * n),
        "n": np.int32(n),
    },
    reference=by_radius_and_angle,
    launch=lambda n: Launch((ceil_div(n, 128),), (128,)),
    small=(1000, 129, 31, 1),
    worked=Worked(size=5, values=OF_WHOLE_RADII),
    full=1 << 24,
    reduction=lambda n: 32,
    contract=Domain(
        sizes=domain.lengths(most=4099),
        values=(
            domain.data("first", ("among its smallest and largest", extreme)),
            domain.data("second", ("among its smallest and largest", extreme)),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(),
        method.instructions(
            "square roots",
            "sqrt",
            "rsqrt",
            at_least=1000,
            at_most=1100,
            advice="A pair has one radius: two angles of one radius are what makes it a pair.",
            size=1000,
        ),
        method.instructions(
            "fast logarithms, sines and cosines",
            "lg2.approx",
            "sin.approx",
            "cos.approx",
            at_most=0,
            advice="Near 1 the logarithm is small, and the error of `__logf` is not: take `logf`, "
            "and `sincospif`.",
            size=1000,
        ),
    ),
)

# --- dice ---


def throws(given: Given) -> dict[str, np.ndarray]:
    n, sides = int(given["n"]), int(given["sides"])
    refused = (1 << 32) % sides
    out, open_ = np.zeros(n, np.uint32), np.arange(n, dtype=np.uint64)
    block = 0
    while len(open_):
        tried = OURS["philox"](int(given["seed"]), open_, block).astype(np.uint64) * np.uint64(
            sides
        )
        good = (tried & np.uint64(0xFFFFFFFF)) >= refused
        found = good.any(axis=1)
        first = good.argmax(axis=1)
        out[open_[found]] = (tried[np.arange(len(open_)), first] >> 32)[found]
        open_, block = open_[~found], block + 1
    return {"out": out}


TRIES = (  # the last two of these need 25 and 33 numbers for one of 1,000 throws
    {"sides": (1 << 31) + 1, "seed": 5},
    {"sides": (1 << 31) + 1, "seed": 3932},
    {"sides": (1 << 31) + 1, "seed": 2_193_970},
)


DICE = KernelExercise(
    inputs=lambda rng, n: {
        "out": empty(n, np.uint32),
        "seed": np.uint64(99),
        "sides": np.uint32(3 << 30),
        "n": np.int32(n),
    },
    reference=throws,
    launch=lambda n: Launch((ceil_div(n, 128),), (128,)),
    small=(1000, 129, 31, 1),
    worked=Worked(values={"sides": 6}),
    full=1 << 22,
    exact=True,
    contract=Domain(
        sizes=domain.lengths(most=4099),
        values=(
            domain.scalars("seed", *SEEDS),
            (
                *domain.scalars("sides", 1, 2, 6, 52, 1 << 31, (1 << 32) - 1),
                *domain.together(*TRIES),
            ),
        ),
    ),
    method=(method.one_store_per_result(), method.balanced_work()),
)


# --- a test of a stream ---

Draw = Callable[[int, int, int], np.ndarray]


def mixed(x: np.ndarray | int) -> np.ndarray:
    """64 bits for each number, by the finaliser of SplitMix64."""
    z = np.atleast_1d(np.asarray(x, np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ z >> np.uint64(shift)) * np.uint64(factor)
    return z ^ z >> np.uint64(31)


def indices(start: int, n: int) -> np.ndarray:
    return np.uint64(start) + np.arange(n, dtype=np.uint64)


def bits_of(seed: int, index: np.ndarray) -> np.ndarray:
    """The 64 bits of some numbers of a seed's stream."""
    return mixed(index + mixed(seed))


def uniform(bits: np.ndarray) -> np.ndarray:
    """Numbers above 0 and at most 1, of 24 of the bits."""
    return (((bits >> np.uint64(40)).astype(np.float64) + 1) / (1 << 24)).astype(np.float32)


def drawn(seed: int, start: int, n: int) -> np.ndarray:
    return uniform(bits_of(seed, indices(start, n)))


def by_philox(seed: int, start: int, n: int) -> np.ndarray:
    """NumPy's Philox, which makes four numbers for each count."""
    source = np.random.Philox(key=seed, counter=start // 4)
    return uniform(source.random_raw(start % 4 + n)[start % 4 :])


def to_the_middle(seed: int, start: int, n: int) -> np.ndarray:
    bits = bits_of(~seed & (1 << 63) - 1, indices(start, n))
    return (((bits >> np.uint64(32)).astype(np.float64) + 0.5) / (1 << 32)).astype(np.float32)


def by_index(change: Callable[[np.ndarray], np.ndarray]) -> Draw:
    """A stream whose number i is number change(i) of the right one."""
    return lambda seed, start, n: uniform(bits_of(seed, change(indices(start, n))))


def of_values(change: Callable[[np.ndarray], np.ndarray]) -> Draw:
    """A stream of changed numbers, in float64 on the way."""
    return lambda *given: change(drawn(*given).astype(np.float64)).astype(np.float32)


def weyl(seed: int, start: int, n: int) -> np.ndarray:
    return uniform(indices(start, n) * np.uint64(0x9E3779B97F4A7C15) + mixed(seed))


def last_forgotten(seed: int, start: int, n: int) -> np.ndarray:
    y = drawn(seed, start, n)
    y[n // 2 * 2 :] = 0.5
    return y


def no_loop(seed: int, start: int, n: int) -> np.ndarray:
    y = drawn(seed, start, n)
    y[16_384:] = y[: max(n - 16_384, 0)]
    return y


_CALLS = {"numbers": 0}
_ROOM = np.zeros(20_000, np.float32)


def going_on(seed: int, start: int, n: int) -> np.ndarray:
    """With a state that a call leaves for the next one."""
    _CALLS["numbers"] += n
    return drawn(seed, start + _CALLS["numbers"] - n, n)


def in_one_array(seed: int, start: int, n: int) -> np.ndarray:
    _ROOM[:n] = drawn(seed, start, n)
    return _ROOM[:n]


GENERATORS = (
    Version("a right one, by a hash of 64 bits", drawn, right=True),
    Version("begins at a multiple of four", by_index(lambda i: i - i[0] % np.uint64(4))),
    Version("forgets the seed", lambda seed, start, n: drawn(7, start, n)),
    Version("forgets start", lambda seed, start, n: drawn(seed, 0, n)),
    Version("keeps 32 bits of an index", by_index(lambda i: i & np.uint64(0xFFFFFFFF))),
    Version(
        "makes a float of an index", by_index(lambda i: i.astype(np.float32).astype(np.uint64))
    ),
    Version(
        "adds the seed to the index",
        lambda seed, start, n: uniform(mixed(indices(start, n) + np.uint64(seed))),
    ),
    Version("goes on where the last call stopped", going_on),
    Version("has 256 values", of_values(lambda y: np.ceil(y * 256) / 256)),
    Version("repeats after 4096 numbers", by_index(lambda i: i % np.uint64(4096))),
    Version("a right one, NumPy's Philox", by_philox, right=True),
    Version("gives numbers from -1 to 1", of_values(lambda y: 2 * y - 1)),
    Version(
        "takes the mean of two numbers",
        lambda *given: (drawn(*given) + to_the_middle(*given)) / np.float32(2),
    ),
    Version("adds a constant from number to number", weyl),
    Version("gives every number twice", by_index(lambda i: i >> np.uint64(1))),
    Version("leaves out the last of an odd number", last_forgotten),
    Version("has 16,384 threads and no loop", no_loop),
    Version("a right one that reuses its array", in_one_array, right=True),
    Version("a right one, by other bits", to_the_middle, right=True),
)


def asked_for(seed: int, start: int, n: int) -> None:
    """Refuses a call that no generator allows."""
    if not (0 <= seed < 1 << 63 and 0 <= start <= 1 << 40 and 1 <= n <= 20_000):
        raise LessonError(f"draw({seed}, {start}, {n}) asks for more than a generator promises.")


TEST_STREAM = told_apart(
    GENERATORS,
    "Draw one long part of its stream. Which shorter part, which other seed or which statistic "
    "would show it?",
    asked_for,
)
