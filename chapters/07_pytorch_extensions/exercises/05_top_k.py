"""The exercises of "Top-k and sampling"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import AS_GIVEN, Domain, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import LaunchStats, Requirement
from course_utils.exercises.authoring.spec import KernelExercise, Target
from course_utils.exercises.authoring.vectors import one_thread_each
from course_utils.exercises.authoring.worked import Worked

from .common import most_read

Shape = tuple[int, ...]


def order_of(x: np.ndarray) -> np.ndarray:
    """The larger, the larger x is; all NaNs get the largest of all."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    order = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))
    return np.where(np.isnan(x), np.uint32(0xFFFFFFFF), order)


def of_all_kinds(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Any bits that there are: NaNs with every payload and of both signs, denormal numbers."""
    bits = rng.integers(0, 1 << 32, x.shape, dtype=np.uint32)
    bits = np.where(rng.random(x.shape) < 0.3, bits | 0x7F800000, bits)
    ends = rng.choice(
        np.array([0x7F800001, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF], np.uint32), x.shape
    )
    return np.where(rng.random(x.shape) < 0.2, ends, bits).view(np.float32)


def denormal(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Numbers below the smallest normal one, and zeros, of both signs."""
    bits = rng.integers(0, 4, x.shape, dtype=np.uint32)
    return (bits | (rng.integers(0, 2, x.shape, dtype=np.uint32) << 31)).view(np.float32)


ORDER_FLOATS = KernelExercise(
    inputs=lambda rng, n: {"x": floats(rng, n), "order": empty(n, np.uint32), "n": np.int32(n)},
    reference=lambda given: {"order": order_of(given["x"])},
    launch=one_thread_each,
    small=(1000, 257, 31, 1),
    full=1 << 24,
    exact=True,
    contract=Domain(
        sizes=domain.lengths(),
        values=(
            (
                *domain.data("x", *domain.ANY_FLOAT),
                *domain.data("x", ("of all kinds", of_all_kinds), ("denormal", denormal)),
            ),
        ),
    ),
    method=(method.one_store_per_result(), method.balanced_work(2.0, size=1000)),
)


def some_keys(rng: np.random.Generator, size: Shape) -> np.ndarray:
    return rng.integers(0, 1 << 32, size, dtype=np.uint32)


def share_a_prefix(keys: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Like floats from 2 to 4: they agree in nine bits."""
    return keys & np.uint32(0x007FFFFF) | np.uint32(0xC0000000)


def differ_in_a_byte(keys: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return keys & np.uint32(0x0000FF00) | np.uint32(0x12000034)


def full_range(keys: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """0 and the largest key among others."""
    ends = rng.choice(np.array([0, 0xFFFFFFFF], np.uint32), keys.shape)
    return np.where(rng.random(keys.shape) < 0.6, ends, keys)


def few_keys(keys: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.uint32(0x80000000) + keys % np.uint32(3)


KEYS = domain.data(
    "keys",
    ("sharing a prefix", share_a_prefix),
    ("different in one byte", differ_in_a_byte),
    ("0 and the largest", full_range),
    ("three keys only", few_keys),
    domain.EQUAL,
)
ANY_K = (
    InputClass("k as given", lambda given, rng: {}),
    InputClass("k = 1", lambda given, rng: {"k": 1}),
    InputClass("k = n", lambda given, rng: {"k": given["keys"].shape[1]}),
)


def keys_of_rows(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, n = size
    keys = some_keys(rng, size)
    if n > 1 << 12:  # every turn has nearly all of the last row in one bin
        keys[-1, rng.permutation(n)[9:]] = keys[-1, 0]
    return {"keys": keys, "kth": empty(rows, np.uint32), **int32s(n=n, k=1 + 2 * n // 3)}


def keys_and_rows(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    given = keys_of_rows(rng, size)
    return {
        "keys": given["keys"],
        "kth": given["kth"],
        "rows": np.int32(size[0]),
        "n": given["n"],
        "k": given["k"],
    }


def kth_of_rows(given: Given) -> dict[str, np.ndarray]:
    keys = np.sort(given["keys"], axis=1)
    return {"kth": keys[:, keys.shape[1] - int(given["k"])]}


KTH_LARGEST = KernelExercise(
    inputs=keys_of_rows,
    reference=kth_of_rows,
    launch=lambda size: Launch((size[0],), (256,)),
    small=((2, 300), (1, 256), (3, 9), (1, 1)),
    worked=Worked(  # 0x25, 0x12, 0x23, 0x34, 0x21: three begin with 2, and the second of them is it
        size=(1, 5),
        values={"keys": (37, 18, 35, 52, 33), "k": 3},
        whole=("keys",),
    ),
    full=(1 << 10, 1 << 16),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(rows=(1, 2, 5), n=(1, 2, 31, 255, 257, 769)).with_outlier(n=8_209),
        values=((AS_GIVEN, *KEYS), ANY_K),
    ),
    method=(
        method.reads(
            "keys",
            4 * 2 * 300,
            2 * 8 * 4 * 2 * 300,
            advice="Each of the eight turns reads the row once.",
            size=(2, 300),
        ),
        method.balanced_loads(2.0, size=(1, 256)),
        method.atomics(
            "shared",
            at_least=300,
            at_most=8 * 2 * 300,
            size=(2, 300),
            advice="An atomic for each key that still counts, in shared memory.",
        ),
    ),
    within=3.0,
)


def rows_with_limit(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, n = size
    x = rng.integers(-3, 4, size).astype(np.float32)
    k = 1 + n // 2
    return {
        "x": x,
        "limit": limits_of(x, k),
        "indices": empty((rows, k), np.int32),
        **int32s(rows=rows, first=1000, n=n, k=k),
    }


def limits_of(x: np.ndarray, k: int) -> np.ndarray:
    return np.ascontiguousarray(np.sort(x, axis=1)[:, x.shape[1] - k])


def first_of_largest(given: Given) -> dict[str, np.ndarray]:
    k = int(given["k"])
    places = np.argsort(-given["x"], axis=1, kind="stable")[:, :k]
    return {"indices": given["first"] + np.sort(places, axis=1).astype(np.int32)}


def of_kind(label: str, change: Callable[..., Any]) -> InputClass:
    """Other elements, with the limits that belong to them."""

    def other(given: Given, rng: np.random.Generator) -> Given:
        x = change(given["x"], rng).astype(np.float32)
        return {"x": x, "limit": limits_of(x, int(given["k"]))}

    return InputClass(label, other)


def with_k(label: str, k_of: Callable[..., Any]) -> InputClass:
    """Another k, and what follows from it; ``k_of`` makes it of n."""

    def other(given: Given, rng: np.random.Generator) -> Given:
        rows, n = given["x"].shape
        k = k_of(n)
        return {"k": k, "limit": limits_of(given["x"], k), "indices": empty((rows, k), np.int32)}

    return InputClass(label, other)


def signed_zeros(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(x.shape) < 0.5, np.float32(0), np.float32(-0.0))


TIES_IN_ORDER = KernelExercise(
    inputs=rows_with_limit,
    reference=first_of_largest,
    launch=lambda size: Launch((ceil_div(size[0], 8),), (256,)),
    small=((9, 100), (8, 64), (3, 33), (1, 1)),
    full=(1 << 12, 1 << 12),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(rows=(1, 3, 8, 9, 17), n=(1, 2, 31, 32, 33, 65, 257)).with_outlier(
            n=4099
        ),
        values=(
            (
                AS_GIVEN,
                of_kind("all equal", lambda x, rng: np.full_like(x, 2)),
                of_kind("all different", lambda x, rng: rng.standard_normal(x.shape)),
                of_kind("rising", lambda x, rng: np.sort(x, axis=1)),
                of_kind("falling", lambda x, rng: -np.sort(x, axis=1)),
                of_kind(
                    "mostly -inf", lambda x, rng: np.where(rng.random(x.shape) < 0.8, -np.inf, x)
                ),
                of_kind("zeros of both signs", signed_zeros),
                of_kind(
                    "next to the least normal number",
                    lambda x, rng: 2.0**-126 * (1 + rng.integers(0, 40, x.shape) * 2.0**-20),
                ),
            ),
            (AS_GIVEN, with_k("k = 1", lambda n: 1), with_k("k = n", lambda n: n)),
            domain.scalars("first", 0, 32_000, 100_000, -2_000_000),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_loads(2.0, size=(8, 64)),
        method.no_shared_memory("Ballots tell a warp all it needs to know.", size=(8, 64)),
        method.reads_each_once(4 * 8 * 256, at_most=2.5, size=(8, 256)),
        Requirement(
            "votes of a warp for each 32 elements",
            lambda stats: stats.opcodes("vote.") / (8 * 64),
            at_least=0.9,
            at_most=4.0,
            advice="`__ballot_sync` gives every lane the answers of all 32.",
            size=(8, 64),
        ),
    ),
    within=2.0,
)


def two_lists(rng: np.random.Generator, k: int) -> Given:
    return {
        "a": falling(floats(rng, k)),
        "b": falling(floats(rng, k)),
        "out": empty(k),
        "from": empty(k, np.int32),
        "k": np.int32(k),
    }


def falling(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.sort(x)[::-1])


def merged_lists(given: Given) -> dict[str, np.ndarray]:
    both, k = np.concatenate([given["a"], given["b"]]), int(given["k"])
    first = np.argsort(-both, kind="stable")[:k]
    return {"out": both[first], "from": 1 + (first >= k).astype(np.int32)}


def lists(label: str, change: Callable[..., Any]) -> InputClass:
    """Both lists anew, each sorted."""

    def other(given: Given, rng: np.random.Generator) -> Given:
        a, b = change(given["a"], given["b"], rng)
        return {"a": falling(a.astype(np.float32)), "b": falling(b.astype(np.float32))}

    return InputClass(label, other)


MERGE_LISTS = KernelExercise(
    inputs=two_lists,
    reference=merged_lists,
    launch=lambda k: Launch((ceil_div(2 * k, 256),), (256,)),
    small=(300, 128, 33, 2, 1),
    worked=Worked(size=4, values={"a": (9, 6, 5, 1), "b": (8, 7, 4, 3)}),
    full=1 << 22,
    exact=True,
    contract=Domain(
        sizes=domain.lengths("k", most=3000).with_outlier(k=65_543),
        values=(
            (
                AS_GIVEN,
                lists("a above b", lambda a, b, rng: (np.abs(a) + 1, -np.abs(b))),
                lists("b above a", lambda a, b, rng: (-np.abs(a), np.abs(b) + 1)),
                lists("equal elements", lambda a, b, rng: (np.round(a), np.round(b))),
                lists("the same list twice", lambda a, b, rng: (a, a)),
                lists("all equal", lambda a, b, rng: (np.full_like(a, -4), np.full_like(b, -4))),
                lists(
                    "half of a -inf",
                    lambda a, b, rng: (np.where(rng.random(a.shape) < 0.5, -np.inf, a), b),
                ),
                lists(
                    "half of b -inf",
                    lambda a, b, rng: (a, np.where(rng.random(b.shape) < 0.5, -np.inf, b)),
                ),
                lists(
                    "half of both +inf",
                    lambda a, b, rng: (
                        np.where(rng.random(a.shape) < 0.5, np.inf, a),
                        np.where(rng.random(b.shape) < 0.5, np.inf, b),
                    ),
                ),
                lists("near the largest float", lambda a, b, rng: (1e38 * a, 1e38 * b)),
                lists("very small", lambda a, b, rng: (1e-30 * a, 1e-30 * b)),
                lists(
                    "some ±inf",
                    lambda a, b, rng: (
                        np.where(rng.random(a.shape) < 0.3, np.inf, a),
                        np.where(rng.random(b.shape) < 0.6, -np.inf, np.where(b > 1, np.inf, b)),
                    ),
                ),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        most_read(
            "bytes that a thread reads from global memory, at most",
            at_most=4 * 16,
            advice="The other list is sorted: halving finds a place among 300 in nine steps.",
            size=300,
        ),
        most_read(
            "bytes that a thread reads from global memory for 20,000 elements, at most",
            at_most=4 * 30,
            advice="The other list is sorted: halving finds a place among 20,000 in 15 steps.",
            size=20_000,
        ),
    ),
    within=2.0,
)


def two_largest(given: Given) -> dict[str, np.ndarray]:
    """The columns of the two largest of each row, of equal ones the lower column first."""
    order = np.argsort(-given["x"].astype(np.float64), axis=1, kind="stable")
    return {"chosen": order[:, :2].astype(np.int32)}


def largest_at_the_end(rng: np.random.Generator, size: Shape) -> np.ndarray:
    """In every other one of long rows, where chance seldom puts it."""
    x = floats(rng, size)
    if size[1] > 1000:
        x[::2, -1] += 8
    return x


TOP_TWO = KernelExercise(
    inputs=lambda rng, size: {
        "x": largest_at_the_end(rng, size),
        "chosen": empty((size[0], 2), np.int32),
        **int32s(rows=size[0], columns=size[1]),
    },
    reference=two_largest,
    launch=lambda size: Launch((ceil_div(size[0], 4),), (128,)),
    small=((5, 100), (4, 64), (3, 33), (1, 2)),
    axes={"chosen": ("row", "rank")},
    worked=Worked(size=(2, 4), values={"x": (3, 7, 7, 1, 2, -1, 4, 5)}),
    exact=True,
    full=(1 << 14, 256),
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 3, 4, 5, 33), columns=(2, 3, 31, 32, 33, 64, 65, 256)
        ).with_outlier(rows=16_391, columns=2053),
        values=(
            domain.data(
                "x",
                domain.NEGATIVE,
                domain.TIES,
                domain.EQUAL,
                domain.RISING,
                domain.FALLING,
                domain.LARGE,
                domain.SMALL,
                domain.AT_LOWEST,
                domain.ZEROS_OF_BOTH_SIGNS,
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_loads(2.0, size=(8, 256)),
    ),
    bug=kinds.TARGET_MISSED,
    target=Target(
        label="bytes read for each byte of x",
        measure=lambda counts: counts.global_load_bytes / (4 * 8 * 301),
        at_most=1.0,
        advice="A lane that remembers its two largest numbers never needs the row again.",
        size=(8, 301),
    ),
)


HALVE_THE_LIMIT = KernelExercise(
    inputs=keys_and_rows,
    reference=kth_of_rows,
    launch=lambda size: Launch((ceil_div(size[0], 8),), (256,)),
    small=((9, 100), (8, 256), (3, 33), (1, 1)),
    worked=Worked(whole=("keys",)),
    full=(1 << 16, 256),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(rows=(1, 3, 8, 9, 17), n=(1, 2, 31, 32, 33, 65, 255, 256)),
        values=((AS_GIVEN, *KEYS), ANY_K),
    ),
    method=(
        method.reads_each_once(4 * 8 * 256, size=(8, 256)),
        method.one_store_per_result(),
        method.no_shared_memory("The counts of a warp need no shared memory.", size=(8, 256)),
        method.no_local_memory("Eight keys of a lane stay in registers.", size=(8, 256)),
        Requirement(
            "votes, reductions and shuffles of a warp",
            lambda stats: stats.opcodes("redux.", "vote.", "shfl.") / (8 * 32),
            at_least=8,
            at_most=300,
            advice="A row has 2³² possible limits, and halving finds the one in 32 steps.",
            size=(8, 256),
        ),
    ),
    within=3.0,
)


def some_weights(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    weights = np.sort(rng.integers(1, 1 << 16, size, dtype=np.uint32), axis=1)[:, ::-1].copy()
    return {
        "weights": weights,
        "goal": goals_of(weights, rng),
        "size": empty(size[0], np.int32),
        **int32s(rows=size[0], k=size[1]),
    }


def goals_of(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Somewhere from 1 to the sum; in every second row just what some weights add up to, and in the
    first of them all weights."""
    running = weights.cumsum(axis=1, dtype=np.uint64)
    goal = rng.integers(1, running[:, -1], endpoint=True).astype(np.uint32)
    some = rng.integers(0, weights.shape[1], len(weights))
    some[0] = weights.shape[1] - 1
    exact = running[np.arange(len(weights)), some].astype(np.uint32)
    return np.where(np.arange(len(weights)) % 2, goal, exact)


def sizes_of_nuclei(given: Given) -> dict[str, np.ndarray]:
    running = given["weights"].cumsum(axis=1, dtype=np.uint64)
    return {"size": 1 + (running < given["goal"][:, None]).sum(axis=1).astype(np.int32)}


def weights_of(label: str, change: Callable[..., Any]) -> InputClass:
    """Other weights, sorted, and goals that belong to them."""

    def other(given: Given, rng: np.random.Generator) -> Given:
        weights = np.sort(change(given["weights"], rng).astype(np.uint32), axis=1)[:, ::-1].copy()
        return {"weights": weights, "goal": goals_of(weights, rng)}

    return InputClass(label, other)


def one_large(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    ones = np.ones_like(weights)
    ones[:, 0] = 1 << 30
    return ones


def largest_sum(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows that add up to 2^32 - 1."""
    each, rest = divmod(0xFFFFFFFF, weights.shape[1])
    equal = np.full_like(weights, each)
    equal[:, 0] += np.uint32(rest)
    return equal


def all_of_it(given: Given, rng: np.random.Generator) -> Given:
    return {"goal": given["weights"].sum(axis=1).astype(np.uint32)}


def first_enough(given: Given, rng: np.random.Generator) -> Given:
    return {"goal": given["weights"][:, 0].copy()}


def read_beyond_need(stats: LaunchStats) -> float:
    read, needed = (done.loaded_from("weights") for done in (stats, stats.ours))
    return read / needed


NUCLEUS_SIZE = KernelExercise(
    inputs=some_weights,
    reference=sizes_of_nuclei,
    worked=Worked(size=(2, 3), values={"weights": (5, 3, 1, 6, 2, 1), "goal": (8, 9)}),
    launch=lambda size: Launch((ceil_div(size[0], 8),), (256,)),
    small=((9, 100), (8, 64), (3, 33), (1, 1)),
    full=(1 << 14, 2048),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(rows=(1, 3, 8, 9, 17), k=(1, 2, 31, 32, 33, 65, 257)).with_outlier(
            k=4099
        ),
        values=(
            (
                AS_GIVEN,
                weights_of("all equal", lambda w, rng: np.full_like(w, 3)),
                weights_of("one large", one_large),
                weights_of("sums of 32 bits", largest_sum),
                weights_of(
                    "zeros at the end", lambda w, rng: np.where(np.arange(w.shape[1]) % 3, 0, w)
                ),
            ),
            (
                AS_GIVEN,
                InputClass("all is wanted", all_of_it),
                InputClass("the first is enough", first_enough),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_loads(3.0, size=(8, 64)),
        method.no_shared_memory("Shuffles add up over a warp.", size=(8, 64)),
        Requirement(
            "bytes of weights that are read, over those that decide",
            read_beyond_need,
            at_most=1.5,
            advice="Once the goal is reached, the elements after it need not be read.",
            size=(8, 1025),
        ),
        method.shuffles(
            4 * 8 * 32, 64 * 8 * 32, advice="Five shuffles make running sums.", size=(8, 64)
        ),
    ),
    within=2.0,
)


def a_race(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, n = size
    logits = floats(rng, size)
    if n > 1000:
        logits[0, -1] += 20  # a long row is not to be cut
    return {
        "logits": logits,
        "bits": some_keys(rng, size),
        "token": empty(rows, np.int32),
        **int32s(rows=rows, first=32_000, n=n),
    }


def winners(given: Given) -> dict[str, np.ndarray]:
    u = given["bits"].astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)
    time = -np.log1p(-u.astype(np.float64))
    score = given["logits"].astype(np.float64) - np.log(time)
    return {"token": given["first"] + np.argmax(score, axis=1).astype(np.int32)}


def with_bits(label: str, *values: int, part: float = 0.3) -> InputClass:
    def other(given: Given, rng: np.random.Generator) -> Given:
        bits = given["bits"]
        return {
            "bits": np.where(
                rng.random(bits.shape) < part,
                rng.choice(np.array(values, np.uint32), bits.shape),
                bits,
            )
        }

    return InputClass(label, other)


def equal_scores(given: Given, rng: np.random.Generator) -> Given:
    bits = rng.choice(np.array([1 << 31, 5], np.uint32), given["bits"].shape, p=(0.8, 0.2))
    return {"bits": bits, "logits": np.zeros_like(given["logits"])}


def unlikely_but_fast(given: Given, rng: np.random.Generator) -> Given:
    """The shortest time that there is makes up for a logit of 23, not of 50."""
    fast = rng.random(given["bits"].shape) < 0.2
    return {
        "bits": np.where(fast, 0, given["bits"]).astype(np.uint32),
        "logits": np.where(fast, -50, given["logits"]).astype(np.float32),
    }


def tiny_bits(given: Given, rng: np.random.Generator) -> Given:
    """Times that 1 - u makes equal, or 0."""
    rows, n = given["bits"].shape
    steps = np.where(np.arange(rows) % 2, 8, 1)[:, None]
    bits = steps * rng.permuted(np.tile(np.arange(n), (rows, 1)), axis=1)
    return {"bits": bits.astype(np.uint32), "logits": np.zeros_like(given["logits"])}


def small_bits(given: Given, rng: np.random.Generator) -> Given:
    """Times that differ, and that 1 - u makes equal, from 4e-6 on."""
    bits = tiny_bits(given, rng)["bits"] + np.uint32(1 << 14)
    return {"bits": bits, "logits": np.zeros_like(given["logits"])}


def far_up(given: Given, sign: int) -> np.ndarray:
    """Logits from 100 to 300, or below 0, whose exponentials are no floats: each is a whole number,
    so that none is next to another one's score."""
    return sign * np.rint(100 + 40 * np.abs(given["logits"]))


def close_race(given: Given, rng: np.random.Generator) -> Given:
    """One score is 0.0005 above all others: each time must be right."""
    shape = given["bits"].shape
    bits = (2 ** rng.uniform(12, 31, shape)).astype(np.uint32)
    u = bits.astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)
    lead, rows = rng.uniform(0, 2e-3, shape), np.arange(shape[0])
    lead[rows, rng.integers(0, shape[1], shape[0])] = 2.5e-3
    return {"bits": bits, "logits": lead + np.log(-np.log1p(-u.astype(np.float64)))}


def masked(given: Given, rng: np.random.Generator) -> Given:
    """Most tokens are forbidden."""
    x = np.where(rng.random(given["logits"].shape) < 0.8, -np.inf, given["logits"])
    x[:, -1] = 1
    return {"logits": x.astype(np.float32)}


FAIR_RACE = KernelExercise(
    inputs=a_race,
    reference=winners,
    launch=lambda size: Launch((ceil_div(size[0], 8),), (256,)),
    small=((9, 100), (8, 64), (3, 33), (1, 1)),
    worked=Worked(whole=("logits",)),
    full=(1 << 10, 1 << 14),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(rows=(1, 3, 8, 9, 17), n=(1, 2, 31, 32, 33, 65, 257)).with_outlier(
            n=4099
        ),
        values=(
            (
                AS_GIVEN,
                with_bits("all ones among the bits", 0xFFFFFFFF, 0xFFFFFFF0),
                with_bits("all bits ones", 0xFFFFFFFF, part=1.0),
                InputClass("equal scores", equal_scores),
                InputClass("unlikely tokens with bits 0", unlikely_but_fast),
                InputClass("tiny bits", tiny_bits),
                InputClass("small bits", small_bits),
                InputClass("a close race", close_race),
            ),
            (
                AS_GIVEN,
                InputClass("most logits -inf", masked),
                InputClass(
                    "logits of some hundred", lambda given, rng: {"logits": far_up(given, 1)}
                ),
                InputClass("logits far below 0", lambda given, rng: {"logits": far_up(given, -1)}),
            ),
            domain.scalars("first", 0, 100_000),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_loads(2.0, size=(8, 64)),
        method.reads_each_once(2 * 4 * 8 * 256, size=(8, 256)),
        method.no_shared_memory("Shuffles find the best of a warp.", size=(8, 64)),
    ),
    within=2.0,
)
