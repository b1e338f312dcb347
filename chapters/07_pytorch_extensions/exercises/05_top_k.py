"""The exercises of "Top-k and sampling"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Exercise,
    Launch,
    Means,
    Promises,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.means import WorkDone
from course_utils.exercises.promises import AS_GIVEN, Given, Values
from course_utils.exercises.vectors import one_thread_each

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


ORDER_FLOATS = Exercise(
    id="07.order_floats",
    title="an integer for every float",
    task="""
Turn each float into an unsigned integer, so that integers compare as the floats do: larger float,
larger integer. Beyond what `<` says, −0 comes before +0, and every NaN, whatever its bits, gets
0xffffffff. Any float may come, denormal numbers too.
""",
    source="07_pytorch_extensions/exercises/order_floats.cu",
    kernel="order_floats",
    inputs=lambda rng, n: {"x": floats(rng, n), "order": empty(n, np.uint32), "n": np.int32(n)},
    reference=lambda given: {"order": order_of(given["x"])},
    launch=one_thread_each,
    small=(1000, 257, 31, 1),
    full=1 << 24,
    exact=True,
    promises=Promises(
        sizes=promises.lengths(),
        values=(
            (
                *promises.data("x", *promises.ANY_FLOAT),
                *promises.data("x", ("of all kinds", of_all_kinds), ("denormal", denormal)),
            ),
        ),
    ),
    means=(means.one_store_each(), means.work_shared_out(2.0, size=1000)),
    hints=(
        "The bits of positive floats compare like integers already: the exponent stands above the "
        "fraction. Only the highest bit, the sign, is in the way.",
        "Of two negative floats the one with the larger bits is the smaller one: turn all bits.",
        "`x[i] != x[i]` holds for NaN alone.",
    ),
    explanation="""
A float is a sign above a number that grows with the size. So positive ones get the highest bit, and
negative ones have all bits turned. The integers know nothing of flushing: the course's compiler
may treat denormal floats as 0 when it compares them, never when it compares their bits.
""",
    mutants=(
        mutant(
            "not the first NaN",
            kinds.WRONG,
            ("if (x[i] != x[i])", "if ((bits & 0x7fffffff) > 0x7f800001)"),
        ),
        mutant("bits as they are", kinds.WRONG, ("bits >> 31 ? ~bits : bits | 0x80000000", "bits")),
        mutant(
            "sign bit alone",
            kinds.WRONG,
            ("bits >> 31 ? ~bits : bits | 0x80000000", "bits ^ 0x80000000"),
        ),
        mutant("all bits turned", kinds.WRONG, ("bits >> 31 ? ~bits : bits | 0x80000000", "~bits")),
        mutant("NaN forgotten", kinds.WRONG, ("if (x[i] != x[i])", "if (false)")),
        mutant("NaN below all", kinds.WRONG, ("order[i] = 0xffffffff", "order[i] = 0")),
        mutant("one NaN alone", kinds.WRONG, ("if (x[i] != x[i])", "if (bits == 0x7fc00000)")),
        mutant(
            "zeros alike", kinds.WRONG, ("bits >> 31 ?", "x[i] == 0.0f ? 0x80000000 : bits >> 31 ?")
        ),
        mutant(
            "by the sign of the float",
            kinds.WRONG,
            ("bits >> 31 ?", "x[i] < 0.0f ?"),
        ),
        mutant(
            "no guard", kinds.OUT_OF_BOUNDS, ("    if (i >= n) {\n        return;\n    }\n", "")
        ),
    ),
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
    ends = rng.choice(np.uint32([0, 0xFFFFFFFF]), keys.shape)
    return np.where(rng.random(keys.shape) < 0.6, ends, keys)


def few_keys(keys: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.uint32(0x80000000) + keys % np.uint32(3)


KEYS = promises.data(
    "keys",
    ("sharing a prefix", share_a_prefix),
    ("different in one byte", differ_in_a_byte),
    ("0 and the largest", full_range),
    ("three keys only", few_keys),
    promises.EQUAL,
)
ANY_K = (
    Values("k as given", lambda given, rng: {}),
    Values("k = 1", lambda given, rng: {"k": 1}),
    Values("k = n", lambda given, rng: {"k": given["keys"].shape[1]}),
)


def keys_of_rows(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, n = size
    keys = some_keys(rng, size)
    if n > 1 << 12:  # every turn has nearly all of the last row in one bin
        keys[-1, rng.permutation(n)[9:]] = keys[-1, 0]
    return {
        "keys": keys,
        "kth": empty(rows, np.uint32),
        "n": np.int32(n),
        "k": np.int32(1 + 2 * n // 3),
    }


def keys_and_rows(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    given = keys_of_rows(rng, size)
    return {
        "keys": given["keys"],
        "kth": given["kth"],
        "rows": np.int32(size[0]),
        "n": given["n"],
        "k": given["k"],
    }


def kth_of_rows(given: Given) -> dict:
    keys = np.sort(given["keys"], axis=1)
    return {"kth": keys[:, keys.shape[1] - int(given["k"])]}


KTH_LARGEST = Exercise(
    id="07.kth_largest",
    title="the k-th largest by eight histograms",
    task="""
Write a turn of radix select. The histogram of the highest 4 bits says in which bin the k-th largest
key is; the next turn looks only at keys that begin like it. Eight turns find the key itself,
without sorting anything. Keys may be any unsigned integers, equal ones too.
""",
    source="07_pytorch_extensions/exercises/kth_largest.cu",
    kernel="kth_largest",
    inputs=keys_of_rows,
    reference=kth_of_rows,
    launch=lambda size: Launch((size[0],), (256,)),
    small=((2, 300), (1, 256), (3, 9), (1, 1)),
    full=(1 << 10, 1 << 16),
    exact=True,
    promises=Promises(
        sizes=promises.shapes(rows=(1, 2, 5), n=(1, 2, 31, 255, 257, 769)).with_longest(n=8_209),
        values=((AS_GIVEN, *KEYS), ANY_K),
    ),
    means=(
        means.reads(
            "keys",
            4 * 2 * 300,
            2 * 8 * 4 * 2 * 300,
            advice="Each of the eight turns reads the row once.",
            size=(2, 300),
        ),
        means.loads_shared_out(2.0, size=(1, 256)),
        means.atomics(
            "shared",
            at_least=300,
            at_most=8 * 2 * 300,
            size=(2, 300),
            advice="An atomic for each key that still counts, in shared memory.",
        ),
    ),
    within=3.0,
    hints=(
        "In the turn with shift 28 every key counts. Later a key counts if `key >> (shift + 4)` "
        "equals that of the prefix. Shifting by 32 is undefined.",
        "The digit is `key >> shift & 15`.",
        "Bin b is the one if fewer than `wanted` keys are in the bins above it, and at least "
        "`wanted` with it. Sixteen threads can test one bin each.",
        "Then `wanted` is less by what is above, and the prefix has 4 bits more.",
    ),
    explanation="""
Each turn divides the range by 16, whatever the keys are: eight turns always suffice for 32 bits.
The kernels of the lesson take 8 bits a turn, and stop where all that is left in a bin is wanted.
""",
    mutants=(
        mutant("every key in every turn", kinds.WRONG, ("shift == 28 ||", "true ||")),
        mutant(
            "the prefix forgotten",
            kinds.WRONG,
            ("prefix |= unsigned(bin) << shift", "prefix = bin"),
        ),
        mutant("wanted as before", kinds.WRONG, ("        wanted -= above;\n", "")),
        mutant(
            "from below",
            kinds.WRONG,
            (
                "int b = kBins - 1; b > int(threadIdx.x); --b",
                "int b = 0; b < int(threadIdx.x); ++b",
            ),
        ),
        mutant(
            "one too many above",
            kinds.UNINITIALISED,
            ("larger < wanted && wanted <=", "larger <= wanted && wanted <"),
        ),
        mutant(
            "no atomics",
            kinds.DATA_RACE,
            (
                "atomicAdd(&counts[row[i] >> shift & (kBins - 1)], 1)",
                "++counts[row[i] >> shift & (kBins - 1)]",
            ),
        ),
        mutant(
            "no barrier after counting",
            kinds.DATA_RACE,
            ("        __syncthreads(); // all are counted\n", ""),
        ),
        mutant(
            "no barrier before the bin is read",
            kinds.DATA_RACE,
            ("        __syncthreads(); // the bin is found\n", ""),
        ),
        mutant(
            "signed digits",
            kinds.WRONG,
            ("row[i] >> shift & (kBins - 1)], 1", "int(row[i]) >> shift & 7], 1"),
        ),
        mutant(
            "first row's keys",
            kinds.WRONG,
            (
                "int i = threadIdx.x; i < n; i += kThreads",
                "int i = threadIdx.x - blockIdx.x * n; i < n - int(blockIdx.x) * n; i += kThreads",
            ),
        ),
        mutant(
            "13 bits of a count",
            kinds.UNINITIALISED,
            ("counts[threadIdx.x])", "(counts[threadIdx.x] & 8191))"),
        ),
        mutant(
            "one key too many",
            kinds.OUT_OF_BOUNDS,
            ("i < n; i += kThreads", "i <= n; i += kThreads"),
        ),
        mutant(
            "one thread counts",
            kinds.MEANS_MISSING,
            (
                "int i = threadIdx.x; i < n; i += kThreads",
                "int i = threadIdx.x ? n : 0; i < n; ++i",
            ),
        ),
    ),
)


def rows_with_limit(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, n = size
    x = rng.integers(-3, 4, size).astype(np.float32)
    k = 1 + n // 2
    return {
        "x": x,
        "limit": limits_of(x, k),
        "indices": empty((rows, k), np.int32),
        "rows": np.int32(rows),
        "first": np.int32(1000),
        "n": np.int32(n),
        "k": np.int32(k),
    }


def limits_of(x: np.ndarray, k: int) -> np.ndarray:
    return np.ascontiguousarray(np.sort(x, axis=1)[:, x.shape[1] - k])


def first_of_largest(given: Given) -> dict:
    k = int(given["k"])
    places = np.argsort(-given["x"], axis=1, kind="stable")[:, :k]
    return {"indices": given["first"] + np.sort(places, axis=1).astype(np.int32)}


def of_kind(label: str, change) -> Values:
    """Other elements, with the limits that belong to them."""

    def other(given: Given, rng: np.random.Generator) -> Given:
        x = change(given["x"], rng).astype(np.float32)
        return {"x": x, "limit": limits_of(x, int(given["k"]))}

    return Values(label, other)


def with_k(label: str, k_of) -> Values:
    """Another k, and what follows from it; ``k_of`` makes it of n."""

    def other(given: Given, rng: np.random.Generator) -> Given:
        rows, n = given["x"].shape
        k = k_of(n)
        return {"k": k, "limit": limits_of(given["x"], k), "indices": empty((rows, k), np.int32)}

    return Values(label, other)


def signed_zeros(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(x.shape) < 0.5, np.float32(0), np.float32(-0.0))


TIES_IN_ORDER = Exercise(
    id="07.ties_in_order",
    title="which of the equal ones",
    task="""
The k-th largest of each row is known. Store the indices of the k largest in ascending order,
counted from `first`, which may be negative. Where elements equal the k-th, the first ones are
taken, so that the same row always gives the same indices. A warp takes 32 elements at a time: no
shared memory, no atomics.
""",
    source="07_pytorch_extensions/exercises/ties_in_order.cu",
    kernel="ties_in_order",
    inputs=rows_with_limit,
    reference=first_of_largest,
    launch=lambda size: Launch((-(-size[0] // 8),), (256,)),
    small=((9, 100), (8, 64), (3, 33), (1, 1)),
    full=(1 << 12, 1 << 12),
    exact=True,
    promises=Promises(
        sizes=promises.shapes(rows=(1, 3, 8, 9, 17), n=(1, 2, 31, 32, 33, 65, 257)).with_longest(
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
                    "mostly -inf",
                    lambda x, rng: np.where(rng.random(x.shape) < 0.8, -np.inf, x),
                ),
                of_kind("zeros of both signs", signed_zeros),
                of_kind(
                    "next to the least normal number",
                    lambda x, rng: 2.0**-126 * (1 + rng.integers(0, 40, x.shape) * 2.0**-20),
                ),
            ),
            (AS_GIVEN, with_k("k = 1", lambda n: 1), with_k("k = n", lambda n: n)),
            promises.scalars("first", 0, 32_000, 100_000, -2_000_000),
        ),
    ),
    means=(
        means.one_store_each(),
        means.loads_shared_out(2.0, size=(8, 64)),
        means.no_shared_memory("Ballots tell a warp all it needs to know.", size=(8, 64)),
        means.reads_each_once(4 * 8 * 64, at_most=2.5, size=(8, 64)),
        Means(
            "votes of a warp for each 32 elements",
            lambda work: work.opcodes("vote.") / (8 * 64),
            at_least=0.9,
            at_most=4.0,
            advice="`__ballot_sync` gives every lane the answers of all 32.",
            size=(8, 64),
        ),
    ),
    within=2.0,
    hints=(
        "First loop: count what is above the limit, and add up over the warp. k less that many "
        "equal ones are wanted.",
        'Second loop: `__ballot_sync` of "is equal" tells a lane how many equal ones are before '
        "it: the bits below its own, `(1u << lane) - 1`.",
        'A second ballot, of "is taken", gives the places. Both counts go on to the next 32.',
    ),
    explanation="""
"The k largest" names no set where elements are equal, and PyTorch promises nothing about them. A
rule costs two ballots for 32 elements, and makes a result that can be repeated and tested.
""",
    mutants=(
        mutant("first in 16 bits", kinds.WRONG, ("= first + i", "= (unsigned short)first + i")),
        mutant("never negative", kinds.WRONG, ("= first + i", "= max(first, 0) + i")),
        mutant(
            "all equal ones", kinds.OUT_OF_BOUNDS, (" && __popc(all_same & before) < equal", "")
        ),
        mutant(
            "the last ones",
            kinds.WRONG,
            ("__popc(all_same & before) < equal", "__popc(all_same & ~before) <= equal"),
        ),
        mutant(
            "no equal ones",
            kinds.PARTLY_WRITTEN,
            (" || (same && __popc(all_same & before) < equal)", ""),
        ),
        mutant(
            "equal ones not counted",
            kinds.OUT_OF_BOUNDS,
            ("        equal -= __popc(all_same);\n", ""),
        ),
        mutant("k equal ones", kinds.OUT_OF_BOUNDS, ("equal = k - above", "equal = k")),
        mutant(
            "this lane's count alone",
            kinds.OUT_OF_BOUNDS,
            ("    above = __reduce_add_sync(kWholeWarp, above);\n", ""),
        ),
        mutant(
            "places of the first 32",
            kinds.DATA_RACE,
            ("        stored += __popc(takers);\n", ""),
        ),
        mutant(
            "one place too far", kinds.OUT_OF_BOUNDS, ("stored = 0, equal", "stored = 1, equal")
        ),
        mutant("counts itself", kinds.PARTLY_WRITTEN, ("(1u << lane) - 1", "(2u << lane) - 1")),
        mutant("counted from 1000", kinds.WRONG, ("= first + i", "= 1000 + i")),
        mutant(
            "half of the row",
            kinds.PARTLY_WRITTEN,
            ("equal = k - above", "equal = 1 + n / 2 - above"),
        ),
        mutant(
            "bits for equality",
            kinds.WRONG,
            (
                "value == least",
                "__float_as_uint(value) == __float_as_uint(least)",
            ),
        ),
        mutant(
            "the lane as index",
            kinds.WRONG,
            ("= first + i", "= first + lane"),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("i < n ? x[i] : 0.0f", "x[i]")),
    ),
)


def two_lists(rng: np.random.Generator, k: int) -> dict:
    return {
        "a": falling(floats(rng, k)),
        "b": falling(floats(rng, k)),
        "out": empty(k),
        "from": empty(k, np.int32),
        "k": np.int32(k),
    }


def falling(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.sort(x)[::-1])


def merged_lists(given: Given) -> dict:
    both, k = np.concatenate([given["a"], given["b"]]), int(given["k"])
    first = np.argsort(-both, kind="stable")[:k]
    return {"out": both[first], "from": 1 + (first >= k).astype(np.int32)}


def lists(label: str, change) -> Values:
    """Both lists anew, each sorted."""

    def other(given: Given, rng: np.random.Generator) -> Given:
        a, b = change(given["a"], given["b"], rng)
        return {"a": falling(a.astype(np.float32)), "b": falling(b.astype(np.float32))}

    return Values(label, other)


MERGE_LISTS = Exercise(
    id="07.merge_lists",
    title="two lists into one",
    task="""
Two blocks have found the k largest of their parts, sorted. Merge both lists: the k largest of all,
sorted, and which list each is from. Every thread has one element and finds its place by itself, in
a number of steps that grows with the logarithm of k. Elements may be equal or infinite.
""",
    source="07_pytorch_extensions/exercises/merge_lists.cu",
    kernel="merge_lists",
    inputs=two_lists,
    reference=merged_lists,
    launch=lambda k: Launch((-(-2 * k // 256),), (256,)),
    small=(300, 128, 33, 2, 1),
    full=1 << 22,
    exact=True,
    promises=Promises(
        sizes=promises.lengths("k", most=3000).with_longest(k=65_543),
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
    means=(
        means.one_store_each(),
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
    hints=(
        "Before element i of a come i elements of a, and the elements of b that are larger.",
        "For an element of b the equal elements of a come before it as well.",
        "`low` and `high` say how many may come before; look at element `middle` of the others.",
        "Places from k on are not stored.",
    ),
    explanation="""
No thread waits for another, and no element is moved twice: an element's place is its place in its
own list plus its place in the other. That equal elements are told apart by their list, once with >
and once with ≥, is what gives every thread a place of its own.
""",
    mutants=(
        mutant(
            "steps of 512 first",
            kinds.MEANS_MISSING,
            (
                "    while (low < high) {",
                "    while (low + 512 <= k && (of_b ? others[low + 511] >= own "
                ": others[low + 511] > own)) "
                "low += 512;\n    while (low < high) {",
            ),
        ),
        mutant(
            "equal ones first in both",
            kinds.DATA_RACE,
            ("others[middle] >= own", "others[middle] > own"),
        ),
        mutant(
            "equal ones of b first",
            kinds.WRONG,
            (
                "of_b ? others[middle] >= own : others[middle] > own",
                "of_b ? others[middle] > own : others[middle] >= own",
            ),
        ),
        mutant(
            "rising",
            kinds.DATA_RACE,
            (
                "others[middle] >= own : others[middle] > own",
                "others[middle] <= own : others[middle] < own",
            ),
        ),
        mutant(
            "nothing before -inf of a",
            kinds.DATA_RACE,
            ("others[middle] > own;", "others[middle] > own && own > -3e38f;"),
        ),
        mutant("own place forgotten", kinds.DATA_RACE, ("out[i + low] = own", "out[low] = own")),
        mutant("all are stored", kinds.OUT_OF_BOUNDS, ("if (i + low < k)", "if (true)")),
        mutant(
            "one step too few",
            kinds.DATA_RACE,
            ("low + high) / 2;", "low + high) / 2;\n        if (high - low == 1) break;"),
        ),
        mutant("the last not looked at", kinds.DATA_RACE, ("high = k;", "high = k - 1;")),
        mutant("always from a", kinds.WRONG, ("= of_b ? 2 : 1", "= 1")),
        mutant(
            "a alone",
            kinds.PARTLY_WRITTEN,
            ("if (thread >= 2 * k)", "if (thread >= 2 * k || thread >= k)"),
        ),
        mutant(
            "counts one by one",
            kinds.MEANS_MISSING,
            ("int middle = (low + high) / 2;", "int middle = low;"),
            ("high = middle;", "break;"),
        ),
        mutant(
            "no guard", kinds.OUT_OF_BOUNDS, ("if (thread >= 2 * k)", "if (thread >= 2 * k + 1)")
        ),
    ),
)


HALVE_THE_LIMIT = Exercise(
    id="07.halve_the_limit",
    title="the k-th largest without a histogram",
    task="""
A row of up to 256 keys lies in the registers of a warp. Find its k-th largest key by halving:
count over the warp how many keys reach a limit, and go up or down. Keys may be any unsigned
integers. Lanes that have no key hold 0, which must not count as a key that is larger than others.
""",
    source="07_pytorch_extensions/exercises/halve_the_limit.cu",
    kernel="halve_the_limit",
    inputs=keys_and_rows,
    reference=kth_of_rows,
    launch=lambda size: Launch((-(-size[0] // 8),), (256,)),
    small=((9, 100), (8, 256), (3, 33), (1, 1)),
    full=(1 << 16, 256),
    exact=True,
    promises=Promises(
        sizes=promises.shapes(rows=(1, 3, 8, 9, 17), n=(1, 2, 31, 32, 33, 65, 255, 256)),
        values=((AS_GIVEN, *KEYS), ANY_K),
    ),
    means=(
        means.reads_each_once(4 * 8 * 256, size=(8, 256)),
        means.one_store_each(),
        means.no_shared_memory("The counts of a warp need no shared memory.", size=(8, 256)),
        means.no_local_memory("Eight keys of a lane stay in registers.", size=(8, 256)),
        Means(
            "votes, reductions and shuffles of a warp",
            lambda work: work.opcodes("redux.", "vote.", "shfl.") / (8 * 32),
            at_least=8,
            at_most=300,
            advice="A row has 2³² possible limits, and halving finds the one in 32 steps.",
            size=(8, 256),
        ),
    ),
    within=3.0,
    hints=(
        "If at least k keys reach the middle, the k-th largest does too: low goes up to the "
        "middle. Otherwise high goes below it.",
        "`__reduce_add_sync` adds up over the warp in one instruction.",
        "The middle must be above low, or two neighbours never meet. `(low + high) / 2` overflows.",
    ),
    explanation="""
Thirty-two steps of eight comparisons and one reduction, with no barrier and no atomic. For a short
row that is enough. A row of many thousands of keys has no room in a warp's registers, and each step
counts all of it.
""",
    mutants=(
        mutant(
            "the sum overflows", kinds.ENDLESS_LOOP, ("high - (high - low) / 2", "(low + high) / 2")
        ),
        mutant(
            "the middle below",
            kinds.ENDLESS_LOOP,
            ("high - (high - low) / 2", "low + (high - low) / 2"),
        ),
        mutant("more than k", kinds.WRONG, (">= k)", "> k)")),
        mutant("100 at most", kinds.WRONG, (">= k)", ">= min(k, 100))")),
        mutant("above the limit alone", kinds.WRONG, ("own[j] >= middle", "own[j] > middle")),
        mutant(
            "this lane's keys alone",
            kinds.ALL_ZEROS,
            ("__reduce_add_sync(kWholeWarp, count) >= k", "count >= k"),
        ),
        mutant("the k-th smallest", kinds.WRONG, ("own[j] >= middle", "own[j] <= middle")),
        mutant("compares signed", kinds.WRONG, ("own[j] >= middle", "int(own[j]) >= int(middle)")),
        mutant(
            "stops at neighbours", kinds.WRONG, ("while (low < high)", "while (high - low > 1)")
        ),
        mutant(
            "four keys of a lane",
            kinds.ALL_ZEROS,
            ("            count += own[j]", "            count += j % 2 == 0 && own[j]"),
        ),
        mutant(
            "counts in shared memory",
            kinds.MEANS_MISSING,
            (
                "if (__reduce_add_sync(kWholeWarp, count) >= k)",
                "__shared__ int counts[8];\n        int &all = counts[threadIdx.x / 32];\n"
                "        if (lane == 0) all = 0;\n        __syncwarp();\n"
                "        atomicAdd(&all, count);\n        __syncwarp();\n"
                "        int reached = all;\n        __syncwarp();\n        if (reached >= k)",
            ),
        ),
    ),
)


def some_weights(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    weights = np.sort(rng.integers(1, 1 << 16, size, dtype=np.uint32), axis=1)[:, ::-1].copy()
    return {
        "weights": weights,
        "goal": goals_of(weights, rng),
        "size": empty(size[0], np.int32),
        "rows": np.int32(size[0]),
        "k": np.int32(size[1]),
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


def sizes_of_nuclei(given: Given) -> dict:
    running = given["weights"].cumsum(axis=1, dtype=np.uint64)
    return {"size": 1 + (running < given["goal"][:, None]).sum(axis=1).astype(np.int32)}


def weights_of(label: str, change) -> Values:
    """Other weights, sorted, and goals that belong to them."""

    def other(given: Given, rng: np.random.Generator) -> Given:
        weights = np.sort(change(given["weights"], rng).astype(np.uint32), axis=1)[:, ::-1].copy()
        return {"weights": weights, "goal": goals_of(weights, rng)}

    return Values(label, other)


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


def read_beyond_need(work: WorkDone) -> float:
    read, needed = (
        sum(launch.work.loaded_from["weights"] for launch in done.launches)
        for done in (work, work.of_ours() if work.of_ours else work)
    )
    return read / needed


NUCLEUS_SIZE = Exercise(
    id="07.nucleus_size",
    title="how many tokens make up 90 %",
    task="""
The nucleus of a row is the shortest beginning whose weights add up to the goal. Find its size.
Weights are integers, so sums are exact; they may be 0 at the end, and their sum takes all 32 bits.
A warp adds up 32 of them at a time, and reads no more than it needs.
""",
    source="07_pytorch_extensions/exercises/nucleus_size.cu",
    kernel="nucleus_size",
    inputs=some_weights,
    reference=sizes_of_nuclei,
    launch=lambda size: Launch((-(-size[0] // 8),), (256,)),
    small=((9, 100), (8, 64), (3, 33), (1, 1)),
    full=(1 << 14, 2048),
    exact=True,
    promises=Promises(
        sizes=promises.shapes(rows=(1, 3, 8, 9, 17), k=(1, 2, 31, 32, 33, 65, 257)).with_longest(
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
                Values("all is wanted", all_of_it),
                Values("the first is enough", first_enough),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.loads_shared_out(3.0, size=(8, 64)),
        means.no_shared_memory("Shuffles add up over a warp.", size=(8, 64)),
        Means(
            "bytes of weights that are read, over those that decide",
            read_beyond_need,
            at_most=1.5,
            advice="Once the goal is reached, what lies behind it need not be read.",
            size=(8, 1025),
        ),
        means.shuffles(
            4 * 8 * 32, 64 * 8 * 32, advice="Five shuffles make running sums.", size=(8, 64)
        ),
    ),
    within=2.0,
    hints=(
        "Running sums of 32 weights: five steps of `__shfl_up_sync`, as in the lesson on scans.",
        "The sum of all turns so far is added to each of them.",
        "`__ballot_sync(…, running >= goal)`, and `__ffs` of it: the first lane, counted from 1.",
    ),
    explanation="""
The token that crosses the goal belongs to the nucleus, so it is never empty. With floats the sums
depend on the order of the additions, and a cut at p = 1 can lose the last token: the kernel of the
lesson takes the last one in any case.
""",
    mutants=(
        mutant(
            "without the one that crosses",
            kinds.WRONG,
            ("start + __ffs(reached)", "start + __ffs(reached) - 1"),
        ),
        mutant(
            "past the goal", kinds.PARTLY_WRITTEN, ("running >= goal[row]", "running > goal[row]")
        ),
        mutant("turns not added up", kinds.PARTLY_WRITTEN, ("        running += before;\n", "")),
        mutant("place in its 32", kinds.WRONG, ("start + __ffs(reached)", "__ffs(reached)")),
        mutant(
            "reads on to the end",
            kinds.MEANS_MISSING,
            (
                "            return;\n        }\n        before",
                "            start += kWarpSize;\n            for (; start + lane < k; start += "
                "kWarpSize) {\n                if (weights[start + lane] == 0xfffffffe) "
                "size[row] = 0;\n            }\n            return;\n        }\n        before",
            ),
        ),
        mutant("2,048 at most", kinds.NOTHING_WRITTEN, ("start < k;", "start < min(k, 2048);")),
        mutant(
            "one more", kinds.PARTLY_WRITTEN, ("running >= goal[row]", "running + 1 > goal[row]")
        ),
        mutant(
            "sum of a lane too early",
            kinds.PARTLY_WRITTEN,
            ("running, kWarpSize - 1)", "running, kWarpSize - 2)"),
        ),
        mutant(
            "signed sums", kinds.WRONG, ("running >= goal[row]", "int(running) >= int(goal[row])")
        ),
        mutant("goal of the first row", kinds.PARTLY_WRITTEN, ("goal[row]", "goal[0]")),
        mutant(
            "weights one by one",
            kinds.WRONG,
            ("running += lane >= distance ? left : 0;", "running += left;"),
        ),
        mutant(
            "stops early",
            kinds.PARTLY_WRITTEN,
            ("distance < kWarpSize; distance", "distance < 16; distance"),
        ),
        mutant(
            "no guard",
            kinds.OUT_OF_BOUNDS,
            ("start + lane < k ? weights[start + lane] : 0", "weights[start + lane]"),
        ),
        mutant(
            "in floats", kinds.WRONG, ("running >= goal[row]", "float(running) >= float(goal[row])")
        ),
    ),
)


def a_race(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, n = size
    logits = floats(rng, size)
    if n > 1000:
        logits[0, -1] += 20  # a long row is not to be cut
    return {
        "logits": logits,
        "bits": some_keys(rng, size),
        "token": empty(rows, np.int32),
        "rows": np.int32(rows),
        "first": np.int32(32_000),
        "n": np.int32(n),
    }


def winners(given: Given) -> dict:
    u = given["bits"].astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)
    time = -np.log1p(-u.astype(np.float64))
    score = given["logits"].astype(np.float64) - np.log(time)
    return {"token": given["first"] + np.argmax(score, axis=1).astype(np.int32)}


def with_bits(label: str, *values: int, part: float = 0.3) -> Values:
    def other(given: Given, rng: np.random.Generator) -> Given:
        bits = given["bits"]
        return {
            "bits": np.where(
                rng.random(bits.shape) < part, rng.choice(np.uint32(values), bits.shape), bits
            )
        }

    return Values(label, other)


def equal_scores(given: Given, rng: np.random.Generator) -> Given:
    bits = rng.choice(np.uint32([1 << 31, 5]), given["bits"].shape, p=(0.8, 0.2))
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


FAIR_RACE = Exercise(
    id="07.fair_race",
    title="a race that cannot be bought",
    task="""
Draw a token from each row without a sum: the random bits are given, each token's time is −log(1 −
u), and the highest logit − log(time) wins. All 2³² values of the bits may come. Where they are all
ones, u is 1: that token waits for ever. Where they are few, u is tiny: that token is fast, and how
fast must be right to fp32's last digits. Forbidden tokens have a logit of −∞. The logits are a
part of the vocabulary, whose tokens are counted from `first`.
""",
    source="07_pytorch_extensions/exercises/fair_race.cu",
    kernel="fair_race",
    inputs=a_race,
    reference=winners,
    launch=lambda size: Launch((-(-size[0] // 8),), (256,)),
    small=((9, 100), (8, 64), (3, 33), (1, 1)),
    full=(1 << 10, 1 << 14),
    exact=True,
    promises=Promises(
        sizes=promises.shapes(rows=(1, 3, 8, 9, 17), n=(1, 2, 31, 32, 33, 65, 257)).with_longest(
            n=4099
        ),
        values=(
            (
                AS_GIVEN,
                with_bits("all ones among the bits", 0xFFFFFFFF, 0xFFFFFFF0),
                with_bits("all bits ones", 0xFFFFFFFF, part=1.0),
                Values("equal scores", equal_scores),
                Values("unlikely tokens with bits 0", unlikely_but_fast),
                Values("tiny bits", tiny_bits),
                Values("small bits", small_bits),
                Values("a close race", close_race),
            ),
            (
                AS_GIVEN,
                Values("most logits -inf", masked),
                Values("logits of some hundred", lambda given, rng: {"logits": far_up(given, 1)}),
                Values("logits far below 0", lambda given, rng: {"logits": far_up(given, -1)}),
            ),
            promises.scalars("first", 0, 100_000),
        ),
    ),
    means=(
        means.one_store_each(),
        means.loads_shared_out(2.0, size=(8, 64)),
        means.reads_each_once(2 * 4 * 8 * 64, size=(8, 64)),
        means.no_shared_memory("Shuffles find the best of a warp.", size=(8, 64)),
    ),
    within=2.0,
    hints=(
        "`log1pf(-u)` is log(1 − u) without the digits that 1 − u loses.",
        "A score may be −∞, and then too some token has to win: take the first one in any case.",
        "In the shuffle the lower index wins where scores are equal, and a lane with no token has "
        "index n.",
    ),
    explanation="""
An exponential time is −log of a uniform number, and both ends are dangerous. With u itself a u of 1
means a time of 0 and wins against everybody, once in 33 million numbers: a row with a vocabulary of
131,072 falls for it with a chance of 1 in 256. With 1 − u in fp32 short times, those that win, are
multiples of 2⁻²⁴. `log1pf` has neither fault.
""",
    mutants=(
        mutant(
            "no time below 1e-9",
            kinds.WRONG,
            (
                "float time = -log1pf(-uniform(bits[i]));",
                "float time = fmaxf(1e-9f, -log1pf(-uniform(bits[i])));",
            ),
        ),
        mutant(
            "the other end", kinds.WRONG, ("-log1pf(-uniform(bits[i]))", "-logf(uniform(bits[i]))")
        ),
        mutant(
            "1 - u", kinds.WRONG, ("-log1pf(-uniform(bits[i]))", "-logf(1.0f - uniform(bits[i]))")
        ),
        mutant("from 0 on", kinds.WRONG, ("-uniform(bits[i])", "-(bits[i] * 2.3283064e-10f)")),
        mutant(
            "1 - u but for the tiniest",
            kinds.WRONG,
            (
                "float time = -log1pf(-uniform(bits[i]));",
                "float u = uniform(bits[i]);\n"
                "        float time = u < 6e-8f ? u : -logf(1.0f - u);",
            ),
        ),
        mutant(
            "u for short times",
            kinds.WRONG,
            (
                "float time = -log1pf(-uniform(bits[i]));",
                "float u = uniform(bits[i]);\n        float time = u < 1e-2f ? u : -log1pf(-u);",
            ),
        ),
        mutant("counted from 32,000", kinds.WRONG, ("= first + winner", "= 32000 + winner")),
        mutant(
            "2,048 at most",
            kinds.WRONG,
            ("i < n; i += kWarpSize", "i < min(n, 2048); i += kWarpSize"),
        ),
        mutant("the slowest", kinds.WRONG, ("score > best", "score < best")),
        mutant("logits alone", kinds.WRONG, ("logits[i] - logf(time)", "logits[i]")),
        mutant("time, no logarithm", kinds.WRONG, ("logits[i] - logf(time)", "logits[i] - time")),
        mutant("nobody wins", kinds.WRONG, (" || winner == n", "")),
        mutant("any of equal ones", kinds.WRONG, (" || (other == best && theirs < winner)", "")),
        mutant("the last of a lane", kinds.WRONG, ("score > best ||", "score >= best ||")),
        mutant(
            "lane 0 alone",
            kinds.WRONG,
            ("int distance = kWarpSize / 2; distance > 0", "int distance = 0; distance > 0"),
        ),
        mutant(
            "half a warp",
            kinds.WRONG,
            ("int distance = kWarpSize / 2", "int distance = kWarpSize / 4"),
        ),
        mutant(
            "no guard", kinds.OUT_OF_BOUNDS, ("i < n; i += kWarpSize", "i <= n; i += kWarpSize")
        ),
    ),
)
