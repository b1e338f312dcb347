"""The exercises of "FlashAttention"."""

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
from course_utils.exercises.promises import Values

WIDTH = 32  # of every row of queries, keys, values and outputs here


def bytes_from(array: str, least, size, at_most: float, advice: str) -> Means:
    """How often what an array holds is read, on average; ``least`` bytes hold it once."""
    return Means(
        f"bytes read from {array}, over those that are needed",
        lambda work: sum(launch.work.loaded_from.get(array, 0) for launch in work.launches) / least,
        at_most=at_most,
        advice=advice,
        size=size,
    )


def a_warp_each(rows: int) -> Launch:
    """Four rows a block, a warp each."""
    return Launch((-(-rows // 4),), (128,))


# --- the online softmax ---


def scores_and_values(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    """S (rows x n), V (n x 32), room for O (rows x 32)."""
    rows, n = size
    return {
        "S": 3 * floats(rng, size),
        "V": floats(rng, (n, WIDTH)),
        "O": empty((rows, WIDTH)),
        "rows": np.int32(rows),
        "n": np.int32(n),
    }


def softmax(scores: np.ndarray) -> np.ndarray:
    """Of each row, in float64."""
    scores = scores.astype(np.float64)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def weighted_values(given) -> dict:
    """O = softmax(S) V in float64."""
    return {"O": softmax(given["S"]) @ given["V"].astype(np.float64)}


def hidden(label: str, where) -> Values:
    """Some scores are -inf: where ``where(column, n)`` says, but for one in each row."""

    def change(given, rng) -> dict:
        scores = given["S"].copy()
        rows, n = scores.shape
        kept = np.where(where(np.arange(n), n), -np.inf, scores)
        spared = rng.integers(n, size=rows)
        if label == "the first 40 scores -inf":
            spared[:] = n - 1
        kept[np.arange(rows), spared] = scores[np.arange(rows), spared]
        return {"S": kept}

    return Values(label, change)


ONLINE = Exercise(
    id="07.online_softmax",
    title="one pass over the scores",
    task="""
Bring the three running values up to date with each 32 scores: the largest score so far, the sum of
exponentials relative to it, and the weighted sum of values relative to it. The scores are read
once. Scores of minus infinity (masked ones) may come first, last or anywhere, also 32 together; one
score of each row at least is finite. V is finite.
""",
    source="07_pytorch_extensions/exercises/online_softmax.cu",
    kernel="online_softmax",
    inputs=scores_and_values,
    reference=weighted_values,
    launch=lambda size: a_warp_each(size[0]),
    small=((3, 100), (5, 64), (2, 33), (1, 31), (1, 1)),
    full=(1 << 14, 4096),
    reduction=lambda size: size[1],
    promises=Promises(
        sizes=promises.shapes(
            rows=(1, 2, 5, 9, 33), n=(1, 2, 31, 32, 33, 65, 97, 161, 301)
        ).with_longest(n=2053),
        values=(
            (
                *promises.data(
                    "S",
                    promises.NEGATIVE,
                    promises.EQUAL,
                    promises.TIES,
                    promises.RISING,
                    promises.FALLING,
                    promises.MIDDLING,
                    promises.SMALL,
                    promises.LARGE_NEGATIVE,
                    promises.NEAR_LOWEST,
                ),
                hidden("the first 40 scores -inf", lambda j, n: j < 40),
                hidden("every third score -inf", lambda j, n: j % 3 == 0),
                hidden("all scores -inf but one", lambda j, n: j >= 0),
            ),
            promises.data(
                "V", promises.POSITIVE, promises.MIDDLING, promises.LARGE, promises.FAINT
            ),
        ),
    ),
    means=(
        bytes_from("S", 4 * 5 * 97, (5, 97), 1.0, "One pass: read each score once."),
        bytes_from("V", 4 * 5 * 97 * WIDTH, (5, 97), 1.0, "A row needs each value once."),
        means.one_store_each(),
        means.work_shared_out(size=(4, 97)),
        means.no_local_memory("Three running values are enough: keep no scores.", size=(5, 97)),
        means.no_shared_memory("Three running values are enough: keep no scores.", size=(5, 97)),
    ),
    hints=(
        "What was summed is relative to the old largest score. exp(s - new) is exp(s - old) times "
        "exp(old - new).",
        "Both running sums need the factor: `sum` and `o`.",
        "Two infinities of one sign have no difference: if the new largest is -inf, there is "
        "nothing to add yet.",
        "`weight = expf(score - new_largest)` is this lane's score's; in a loop over the lanes "
        "`o += __shfl_sync(kWholeWarp, weight, j) * V[(first + j) * kColumns + lane]`, as long as "
        "`first + j < n`.",
    ),
    explanation="""
That is all of FlashAttention's arithmetic: whatever has been summed is relative to the largest
score that was known then, and one multiplication brings it up to date. The order of the keys does
not matter, nor how many come at a time. `sum` may stay a sum of the lane's own weights until the
end, because the factor is the same for all lanes; the largest score may not.
""",
    mutants=(
        mutant(
            "no score below -1e38",
            kinds.NOT_A_NUMBER,
            (
                "float new_largest = fmaxf(largest, tile_largest);",
                "float new_largest = fmaxf(fmaxf(largest, -1e38f), tile_largest);",
            ),
        ),
        mutant(
            "-1e37 for nothing so far",
            kinds.NOT_A_NUMBER,
            ("if (new_largest == -CUDART_INF_F)", "if (new_largest < -1e37f)"),
        ),
        mutant("o is not rescaled", kinds.WRONG, ("        o *= rescale;\n", "")),
        mutant(
            "sum is not rescaled", kinds.WRONG, ("sum = sum * rescale + weight", "sum += weight")
        ),
        mutant(
            "rescaled the wrong way round",
            kinds.NOT_A_NUMBER,
            ("expf(largest - new_largest)", "expf(new_largest - largest)"),
        ),
        mutant(
            "the tile's largest alone",
            kinds.NOT_A_NUMBER,
            ("fmaxf(largest, tile_largest);", "tile_largest;"),
        ),
        mutant(
            "no test for -inf",
            kinds.NOT_A_NUMBER,
            (
                "        if (new_largest == -CUDART_INF_F) {\n            continue; // nothing but "
                "-inf so far: -inf minus -inf would be NaN\n        }\n",
                "",
            ),
        ),
        mutant(
            "no largest score at all",
            kinds.NOT_A_NUMBER,
            ("float new_largest = fmaxf(largest, tile_largest);", "float new_largest = 0.0f;"),
            ("float rescale = expf(largest - new_largest);", "float rescale = 1.0f;"),
        ),
        mutant("values past the end", kinds.OUT_OF_BOUNDS, ("j < min(32, n - first)", "j < 32")),
        mutant(
            "the largest of all scores, read before",
            kinds.MEANS_MISSING,
            (
                "float new_largest = fmaxf(largest, tile_largest);",
                "float new_largest = -CUDART_INF_F;\n"
                "        for (int j = lane; j < n; j += 32)\n"
                "            new_largest = fmaxf(new_largest, S[(size_t)row * n + j]);\n"
                "        new_largest = warp_max(new_largest);",
            ),
        ),
    ),
)


# --- causal tiles ---


def tokens(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    """V (keys x 32), with as many keys before the queries as ``cached``."""
    queries, cached = size
    keys = queries + cached
    return {
        "V": floats(rng, (keys, WIDTH)),
        "O": empty((queries, WIDTH)),
        "queries": np.int32(queries),
        "keys": np.int32(keys),
    }


def running_means(given) -> dict:
    """The mean of the values up to each query's own, in float64."""
    values = given["V"].astype(np.float64)
    means_ = np.cumsum(values, axis=0) / np.arange(1, len(values) + 1)[:, None]
    return {"O": means_[len(values) - int(given["queries"]) :]}


def _tiles_needed(queries: int, cached: int) -> int:
    """Tiles of 32 keys that the blocks need, all together."""
    keys = queries + cached
    return sum(-(-min(keys, first + 32 + cached) // 32) for first in range(0, queries, 32))


CAUSAL = Exercise(
    id="07.causal_tiles",
    title="the edge of the mask",
    task="""
Say where a block may stop, and which is the last key that a query sees. There may be more keys than
queries: those of earlier tokens, kept from before. All scores are equal here, so the output is a
mean, and whoever sees one key too many or too few is found out. No tile is to be loaded of which no
query of the block sees a key.
""",
    source="07_pytorch_extensions/exercises/causal_tiles.cu",
    kernel="causal_tiles",
    inputs=tokens,
    reference=running_means,
    launch=lambda size: Launch((-(-size[0] // 32),), (WIDTH, 32)),
    small=((70, 0), (33, 45), (1, 100), (32, 32), (1, 0)),
    full=(4096, 4096),
    reduction=lambda size: sum(size),
    promises=Promises(
        sizes=promises.shapes(
            queries=(1, 2, 31, 32, 33, 63, 65, 97, 130), cached=(0, 1, 5, 31, 32, 33, 64, 100)
        ).with_longest(cached=1031),
        values=(
            promises.data("V", promises.NEGATIVE, promises.POSITIVE, promises.MIDDLING),
            promises.data("V", promises.LARGE, promises.FAINT),
        ),
    ),
    means=tuple(
        bytes_from(
            "V",
            4 * 32 * WIDTH * _tiles_needed(*size),
            size,
            1.0,
            "A block loads a tile of which none of its queries sees a key: it can stop before.",
        )
        for size in ((96, 0), (128, 33))
    ),
    hints=(
        "Query i is token i + keys - queries.",
        "A token sees itself: `last` is the number of the query's own token.",
        "The block's last query is `blockIdx.x * kTile + kTile - 1`: `end` is one more than the "
        "last key that it sees, and never more than `keys`.",
    ),
    explanation="""
Without cached keys a block with late queries loads many tiles and one with early queries few; all
blocks together load about half of them, which is where causal attention saves its time. Only the
last tile or two of a block need the test at all. When a model writes a text, `queries` is 1 and
`keys` grows: with `key <= query` alone, the new token would see the first key and no other.
""",
    mutants=(
        mutant(
            "does not see itself",
            kinds.NOT_A_NUMBER,
            ("last = query + cached", "last = query + cached - 1"),
        ),
        mutant(
            "sees the next one",
            kinds.OFF_BY_ONE,
            ("last = query + cached", "last = query + cached + 1"),
        ),
        mutant("cached keys forgotten", kinds.WRONG, ("last = query + cached", "last = query")),
        mutant(
            "stops a tile early",
            kinds.NOT_A_NUMBER,
            ("(int)(blockIdx.x + 1) * kTile + cached", "(int)blockIdx.x * kTile + cached"),
        ),
        mutant(
            "stops one key early",
            kinds.WRONG,
            (
                "(int)(blockIdx.x + 1) * kTile + cached",
                "(int)(blockIdx.x + 1) * kTile + cached - 1",
            ),
        ),
        mutant(
            "cached keys forgotten in the end",
            kinds.WRONG,
            ("(int)(blockIdx.x + 1) * kTile + cached", "(int)(blockIdx.x + 1) * kTile"),
        ),
        mutant(
            "all tiles loaded",
            kinds.MEANS_MISSING,
            ("end = min(keys, (int)(blockIdx.x + 1) * kTile + cached)", "end = keys"),
        ),
        mutant(
            "a tile too many",
            kinds.MEANS_MISSING,
            (
                "(int)(blockIdx.x + 1) * kTile + cached",
                "(int)(blockIdx.x + 1) * kTile + cached + 1",
            ),
        ),
    ),
)


# --- grouped heads ---


def one_token(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    """Q (heads x 32), K (keys x kv_heads x 32), room for S (heads x keys)."""
    keys, kv_heads, group = size
    heads = kv_heads * group
    return {
        "Q": floats(rng, (heads, WIDTH)),
        "K": floats(rng, (keys, kv_heads, WIDTH)),
        "S": empty((heads, keys)),
        "keys": np.int32(keys),
        "kv_heads": np.int32(kv_heads),
        "group": np.int32(group),
        "scale": np.float32(rng.uniform(0.1, 2)),
    }


def scores_of_groups(given) -> dict:
    """Each query's products with the keys of its group's head, times scale, in float64."""
    heads = np.arange(len(given["Q"])) // int(given["group"])
    keys = given["K"].astype(np.float64)[:, heads]
    return {"S": np.einsum("hc,khc->hk", given["Q"].astype(np.float64), keys) * given["scale"]}


GROUPED = Exercise(
    id="07.grouped_heads",
    title="heads that share keys",
    task="""
A new token has `heads` queries and only `kv_heads` heads of keys: neighbouring queries share one.
Compute all scores. Each key is read **once**, for all queries that it serves: that is what sharing
is for.
""",
    source="07_pytorch_extensions/exercises/grouped_heads.cu",
    kernel="grouped_heads",
    inputs=one_token,
    reference=scores_of_groups,
    launch=lambda size: Launch((-(-size[0] // 4), size[1]), (128,)),
    small=((37, 2, 3), (5, 3, 1), (4, 1, 8), (1, 1, 1)),
    full=(65536, 8, 8),
    reduction=lambda size: WIDTH,
    promises=Promises(
        sizes=promises.shapes(
            keys=(1, 2, 3, 4, 5, 33, 131), kv_heads=(1, 2, 3, 5), group=(1, 2, 3, 7, 16)
        ).with_longest(group=131),
        values=(
            promises.data("Q", promises.NEGATIVE, promises.MIDDLING, promises.SMALL),
            promises.data("K", promises.POSITIVE, promises.TIES, promises.LARGE, promises.FAINT),
            promises.scalars("scale", 1, 0, -0.5),
        ),
    ),
    means=(
        bytes_from("K", 4 * 37 * 2 * WIDTH, (37, 2, 3), 1.0, "Read a key once, for all its heads."),
        means.one_store_each(),
        means.work_shared_out(size=(36, 2, 3)),
    ),
    hints=(
        "Key j of head g begins at `K + (j * kv_heads + g) * kWidth`.",
        "It serves the query heads `kv_head * group` to `kv_head * group + group - 1`.",
        "Load the lane's element of the key before the loop over the group. Inside, each lane "
        "multiplies its elements, `warp_sum` adds up, and one lane stores.",
    ),
    explanation="""
A token that is generated reads all keys and values from memory and does little with each: it is
memory-bound. With a group of eight, an eighth of the bytes is kept and read for the same number of
query heads. The order is a convention: neighbours share a head (as in `repeat_interleave` and in
PyTorch's `enable_gqa`). Who takes `head % kv_heads` computes something plausible, and loads a
model's weights wrongly.
""",
    mutants=(
        mutant(
            "every kv_heads-th query",
            kinds.WRONG,
            ("kv_head * group + i", "i * kv_heads + kv_head"),
        ),
        mutant(
            "keys of one head",
            kinds.WRONG,
            ("((size_t)key * kv_heads + kv_head)", "((size_t)key + kv_head)"),
        ),
        mutant(
            "heads before keys",
            kinds.WRONG,
            ("((size_t)key * kv_heads + kv_head)", "((size_t)kv_head * keys + key)"),
        ),
        mutant("scale forgotten", kinds.SCALED, (" * scale;\n        if", ";\n        if")),
        mutant(
            "read for each query",
            kinds.MEANS_MISSING,
            (
                "warp_sum(mine * Q",
                "warp_sum(*(volatile const float *)"
                "&K[((size_t)key * kv_heads + kv_head) * kWidth + lane] * Q",
            ),
        ),
        mutant(
            "the last of a group is missed",
            kinds.PARTLY_WRITTEN,
            ("i < group; ++i", "i < group - 1; ++i"),
        ),
        mutant(
            "at most eight in a group",
            kinds.FIRST_BLOCK,
            ("i < group; ++i", "i < min(group, 8); ++i"),
        ),
        mutant("all lanes store", kinds.MEANS_MISSING, ("if (lane == 0)", "if (lane >= 0)")),
    ),
)


# --- different lengths ---


def packed(rng: np.random.Generator, size: tuple[int, int]) -> dict:
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


def attention_of_each(given) -> dict:
    """Each sequence's attention in float64."""
    q, k, v = (given[name].astype(np.float64) for name in "qkv")
    o = np.zeros(len(q))
    starts = given["starts"]
    for first, end in zip(starts[:-1], starts[1:], strict=True):
        part = slice(first, end)
        if end > first:
            o[part] = softmax(np.outer(q[part], k[part])) @ v[part]
    return {"o": o}


def large_products(given, rng) -> dict:
    """Products q k of either sign, from 42 to 60."""
    return {
        name: rng.uniform(6.5, 7.7, given[name].shape) * rng.choice((-1, 1), given[name].shape)
        for name in "qk"
    }


PACKED = Exercise(
    id="07.packed_sequences",
    title="no padding",
    task="""
A batch of texts of different lengths is packed: one after the other, with no padding between. Write
the kernel, indices and all. The grid has a block for every 64 tokens of the *longest* sequence, so
some blocks have nothing to do. A sequence may be empty. Products q k stay between -60 and 60: no
largest score is needed here.
""",
    source="07_pytorch_extensions/exercises/packed_sequences.cu",
    kernel="packed_sequences",
    inputs=packed,
    reference=attention_of_each,
    launch=lambda size: Launch((-(-size[1] // 64), size[0]), (64,)),
    small=((3, 100), (1, 64), (4, 65), (2, 1), (1, 1)),
    full=(64, 4096),
    reduction=lambda size: size[1] if size[0] <= 500 else 64,
    promises=Promises(
        sizes=promises.shapes(
            sequences=(1, 2, 3, 7, 20), longest=(1, 2, 31, 63, 64, 65, 129, 200)
        ).with_longest(sequences=601, longest=301),
        values=(
            promises.data("q", promises.NEGATIVE, promises.POSITIVE, promises.SMALL),
            (
                *promises.data("k", promises.NEGATIVE, promises.TIES, promises.EQUAL),
                Values("products of nearly 60 and -60", large_products),
            ),
            promises.data("v", promises.POSITIVE, promises.MIDDLING),
        ),
    ),
    means=(
        means.one_store_each(),
        means.shared_memory(
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
        means.work_shared_out(size=(1, 192)),
    ),
    hints=(
        "The sequence is `blockIdx.y`; its first token `starts[blockIdx.y]`, its length the "
        "difference to the next start. Count queries and keys from there.",
        "A whole block may return before its first barrier. A single thread may not: one without a "
        "query still helps to load, and only leaves out the store.",
        "Two barriers a tile: before it is overwritten, and before it is read.",
        "`weight = expf(mine * keys[j])`; add up the weights, and the weights times values; the "
        "quotient is the output. The last tile has fewer than 64 keys.",
    ),
    explanation="""
Padding to the longest sequence would compute with tokens that nobody wrote, and attention's work
grows with the square of the length. Packed, the price is one array of starts and blocks that return
at once. The same array (`cu_seqlens`, cumulative sequence lengths) is what FlashAttention's
functions for variable lengths take.
""",
    mutants=(
        mutant(
            "tokens in 16 bits",
            kinds.OUT_OF_BOUNDS,
            ("int first = starts[blockIdx.y];", "int first = (short)starts[blockIdx.y];"),
        ),
        mutant(
            "keys of the first sequence",
            kinds.WRONG,
            ("k[first + start + threadIdx.x]", "k[start + threadIdx.x]"),
        ),
        mutant("queries of the first sequence", kinds.WRONG, ("? q[first + query]", "? q[query]")),
        mutant(
            "weights cut off",
            kinds.WRONG,
            ("expf(mine * keys[j])", "expf(fminf(mine * keys[j], 40.0f))"),
        ),
        mutant(
            "keys of the next sequence, too",
            kinds.WRONG,
            (
                "int count = min(kTile, length - start);",
                "int count = min(kTile, starts[gridDim.y] - first - start);",
            ),
        ),
        mutant(
            "whole tiles only",
            kinds.OUT_OF_BOUNDS,
            ("int count = min(kTile, length - start);", "int count = kTile;"),
        ),
        mutant(
            "no guard at the store",
            kinds.OUT_OF_BOUNDS,
            ("    if (query < length) {\n        o", "    {\n        o"),
        ),
        mutant(
            "threads without a query leave",
            kinds.BARRIER,
            ("if (blockIdx.x * kTile >= length) {", "if (query >= length) {"),
        ),
        mutant(
            "one barrier",
            kinds.DATA_RACE,
            ("        __syncthreads(); // nobody reads the tile before any more\n", ""),
        ),
        mutant(
            "sum of a tile",
            kinds.WRONG,
            ("        int count = min", "        sum = 0.0f;\n        int count = min"),
        ),
    ),
)


# --- merging parts ---


def parts_of(rng: np.random.Generator, size: tuple[int, int]) -> dict:
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
        "count": np.int32(count),
        "rows": np.int32(rows),
    }


def merged(given) -> dict:
    """The whole attention in float64."""
    lse = given["part_lse"].astype(np.float64)
    largest = lse.max(axis=0)
    none = np.isneginf(largest)
    weights = np.exp(lse - np.where(none, 0, largest))
    outputs = np.where(np.isneginf(lse)[..., None], 0, given["parts"].astype(np.float64))
    total = np.where(none, 1, weights.sum(axis=0))
    o = (weights[..., None] * outputs).sum(axis=0) / total[:, None]
    return {"O": o, "lse": np.where(none, -np.inf, largest + np.log(total))}


def _without_keys(label: str, which) -> Values:
    """Parts without keys, where ``which(part, row, rng)`` says; their outputs are no numbers."""

    def change(given, rng) -> dict:
        lse, outputs = given["part_lse"].copy(), given["parts"].copy()
        part, row = np.indices(lse.shape)
        empty_ = which(part, row, rng)
        lse[empty_], outputs[empty_] = -np.inf, np.nan
        return {"part_lse": lse, "parts": outputs}

    return Values(label, change)


def _lse_around(label: str, middle: float, spread: float) -> Values:
    def change(given, rng) -> dict:
        lse = given["part_lse"]
        found = middle + spread * rng.standard_normal(lse.shape)
        return {"part_lse": np.where(np.isneginf(lse), lse, found)}

    return Values(label, change)


def _nan_that_counts(given, rng) -> dict:
    """One number of the heaviest part of a row, if the row has any keys, is NaN."""
    outputs, lse = given["parts"].copy(), given["part_lse"]
    row = (lse.shape[1] - 1) // 2
    part = int(np.argmax(lse[:, row]))
    outputs[part, row, int(rng.integers(WIDTH))] = np.nan
    return {"parts": outputs}


def _nan_that_hardly_counts(given, rng) -> dict:
    """One number of a row's part whose weight is 0 as a float, and has keys, is NaN."""
    outputs, lse = given["parts"].copy(), given["part_lse"].copy()
    row = (lse.shape[1] - 1) // 2
    heaviest, part = int(np.argmax(lse[:, row])), int(rng.integers(lse.shape[0]))
    if part == heaviest or np.isneginf(lse[heaviest, row]):
        return {}
    lse[part, row] = lse[heaviest, row] - 200 - abs(lse[heaviest, row]) / 100
    outputs[part, row, int(rng.integers(WIDTH))] = np.nan
    return {"parts": outputs, "part_lse": lse}


MERGE = Exercise(
    id="07.merge_parts",
    title="from parts to the whole",
    task="""
When one token is generated there is one query, and many keys: the keys are split into parts, a
block computes attention over each, and a second kernel merges the results. Write the second one.
The output of a part without keys may be anything: NaN, too, must not reach the result. A NaN of any
other part must, however little the part weighs.
""",
    source="07_pytorch_extensions/exercises/merge_parts.cu",
    kernel="merge_parts",
    inputs=parts_of,
    reference=merged,
    launch=lambda size: a_warp_each(size[1]),
    small=((3, 6), (1, 5), (8, 3), (2, 1), (1, 1)),
    full=(16, 1 << 14),
    reduction=lambda size: 1000 + size[0],  # exp2 of a rounded lse of some hundred is as good
    promises=Promises(
        sizes=promises.shapes(
            count=(1, 2, 3, 5, 8, 33, 67), rows=(1, 2, 3, 4, 5, 9, 130)
        ).with_longest(count=131),
        values=(
            (
                promises.AS_GIVEN,
                _lse_around("lse about 200", 200, 3),
                _lse_around("lse about -200", -200, 3),
                _lse_around("lse of 1000 and -1000", 0, 1000),
                _lse_around("lse all 5", 5, 0),
                _lse_around("lse below -1e38", -1.5e38, 1e36),
                _lse_around("lse above 1e38", 1.5e38, 1e36),
                _lse_around("lse about 1e5", 1e5, 3),
            ),
            (
                promises.AS_GIVEN,
                _without_keys("every other part without keys", lambda p, r, rng: p % 2 == 0),
                _without_keys("only the last part has keys", lambda p, r, rng: p < p.max()),
                _without_keys("no part has keys", lambda p, r, rng: p >= 0),
                _without_keys("row 0 without keys", lambda p, r, rng: r == 0),
                _without_keys("some without keys", lambda p, r, rng: rng.random(p.shape) < 0.4),
            ),
            (
                promises.AS_GIVEN,
                Values("a NaN that counts", _nan_that_counts),
                Values("a NaN in a part that hardly weighs", _nan_that_hardly_counts),
                *promises.data("parts", promises.LARGE, promises.FAINT)[1:],
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=(3, 8)),
        bytes_from("parts", 4 * 3 * 8 * WIDTH, (3, 8), 1.0, "Each part's output is needed once."),
    ),
    hints=(
        "A part's output is divided by its own sum of exponentials, exp(lse): multiply by that, "
        "add up, and divide by the sum of them all.",
        "Only ratios count: exp(lse - largest) in place of exp(lse), with the largest of the "
        "row's parts.",
        "Zero times NaN is NaN: leave a part with lse -inf out altogether.",
        "The whole's lse is `largest + logf(sum)`. If `sum` is 0, no part had keys.",
    ),
    explanation="""
It is the online softmax once more, with parts in place of scores: lse plays the score, the output
plays the value. So attention can be cut anywhere along the keys, over blocks, over GPUs, over time,
as long as each part stores one more number for each row. That is why every FlashAttention stores
the log-sum-exp, and the backward pass recomputes the weights from it.
""",
    mutants=(
        mutant(
            "-1e37 for no keys",
            kinds.ALL_ZEROS,
            ("if (part == -CUDART_INF_F)", "if (part < -1e37f)"),
        ),
        mutant("weights without the largest", kinds.WRONG, ("expf(part - largest)", "expf(part)")),
        mutant(
            "no lse above 1e4",
            kinds.NOT_A_NUMBER,
            (
                "fmaxf(largest, part_lse[p * rows + row])",
                "fmaxf(largest, fminf(part_lse[p * rows + row], 1e4f))",
            ),
        ),
        mutant(
            "plain mean",
            kinds.WRONG,
            ("float weight = expf(part - largest)", "float weight = 1.0f"),
        ),
        mutant(
            "NaN of a part without keys",
            kinds.NOT_A_NUMBER,
            (
                "        if (part == -CUDART_INF_F) {\n            continue; // no keys: 0 times "
                "NaN would be NaN\n        }\n",
                "",
            ),
        ),
        mutant(
            "a finite number for none",
            kinds.ALL_ZEROS,
            ("float largest = -CUDART_INF_F", "float largest = -1e30f"),
        ),
        mutant(
            "every NaN left out",
            kinds.WRONG,
            (
                "        if (part == -CUDART_INF_F) {",
                "        if (part == -CUDART_INF_F ||\n"
                "            isnan(parts[(p * rows + row) * kColumns + lane])) {",
            ),
        ),
        mutant(
            "parts without weight left out",
            kinds.NOT_A_NUMBER,
            ("        if (part == -CUDART_INF_F) {", "        if (expf(part - largest) == 0.0f) {"),
        ),
        mutant("largest forgotten in lse", kinds.WRONG, ("largest + logf(sum)", "logf(sum)")),
        mutant("base 2", kinds.WRONG, ("largest + logf(sum)", "largest + log2f(sum)")),
        mutant(
            "no keys at all",
            kinds.NOT_A_NUMBER,
            ("sum == 0.0f ? 0.0f : o / sum", "o / sum"),
        ),
        mutant(
            "parts and rows swapped",
            kinds.NOT_A_NUMBER,
            ("part_lse[p * rows + row];\n        if", "part_lse[row * count + p];\n        if"),
        ),
        mutant(
            "not divided", kinds.WRONG, ("sum == 0.0f ? 0.0f : o / sum", "sum == 0.0f ? 0.0f : o")
        ),
    ),
)


# --- the way back ---


def tile_of_scores(rng: np.random.Generator, size: tuple[int, int]) -> dict:
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
        "rows": np.int32(rows),
        "keys": np.int32(keys),
        "scale": np.float32(rng.uniform(0.2, 0.9)),
    }


def gradient_of_scores(given) -> dict:
    """dS in float64."""
    s, lse, dp, o, do = (given[name].astype(np.float64) for name in ("S", "lse", "dP", "O", "dO"))
    scale = float(given["scale"])
    weights = np.exp(s * scale - lse[:, None])
    return {"dS": weights * (dp - (o * do).sum(axis=1, keepdims=True)) * scale}


def masked_products(given, rng) -> dict:
    """Every third score is -inf, and its weight 0, however large its gradient."""
    masked = np.arange(given["S"].shape[1]) % 3 == 1
    return {
        "S": np.where(masked, -np.inf * np.sign(given["scale"]), given["S"]),
        "dP": np.where(masked, 1e8 * given["dP"].astype(np.float64), given["dP"]),
    }


BACKWARD = Exercise(
    id="07.score_gradient",
    title="back through the softmax",
    task="""
The backward pass has the products q k of one tile, recomputed, and the gradients dP of its weights.
Compute the weights P again from what the forward pass stored, the log-sum-exp, and then dS, the
gradient of the *products*. The tile has only some of the keys of each row. `scale` may be negative.
""",
    source="07_pytorch_extensions/exercises/score_gradient.cu",
    kernel="score_gradient",
    inputs=tile_of_scores,
    reference=gradient_of_scores,
    launch=lambda size: a_warp_each(size[0]),
    small=((5, 70), (3, 32), (4, 1), (1, 33), (1, 1)),
    full=(8192, 4096),
    reduction=lambda size: 40 * WIDTH,  # exp2 of a rounded score of 100 is as good as exp
    promises=Promises(
        sizes=promises.shapes(
            rows=(1, 2, 3, 4, 5, 67), keys=(1, 2, 31, 32, 33, 64, 97, 301)
        ).with_longest(keys=2053),
        values=(
            promises.scalars("scale", 1, 0.125, -0.5),
            promises.data("S", promises.NEGATIVE, promises.TIES, promises.SMALL),
            promises.data("dP", promises.NEGATIVE, promises.EQUAL, promises.MIDDLING),
            promises.data("O", promises.POSITIVE, promises.SMALL),
            promises.data("dO", promises.NEGATIVE, promises.TIES),
            (
                promises.AS_GIVEN,
                Values(
                    "lse about 100",
                    lambda given, rng: {
                        "lse": 100 + given["lse"],
                        "S": given["S"] + 100 / given["scale"],
                    },
                ),
                Values("masked products", masked_products),
                *promises.data("dP dO", promises.LARGE, promises.FAINT)[1:],
            ),
        ),
    ),
    means=(
        bytes_from("S", 4 * 4 * 97, (4, 97), 1.0, "One pass over the tile."),
        bytes_from("dP", 4 * 4 * 97, (4, 97), 1.0, "One pass over the tile."),
        bytes_from("O", 4 * 4 * WIDTH, (4, 97), 1.0, "One sum for the row, not for each element."),
        means.one_store_each(),
        means.work_shared_out(size=(4, 97)),
    ),
    hints=(
        "P = exp(score - lse), and a score is a product times scale. No division: lse has it.",
        "Through softmax: dP minus the sum of P dP over the whole row, times P. That sum equals "
        "the sum of dO times O over the row's 32 columns.",
        "`warp_sum(O[row * kColumns + lane] * dO[row * kColumns + lane])`, once for the row.",
        "The product was multiplied by scale on the way forward, so is its gradient on the way "
        "back.",
    ),
    explanation="""
O = P V and dP = dO Vᵀ, so Σ P dP over the keys is Σ dO O over the columns. It is called D, and a
small kernel computes it before the tiles are met: the one thing that a tile cannot know alone. The
scale appears twice: in the score that P is made from, and in the chain rule.
""",
    mutants=(
        mutant("D forgotten", kinds.WRONG, ("(dP[at] - dot)", "dP[at]")),
        mutant(
            "scale forgotten on the way back",
            kinds.SCALED,
            ("(dP[at] - dot) * scale", "(dP[at] - dot)"),
        ),
        mutant(
            "a scale without its sign",
            kinds.SCALED,
            ("(dP[at] - dot) * scale", "(dP[at] - dot) * fabsf(scale)"),
        ),
        mutant(
            "scale forgotten in the score",
            kinds.WRONG,
            ("S[at] * scale - lse[row]", "S[at] - lse[row]"),
        ),
        mutant(
            "no weight below 1e-9",
            kinds.WRONG,
            ("expf(S[at] * scale - lse[row])", "expf(fmaxf(S[at] * scale - lse[row], -20.0f))"),
        ),
        mutant("not times P", kinds.WRONG, ("weight * (dP[at] - dot)", "(dP[at] - dot)")),
        mutant("lse forgotten", kinds.WRONG, (" - lse[row])", ")")),
        mutant("the sign of D", kinds.WRONG, ("dP[at] - dot", "dP[at] + dot")),
        mutant(
            "D of the lane's own column",
            kinds.WRONG,
            (
                "warp_sum(O[row * kColumns + lane] * dO[row * kColumns + lane])",
                "O[row * kColumns + lane] * dO[row * kColumns + lane]",
            ),
        ),
        mutant(
            "keys past 32 are missed",
            kinds.FIRST_BLOCK,
            ("j < keys; j += 32", "j < min(keys, 32); j += 32"),
        ),
        mutant(
            "D of the tile's keys",
            kinds.WRONG,
            (
                "float dot = warp_sum(O[row * kColumns + lane] * dO[row * kColumns + lane]);",
                "float dot = 0.0f;\n    for (int j = lane; j < keys; j += 32) {\n"
                "        size_t at = (size_t)row * keys + j;\n"
                "        dot += expf(S[at] * scale - lse[row]) * dP[at];\n    }\n"
                "    dot = warp_sum(dot);",
            ),
        ),
    ),
)
