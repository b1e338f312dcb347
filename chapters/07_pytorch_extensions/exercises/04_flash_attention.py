"""The exercises of "FlashAttention"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, Given, InputClass
from course_utils.exercises.authoring.exact_formulas import in_float64, row_softmax
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.authoring.worked import Worked

from .common import equal_and_low

WIDTH = 32  # of every row of queries, keys, values and outputs here


def bytes_from(array: str, least: Any, size: Any, at_most: float, advice: str) -> Requirement:
    """How often an array of ``least`` bytes is read, on average."""
    return Requirement(
        f"bytes read from {array}, over those that are needed",
        lambda stats: stats.loaded_from(array) / least,
        at_most=at_most,
        advice=advice,
        size=size,
    )


def a_warp_each(rows: int) -> Launch:
    """Four rows a block, a warp each."""
    return Launch((ceil_div(rows, 4),), (128,))


# --- the online softmax ---


def scores_and_values(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """S (rows x n), V (n x 32), room for O (rows x 32)."""
    rows, n = size
    return {
        "S": 3 * floats(rng, size),
        "V": floats(rng, (n, WIDTH)),
        "O": empty((rows, WIDTH)),
        **int32s(rows=rows, n=n),
    }


def weighted_values(given: Given) -> dict[str, np.ndarray]:
    """O = softmax(S) V in float64."""
    return {"O": row_softmax(given["S"]) @ given["V"].astype(np.float64)}


def hidden(label: str, where: Callable[..., Any]) -> InputClass:
    """Some scores are -inf: where ``where(column, n)`` says, but for one in each row."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        scores = given["S"].copy()
        rows, n = scores.shape
        kept = np.where(where(np.arange(n), n), -np.inf, scores)
        spared = rng.integers(n, size=rows)
        if label == "the first 40 scores -inf":
            spared[:] = n - 1
        kept[np.arange(rows), spared] = scores[np.arange(rows), spared]
        return {"S": kept}

    return InputClass(label, change)


ONLINE_SOFTMAX = KernelExercise(
    inputs=scores_and_values,
    reference=weighted_values,
    launch=lambda size: a_warp_each(size[0]),
    small=((3, 100), (5, 64), (2, 33), (1, 31), (1, 1)),
    worked=Worked(why_not="a value has 32 numbers, one for each lane"),
    full=(1 << 14, 4096),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 2, 5, 9, 33), n=(1, 2, 31, 32, 33, 65, 97, 161, 301)
        ).with_outlier(n=2053),
        values=(
            (
                *domain.data(
                    "S",
                    domain.NEGATIVE,
                    domain.EQUAL,
                    domain.TIES,
                    domain.RISING,
                    domain.FALLING,
                    domain.MIDDLING,
                    domain.SMALL,
                    domain.LARGE_NEGATIVE,
                    domain.NEAR_LOWEST,
                ),
                hidden("the first 40 scores -inf", lambda j, n: j < 40),
                hidden("every third score -inf", lambda j, n: j % 3 == 0),
                hidden("all scores -inf but one", lambda j, n: j >= 0),
            ),
            domain.data("V", domain.POSITIVE, domain.MIDDLING, domain.LARGE, domain.FAINT),
        ),
    ),
    method=(
        bytes_from("S", 4 * 2 * 320, (2, 320), 1.0, "One pass: read each score once."),
        bytes_from("V", 4 * 2 * 320 * WIDTH, (2, 320), 1.0, "A row needs each value once."),
        method.one_store_per_result(size=(5, 64)),
        method.balanced_work(size=(4, 97)),
        method.no_local_memory("Three running values are enough: keep no scores.", size=(5, 97)),
        method.no_shared_memory("Three running values are enough: keep no scores.", size=(5, 97)),
    ),
)


# --- attention ---


def one_head(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """Q (queries x 32), K and V (keys x 32), room for O (queries x 32)."""
    queries, keys = size
    return {
        "Q": floats(rng, (queries, WIDTH)),
        "K": floats(rng, (keys, WIDTH)),
        "V": floats(rng, (keys, WIDTH)),
        "O": empty((queries, WIDTH)),
        **int32s(queries=queries, keys=keys),
        "scale": np.float32(rng.uniform(0.2, 0.6)),
    }


def attention_of_a_head(given: Given) -> dict[str, np.ndarray]:
    """O = softmax(scale Q K^T) V in float64."""
    q, k, v = in_float64(given, *"QKV")
    return {"O": row_softmax(q @ k.T * float(given["scale"])) @ v}


def far_apart(label: str, sign: int) -> InputClass:
    """Scores of up to some hundreds, exact in fp32: sums of products of small integers, halved."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        q, k = (rng.integers(1, 9, given[name].shape) for name in "QK")
        q[:, ::4] *= -1
        return {"Q": q, "K": k, "scale": np.float32(0.5 * sign)}

    return InputClass(label, change)


def rising_keys(given: Given, rng: np.random.Generator) -> Given:
    """Every later key has a larger score, in steps of 0.5: each tile brings a new largest."""
    q, k = np.zeros(given["Q"].shape), np.zeros(given["K"].shape)
    q[:, 5], k[:, 5] = 1, np.arange(len(k))
    return {"Q": q, "K": k, "scale": np.float32(0.5)}


ATTENTION = KernelExercise(
    inputs=one_head,
    reference=attention_of_a_head,
    launch=lambda size: a_warp_each(size[0]),
    small=((5, 100), (4, 64), (3, 33), (1, 31), (1, 1)),
    worked=Worked(  # the weights are 1 and 0 for query 0, and a half each for query 1
        size=(2, 2),
        values={
            "Q": {(0, 0): 9},
            "K": {(0, 0): 9},
            "V": {(0, 0): 4, (0, 1): 2, (1, 0): 8, (1, 1): 6},
            "scale": 1,
        },
        whole=("V",),
    ),
    axes={"O": ("query", "column")},
    full=(4096, 4096),
    reduction=lambda size: 8 * WIDTH + size[1],  # the scores are rounded sums, and exponents
    contract=Domain(
        sizes=domain.shapes(
            queries=(1, 2, 3, 4, 5, 9, 33), keys=(1, 2, 31, 32, 33, 65, 97, 161)
        ).with_outlier(keys=1031),
        values=(
            (
                domain.AS_GIVEN,
                far_apart("scores of hundreds", 1),
                far_apart("scores of minus hundreds", -1),
                InputClass("each score larger than the last", rising_keys),
                equal_and_low("Q"),
                *domain.data("Q", domain.EQUAL)[1:],
            ),
            domain.data("V", domain.POSITIVE, domain.MIDDLING),
        ),
    ),
    method=(
        *(
            bytes_from(
                array,
                4 * 2 * 97 * WIDTH,
                (8, 97),
                1.0,
                "A block reads every key and value once, into shared memory, for its four queries.",
            )
            for array in "KV"
        ),
        bytes_from("Q", 4 * 8 * WIDTH, (8, 97), 1.0, "A query is read once, and stays."),
        method.one_store_per_result(),
        method.balanced_work(size=(8, 96)),
    ),
)


# --- causal tiles ---


def tokens(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """V (keys x 32), with as many keys before the queries as ``cached``."""
    queries, cached = size
    keys = queries + cached
    return {
        "V": floats(rng, (keys, WIDTH)),
        "O": empty((queries, WIDTH)),
        **int32s(queries=queries, keys=keys),
    }


def running_means(given: Given) -> dict[str, np.ndarray]:
    """The mean of the values up to each query's own, in float64."""
    values = given["V"].astype(np.float64)
    means_ = np.cumsum(values, axis=0) / np.arange(1, len(values) + 1)[:, None]
    return {"O": means_[len(values) - int(given["queries"]) :]}


def _tiles_needed(queries: int, cached: int) -> int:
    """Tiles of 32 keys that the blocks need, all together."""
    keys = queries + cached
    return sum(ceil_div(min(keys, first + 32 + cached), 32) for first in range(0, queries, 32))


CAUSAL_TILES = KernelExercise(
    inputs=tokens,
    reference=running_means,
    launch=lambda size: Launch((ceil_div(size[0], 32),), (WIDTH, 32)),
    small=((70, 0), (33, 45), (1, 100), (32, 32), (1, 0)),
    worked=Worked(why_not="a value has 32 numbers, one for each lane"),
    full=(4096, 4096),
    reduction=lambda size: sum(size),
    contract=Domain(
        sizes=domain.shapes(
            queries=(1, 2, 31, 32, 33, 63, 65, 97, 130), cached=(0, 1, 5, 31, 32, 33, 64, 100)
        ).with_outlier(cached=1031),
        values=(
            domain.data("V", domain.NEGATIVE, domain.POSITIVE, domain.MIDDLING),
            domain.data("V", domain.LARGE, domain.FAINT),
        ),
    ),
    method=tuple(
        bytes_from(
            "V",
            4 * 32 * WIDTH * _tiles_needed(*size),
            size,
            1.0,
            "A block loads a tile of which none of its queries sees a key: it can stop before.",
        )
        for size in ((96, 0), (128, 33))
    ),
)


# --- grouped heads ---


def one_token(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    """Q (heads x 32), K (keys x kv_heads x 32), room for S (heads x keys)."""
    keys, kv_heads, group = size
    heads = kv_heads * group
    return {
        "Q": floats(rng, (heads, WIDTH)),
        "K": floats(rng, (keys, kv_heads, WIDTH)),
        "S": empty((heads, keys)),
        **int32s(keys=keys, kv_heads=kv_heads, group=group),
        "scale": np.float32(rng.uniform(0.1, 2)),
    }


def scores_of_groups(given: Given) -> dict[str, np.ndarray]:
    """Each query's products with the keys of its group's head, times scale, in float64."""
    heads = np.arange(len(given["Q"])) // int(given["group"])
    keys = given["K"].astype(np.float64)[:, heads]
    return {"S": np.einsum("hc,khc->hk", given["Q"].astype(np.float64), keys) * given["scale"]}


GROUPED_HEADS = KernelExercise(
    inputs=one_token,
    reference=scores_of_groups,
    launch=lambda size: Launch((ceil_div(size[0], 4), size[1]), (128,)),
    small=((37, 2, 3), (5, 3, 1), (4, 1, 8), (1, 1, 1)),
    worked=Worked(whole=("Q",), why_not="a query has 32 numbers, one for each lane"),
    axes={"S": ("head", "key")},
    full=(65536, 8, 8),
    reduction=lambda size: WIDTH,
    contract=Domain(
        sizes=domain.shapes(
            keys=(1, 2, 3, 4, 5, 33, 131), kv_heads=(1, 2, 3, 5), group=(1, 2, 3, 7, 16)
        ).with_outlier(group=131),
        values=(
            domain.data("Q", domain.NEGATIVE, domain.MIDDLING, domain.SMALL),
            domain.data("K", domain.POSITIVE, domain.TIES, domain.LARGE, domain.FAINT),
            domain.scalars("scale", 1, 0, -0.5),
        ),
    ),
    method=(
        bytes_from("K", 4 * 5 * 2 * WIDTH, (5, 2, 33), 1.0, "Read a key once, for all its heads."),
        method.one_store_per_result(),
        method.balanced_work(size=(36, 2, 3)),
    ),
)


# --- different lengths ---


def packed(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """Sequences one after the other, the longest of ``longest`` tokens, some of none."""
    sequences, longest = size
    lengths = rng.integers(0, longest + 1, sequences)
    lengths[rng.integers(sequences)] = longest
    if sequences > 2:
        lengths[np.argmin(lengths)] = 0
    if sequences > 500:  # as many tokens as a short index does not reach, all in first blocks
        lengths = rng.integers(50, 65, sequences)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    total = int(starts[-1])
    arrays = {name: floats(rng, total) for name in "qkv"}
    return {**arrays, "starts": starts, "o": empty(total)}


def attention_of_each(given: Given) -> dict[str, np.ndarray]:
    """Each sequence's attention in float64."""
    q, k, v = in_float64(given, *"qkv")
    o = np.zeros(len(q))
    starts = given["starts"]
    for first, end in zip(starts[:-1], starts[1:], strict=True):
        part = slice(first, end)
        if end > first:
            o[part] = row_softmax(np.outer(q[part], k[part])) @ v[part]
    return {"o": o}


def large_products(given: Given, rng: np.random.Generator) -> Given:
    """Products q k of either sign, from 42 to 60."""
    return {
        name: rng.uniform(6.5, 7.7, given[name].shape) * rng.choice((-1, 1), given[name].shape)
        for name in "qk"
    }


PACKED_SEQUENCES = KernelExercise(
    inputs=packed,
    reference=attention_of_each,
    launch=lambda size: Launch((ceil_div(size[1], 64), size[0]), (64,)),
    small=((3, 100), (1, 64), (4, 65), (2, 1), (1, 1)),
    worked=Worked(whole=("q",)),
    full=(64, 4096),
    reduction=lambda size: size[1] if size[0] <= 500 else 64,
    contract=Domain(
        sizes=domain.shapes(
            sequences=(1, 2, 3, 7, 20), longest=(1, 2, 31, 63, 64, 65, 129, 200)
        ).with_outlier(sequences=1203, longest=601),
        values=(
            domain.data("q", domain.NEGATIVE, domain.POSITIVE, domain.SMALL),
            (
                *domain.data("k", domain.NEGATIVE, domain.TIES, domain.EQUAL),
                InputClass("products of nearly 60 and -60", large_products),
            ),
            domain.data("v", domain.POSITIVE, domain.MIDDLING),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.shared_memory(
            at_least=4 * 2 * 4 * 200,
            advice="Let keys and values pass through shared memory, a tile at a time.",
            size=(1, 200),
        ),
        bytes_from(
            "k", 4 * 4 * 200, (1, 200), 1.1, "Each block reads each key once, into shared memory."
        ),
        bytes_from(
            "v", 4 * 4 * 200, (1, 200), 1.1, "Each block reads each value once, into shared memory."
        ),
        method.balanced_work(size=(1, 192)),
    ),
)


# --- merging parts ---


def parts_of(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """Outputs and lse of ``count`` parts, some without keys."""
    count, rows = size
    lse = 4 * floats(rng, (count, rows))
    outputs = floats(rng, (count, rows, WIDTH))
    if rows > 1:  # a row whose first part has no keys
        lse[0, rows // 2], outputs[0, rows // 2] = -np.inf, np.nan
    return {
        "parts": outputs,
        "part_lse": lse,
        "O": empty((rows, WIDTH)),
        "lse": empty(rows),
        **int32s(count=count, rows=rows),
    }


def merged(given: Given) -> dict[str, np.ndarray]:
    """The whole attention in float64."""
    lse = given["part_lse"].astype(np.float64)
    largest = lse.max(axis=0)
    none = np.isneginf(largest)
    weights = np.exp(lse - np.where(none, 0, largest))
    outputs = np.where(np.isneginf(lse)[..., None], 0, given["parts"].astype(np.float64))
    total = np.where(none, 1, weights.sum(axis=0))
    o = (weights[..., None] * outputs).sum(axis=0) / total[:, None]
    return {"O": o, "lse": np.where(none, -np.inf, largest + np.log(total))}


def _without_keys(label: str, which: Callable[..., Any]) -> InputClass:
    """Parts without keys, where ``which(part, row, rng)`` is true. Their outputs are NaN."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        lse, outputs = given["part_lse"].copy(), given["parts"].copy()
        part, row = np.indices(lse.shape)
        empty_ = which(part, row, rng)
        lse[empty_], outputs[empty_] = -np.inf, np.nan
        return {"part_lse": lse, "parts": outputs}

    return InputClass(label, change)


def _lse_around(label: str, middle: float, spread: float) -> InputClass:
    def change(given: Given, rng: np.random.Generator) -> Given:
        lse = given["part_lse"]
        found = middle + spread * rng.standard_normal(lse.shape)
        return {"part_lse": np.where(np.isneginf(lse), lse, found)}

    return InputClass(label, change)


def _nan_that_counts(given: Given, rng: np.random.Generator) -> Given:
    """One number of the heaviest part of a row, if the row has any keys, is NaN."""
    outputs, lse = given["parts"].copy(), given["part_lse"]
    row = (lse.shape[1] - 1) // 2
    part = int(np.argmax(lse[:, row]))
    outputs[part, row, int(rng.integers(WIDTH))] = np.nan
    return {"parts": outputs}


def _nan_that_hardly_counts(given: Given, rng: np.random.Generator) -> Given:
    """One number of a row's part whose weight is 0 as a float, and has keys, is NaN."""
    outputs, lse = given["parts"].copy(), given["part_lse"].copy()
    row = (lse.shape[1] - 1) // 2
    heaviest, part = int(np.argmax(lse[:, row])), int(rng.integers(lse.shape[0]))
    if part == heaviest or np.isneginf(lse[heaviest, row]):
        return {}
    lse[part, row] = lse[heaviest, row] - 200 - abs(lse[heaviest, row]) / 100
    outputs[part, row, int(rng.integers(WIDTH))] = np.nan
    return {"parts": outputs, "part_lse": lse}


MERGE_PARTS = KernelExercise(
    inputs=parts_of,
    reference=merged,
    launch=lambda size: a_warp_each(size[1]),
    small=((3, 6), (1, 5), (8, 3), (2, 1), (1, 1)),
    worked=Worked(
        values={"part_lse": (0, 1, 0, 2)},  # of two parts and two rows, as in the next one
        whole=("parts", "part_lse"),
        why_not="an output has 32 numbers, one for each lane",
    ),
    full=(16, 1 << 14),
    reduction=lambda size: 1000 + size[0],  # exp2 of a rounded lse of some hundred is as good
    contract=Domain(
        sizes=domain.shapes(
            count=(1, 2, 3, 5, 8, 33, 67), rows=(1, 2, 3, 4, 5, 9, 130)
        ).with_outlier(count=131),
        values=(
            (
                domain.AS_GIVEN,
                _lse_around("lse about 200", 200, 3),
                _lse_around("lse about -200", -200, 3),
                _lse_around("lse of 1000 and -1000", 0, 1000),
                _lse_around("lse all 5", 5, 0),
                _lse_around("lse about -3.3e38", -3.3e38, 1e36),
                _lse_around("lse above 1e38", 1.5e38, 1e36),
                _lse_around("lse about 1e5", 1e5, 3),
            ),
            (
                domain.AS_GIVEN,
                _without_keys("every other part without keys", lambda p, r, rng: p % 2 == 0),
                _without_keys("only the last part has keys", lambda p, r, rng: p < p.max()),
                _without_keys("no part has keys", lambda p, r, rng: p >= 0),
                _without_keys("row 0 without keys", lambda p, r, rng: r == 0),
                _without_keys("some without keys", lambda p, r, rng: rng.random(p.shape) < 0.4),
            ),
            (
                domain.AS_GIVEN,
                InputClass("a NaN that counts", _nan_that_counts),
                InputClass("a NaN in a part that hardly weighs", _nan_that_hardly_counts),
                *domain.data("parts", domain.LARGE, domain.FAINT)[1:],
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=(3, 8)),
        bytes_from("parts", 4 * 67 * 2 * WIDTH, (67, 2), 1.0, "Each part's output is needed once."),
    ),
)


# --- the way back ---


def tile_of_scores(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """A tile's products and the gradients of its weights, and whole rows of O and dO."""
    rows, keys = size
    s = 2 * floats(rng, size)
    largest = np.log(np.exp(np.abs(s).astype(np.float64)).sum(axis=1))  # whatever the scale is
    return {
        "S": s,
        "lse": (1 + largest + np.abs(floats(rng, rows))).astype(np.float32),
        "dP": floats(rng, size),
        "O": floats(rng, (rows, WIDTH)),
        "dO": floats(rng, (rows, WIDTH)),
        "dS": empty(size),
        **int32s(rows=rows, keys=keys),
        "scale": np.float32(rng.uniform(0.2, 0.9)),
    }


def gradient_of_scores(given: Given) -> dict[str, np.ndarray]:
    """dS in float64."""
    s, lse, dp, o, do = in_float64(given, "S", "lse", "dP", "O", "dO")
    scale = float(given["scale"])
    weights = np.exp(s * scale - lse[:, None])
    return {"dS": weights * (dp - (o * do).sum(axis=1, keepdims=True)) * scale}


def masked_products(given: Given, rng: np.random.Generator) -> Given:
    """Every third score is -inf, and its weight 0, however large its gradient."""
    masked = np.arange(given["S"].shape[1]) % 3 == 1
    return {
        "S": np.where(masked, -np.inf * np.sign(given["scale"]), given["S"]),
        "dP": np.where(masked, 1e8 * given["dP"].astype(np.float64), given["dP"]),
    }


SCORE_GRADIENT = KernelExercise(
    inputs=tile_of_scores,
    reference=gradient_of_scores,
    launch=lambda size: a_warp_each(size[0]),
    small=((5, 70), (3, 32), (4, 1), (1, 33), (1, 1)),
    worked=Worked(
        values={"S": (4, 3, 1, 0), "lse": (8, 2), "scale": 2},  # weights of 1 and of exp(-2)
        whole=("dP", "lse"),
        why_not="an output has 32 numbers, one for each lane",
    ),
    axes={"dS": ("query", "key")},
    full=(8192, 4096),
    reduction=lambda size: 40 * WIDTH,  # exp2 of a rounded score of 100 is as good as exp
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 2, 3, 4, 5, 67), keys=(1, 2, 31, 32, 33, 64, 97, 301)
        ).with_outlier(keys=2053),
        values=(
            domain.scalars("scale", 1, 0.125, -0.5),
            domain.data("S", domain.NEGATIVE, domain.TIES, domain.SMALL),
            domain.data("dP", domain.NEGATIVE, domain.EQUAL, domain.MIDDLING),
            domain.data("O", domain.POSITIVE, domain.SMALL),
            domain.data("dO", domain.NEGATIVE, domain.TIES),
            (
                domain.AS_GIVEN,
                InputClass(
                    "lse about 100",
                    lambda given, rng: {
                        "lse": 100 + given["lse"],
                        "S": given["S"] + 100 / given["scale"],
                    },
                ),
                InputClass("masked products", masked_products),
                *domain.data("dP dO", domain.LARGE, domain.FAINT)[1:],
            ),
        ),
    ),
    method=(
        bytes_from("S", 4 * 2 * 320, (2, 320), 1.0, "One pass over the tile."),
        bytes_from("dP", 4 * 2 * 320, (2, 320), 1.0, "One pass over the tile."),
        method.one_store_per_result(),
        method.balanced_work(size=(4, 97)),
    ),
)
