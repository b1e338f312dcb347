"""The exercises of "The loss without logits"."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, InputClass
from course_utils.exercises.authoring.exact_formulas import exact_product
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.reviews import review
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked
from course_utils.exercises.isolation.closed_book import run_in_clean_frame

from .common import log_of_sums, masked_logits, nan_where_ignored

WIDTH = 32  # numbers of a token and of a word
TILE = 128  # words
IGNORED = -100
Given = dict[str, Any]


# --- chunks ---


def planned(tokens: int, words: int, budget: int) -> list[tuple[int, int]]:
    """(start, stop) of each chunk whose logits in bf16 fit into ``budget`` bytes."""
    rows = budget // (2 * words) // 128 * 128
    return [(s, min(s + rows, tokens)) for s in range(0, tokens, rows)] if rows else []


def any_budget(rng: np.random.Generator) -> tuple[int, int, int]:
    words = int(rng.choice([1, 7, 1000, 32_000, 131_072]))
    rows = int(rng.choice([100, 127, 128, 129, 300, 512, 700, 1024]))
    tokens = int(rng.choice([0, 1, 127, 128, 129, 700, 1024, 3000, 8192]))
    return tokens, words, 2 * words * rows + int(rng.choice([-1, 0, 1, words]))


CHUNK_PLAN = PythonExercise(
    function="chunk_plan",
    cases=(
        (700, 1000, 600_000),
        (512, 1000, 512_000),
        (100, 1000, 255_999),
        (100, 1000, 256_000),
        (0, 8, 4096),
        (8192, 131_072, 1 << 29),
    ),
    reference=planned,
    contract=DrawnCases(any_budget, tried="up to 8,192 tokens and 131,072 words"),
)


# --- in Python ---


def chunk_case(
    seed: int, tokens: int, words: int, rows: int, idle: Any, ignored: int = IGNORED
) -> tuple[Any, ...]:
    """Logits, targets that don't count at ``idle``, the ignored number, and ``rows``."""
    rng = np.random.default_rng(seed)
    target = rng.integers(0, words, tokens)
    target[idle] = ignored
    return 3 * rng.standard_normal((tokens, words)), target, ignored, rows


def any_chunks(rng: np.random.Generator) -> tuple[Any, ...]:
    tokens, words, rows = (
        int(rng.integers(1, 20)),
        int(rng.integers(1, 12)),
        int(rng.integers(1, 8)),
    )
    seed, idle = int(rng.integers(1 << 30)), rng.random(tokens) < 0.4
    case = chunk_case(seed, tokens, words, rows, idle, int(rng.choice([IGNORED, 0])))
    return (case[0] + rng.choice([0, 1000, -1000]), *case[1:])


def mean_and_gradient(
    logits: np.ndarray, target: np.ndarray, ignored: int, rows: int
) -> tuple[Any, ...]:
    counts = target != ignored
    each = losses(logits, target, ignored)
    moved = np.exp(logits - logits.max(axis=1, keepdims=True))
    gradient = moved / moved.sum(axis=1, keepdims=True)
    gradient -= np.arange(logits.shape[1]) == target[:, None]
    gradient *= counts[:, None] / max(1, counts.sum())
    return (each.sum() / counts.sum() if counts.any() else np.nan), gradient


MEAN_OF_CHUNKS = PythonExercise(
    function="mean_of_chunks",
    bug=kinds.WRONG,
    cases=(
        (np.array([[1.0, 0], [2, 2], [0, 3]]), np.array([0, 1, 0]), IGNORED, 2),
        chunk_case(2, 4, 3, 2, [False, False, True, False]),
        chunk_case(3, 4, 2, 2, [True, True, False, False]),
        chunk_case(4, 3, 2, 2, [True] * 3),
        chunk_case(6, 4, 3, 2, [True, False, False, True], ignored=0),
        chunk_case(5, 1, 1, 4, [False]),
    ),
    reference=mean_and_gradient,
    rtol=1e-5,
    contract=DrawnCases(any_chunks, tried="up to 19 tokens, 11 words and 7 tokens of a chunk"),
)


def head_case(
    seed: int, tokens: int, width: int, words: int, rows: int, scale: float = 1, far: float = 0
) -> tuple[Any, ...]:
    """``far``: how far from 0 all logits are, so that those of float32 would be too coarse."""
    rng = np.random.default_rng(seed)
    target = rng.integers(0, words, tokens)
    target[1::3] = IGNORED
    x, w = rng.standard_normal((tokens, width)), scale * rng.standard_normal((words, width))
    if far:
        x[:, 0], w[:, 0] = 1, far
    return x, w, target, IGNORED, rows


def any_head(rng: np.random.Generator) -> tuple[Any, ...]:
    seed = int(rng.integers(1 << 30))
    tokens, width, words, rows = (int(rng.integers(1, most)) for most in (20, 6, 12, 8))
    return head_case(seed, tokens, width, words, rows, scale=float(rng.choice([1, 300])))


MOST_CHUNKS = 2.5  # whose logits may be in memory at once
measured = [0.0]  # how many were, in the last call


def head(
    x: np.ndarray, w: np.ndarray, target: np.ndarray, ignored: int, rows: int
) -> tuple[Any, ...]:
    loss, gradient = mean_and_gradient(x @ w.T, target, ignored, rows)
    return loss, gradient @ w, gradient.T @ x


def measured_head(
    function: Callable[..., Any],
    x: np.ndarray,
    w: np.ndarray,
    target: np.ndarray,
    ignored: int,
    rows: int,
) -> Any:
    """The answer's tuple. The memory of its logits is measured, for ``in_few_chunks``."""
    tracemalloc.start()
    try:
        found = run_in_clean_frame(function, x, w, target, ignored, rows)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if found is None:
        return None
    if not isinstance(found, tuple) or len(found) != 3:
        raise LessonError("return a tuple of three: (loss, dX, dW)")
    others = 8 * (x.size + 2 * w.size + 2 * rows * x.shape[1]) + 20_000  # dW's addend is an array
    measured[0] = (most - others) / (8 * rows * len(w))
    return found


def in_few_chunks(*arguments: Any) -> str:
    if measured[0] <= MOST_CHUNKS:
        return ""
    return (
        f"The logits of {measured[0]:.1f} chunks are in memory at once, and {MOST_CHUNKS} may be. "
        "Give each chunk the memory of the last one, and work in place, as np.exp(G, out=G) does."
    )


CHUNKED_HEAD = PythonExercise(
    function="chunked_head",
    cases=(
        (np.array([[1.0, 2], [0, 1]]), np.array([[1.0, 0], [1, 1]]), np.array([0, 1]), IGNORED, 1),
        head_case(2, 3, 2, 3, 2),
        head_case(3, 5, 2, 1, 2),
        head_case(4, 4, 3, 5, 3, scale=300),
        head_case(6, 4, 3, 5, 3, far=900),
        head_case(5, 300, 4, 500, 40),
    ),
    reference=head,
    call=measured_head,
    method=in_few_chunks,
    rtol=1e-5,
    contract=DrawnCases(any_head, tried="up to 19 tokens, 11 words and 7 tokens of a chunk"),
)


# --- gradients ---


def logits_in_place(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    tokens, words = size
    x = (2 * rng.standard_normal(size) + 3).astype(np.float32)
    return {
        "x": x,
        "target": targets(rng, tokens, words),
        "logsumexp": log_of_sums(x),
        "words": np.int32(words),
        "ignored": np.int64(IGNORED),
        "weight": np.float32(0.7),
        "z": np.float32(0.05),
    }


def with_penalty(given: Given) -> Given:
    x, lse = given["x"].astype(np.float64), given["logsumexp"].astype(np.float64)[:, None]
    target = given["target"][:, None]
    label = np.arange(x.shape[1]) == target
    factor = 1 + 2 * float(given["z"]) * lse
    found = float(given["weight"]) * (np.exp(x - lse) * factor - label)
    return {"x": np.where(target == given["ignored"], 0, found)}


def moved_logits(label: str, by: float) -> InputClass:
    return InputClass(
        label,
        lambda given, rng: {"x": given["x"] + by, "logsumexp": log_of_sums(given["x"] + by)},
    )


def past_32_bits(given: Given, rng: np.random.Generator) -> Given:
    """The ignored number has the lower half of a target that counts, and more above it."""
    ignored = int(np.abs(given["target"][0])) + (1 << 32)
    return {"ignored": ignored, "target": np.where(given["target"] < 0, ignored, given["target"])}


Z_LOSS = KernelExercise(
    inputs=logits_in_place,
    reference=with_penalty,
    launch=lambda size: Launch((ceil_div(size[1], 256), size[0]), (256,)),
    small=((4, 300), (2, 256), (3, 7), (1, 1)),
    worked=Worked(  # the softmax of a row is 1 for its 5 and 0 for the others
        size=(2, 3),
        values={
            "x": (5, -95, -95, -95, -95, 5),
            "logsumexp": (5, 5),
            "target": (1, -100),
            "weight": 2,
            "z": 0.1,
        },
    ),
    axes={"x": ("token", "word")},
    full=(1 << 11, 1 << 15),
    contract=Domain(
        sizes=domain.shapes(
            tokens=(1, 2, 3, 7), words=(1, 2, 31, 255, 256, 257, 1025)
        ).with_outlier(tokens=301),
        values=(
            (
                domain.AS_GIVEN,
                moved_logits("logits near 100", 100),
                moved_logits("logits near -100", -100),
                InputClass("some logits -inf", masked_logits),
                InputClass("NaN where tokens don't count", nan_where_ignored),
                InputClass("ignored past 32 bits", past_32_bits),
            ),
            domain.scalars("z", 0, 0.5),
        ),
    ),
    method=(method.one_store_per_result(), method.balanced_work()),
)


# --- a loss without logits ---


def targets(rng: np.random.Generator, tokens: int, words: int) -> np.ndarray:
    """A word for each token. Every third one is IGNORED, but never the first."""
    target = rng.integers(0, words, tokens)
    target[1::3] = IGNORED
    return target


def losses(logits: np.ndarray, target: np.ndarray, ignored: int) -> np.ndarray:
    """Of each row, in float64."""
    logits = logits.astype(np.float64)
    moved = logits - logits.max(axis=1, keepdims=True)
    rows = np.arange(len(target))
    there = np.where(target == ignored, 0, target)
    found = np.log(np.exp(moved).sum(axis=1)) - moved[rows, there]
    return np.where(target == ignored, 0, found)


def tokens_and_words(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    tokens, words = size
    return {
        "X": floats(rng, (tokens, WIDTH)) / 2,
        "W": floats(rng, (words, WIDTH)) / 2,
        "target": targets(rng, tokens, words),
        "loss": empty(tokens),
        "words": np.int32(words),
        "ignored": np.int64(IGNORED),
    }


def far_logits(label: str, sign: int) -> InputClass:
    """Logits of some hundreds, of one sign: exact in fp32, and so near to each other that no loss
    is as small as a rounding of 1."""
    return InputClass(
        label,
        lambda given, rng: {
            "X": np.full_like(given["X"], 2.0),
            "W": sign * (8 + np.rint(4 * np.abs(given["W"])) / 16),
        },
    )


def of_both_signs(given: Given, rng: np.random.Generator) -> Given:
    """Logits hundreds apart: a word's numbers are all about 4, or all about -4."""
    signs = rng.choice([-1.0, 1.0], len(given["W"]))[:, None]
    return {"X": np.full_like(given["X"], 2.0), "W": signs * (4 + np.abs(given["W"]))}


def ignored_anything(given: Given, rng: np.random.Generator) -> Given:
    """Tokens that don't count hold NaN."""
    x = given["X"].copy()
    x[given["target"] == given["ignored"]] = np.nan
    return {"X": x}


def a_word_ignored(given: Given, rng: np.random.Generator) -> Given:
    """The last word is ignored, and no target is negative. The first token counts."""
    last = int(given["words"]) - 1
    target = np.where(given["target"] < 0, last, given["target"])
    target[0] = 0
    return {"ignored": last, "target": target}


def bytes_of(array: str, needed: int, size: Any, advice: str) -> Requirement:
    """How often an array's elements are read, on average. ``needed`` bytes are each read once."""
    return Requirement(
        f"bytes read from {array}, over those that are needed",
        lambda stats: sum(each.loaded_from.get(array, 0) for each in stats.threads) / needed,
        at_most=1.0,
        advice=advice,
        size=size,
    )


LOSS_OF_TOKENS = KernelExercise(
    inputs=tokens_and_words,
    reference=lambda given: {
        "loss": losses(
            exact_product(given["X"], given["W"].T),
            given["target"],
            int(given["ignored"]),
        )
    },
    launch=lambda size: Launch((size[0],), (128,)),
    small=((3, 50), (2, 7), (1, 3), (1, 2)),
    worked=Worked(whole=("X", "W"), why_not="a token has 32 numbers, one for each lane"),
    axes={"loss": ("token",)},
    full=(512, 32_768),
    reduction=lambda size: 4000 + size[1],  # logits of hundreds are rounded
    contract=Domain(
        sizes=domain.shapes(tokens=(1, 2, 5), words=(2, 3, 4, 5, 31, 65)).with_outlier(words=521),
        values=(
            (
                domain.AS_GIVEN,
                far_logits("logits of hundreds", 1),
                far_logits("logits of minus hundreds", -1),
                InputClass("logits of both signs", of_both_signs),
            ),
            (
                domain.AS_GIVEN,
                InputClass("NaN where tokens don't count", ignored_anything),
                InputClass("a word ignored", a_word_ignored),
                InputClass("ignored past 32 bits", past_32_bits),
            ),
        ),
    ),
    method=(
        bytes_of("W", 4 * 3 * 64 * WIDTH, (3, 64), "A token's block reads each row of W once."),
        method.shared_memory_limit(
            2048, advice="Two numbers for each warp are enough: keep no list of logits."
        ),
        method.balanced_loads(at_most=1.2, size=(1, 128)),
        method.one_store_per_result(),
    ),
)


# --- pairs ---


def logits_of(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    tokens, words = size
    return {
        "x": 3 * floats(rng, size),
        "pairs": empty((ceil_div(words, TILE), tokens, 2)),
        **int32s(tokens=tokens, words=words),
    }


def pairs_of(given: Given) -> Given:
    """(largest, sum of exponentials) of each tile of each token."""
    x = given["x"].astype(np.float64)
    tokens, words = x.shape
    tiles = ceil_div(words, TILE)
    whole = np.full((tokens, tiles * TILE), -np.inf)
    whole[:, :words] = x
    parts = whole.reshape(tokens, tiles, TILE).transpose(1, 0, 2)
    largest = parts.max(axis=2)
    sums = np.exp(parts - np.where(np.isneginf(largest), 0, largest)[..., None]).sum(axis=2)
    return {"pairs": np.stack([largest, sums], axis=2)}


def masked_words(label: str, which: Callable[[np.ndarray, np.random.Generator], Any]) -> InputClass:
    """Some logits are -inf: where ``which`` says of the words' numbers."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        word = np.broadcast_to(np.arange(given["x"].shape[1]), given["x"].shape)
        return {"x": np.where(which(word, rng), -np.inf, given["x"])}

    return InputClass(label, change)


TILE_PAIRS = KernelExercise(
    inputs=logits_of,
    reference=pairs_of,
    launch=lambda size: Launch((ceil_div(size[1], TILE), size[0]), (32,)),
    small=((3, 300), (2, 128), (2, 5), (1, 1)),
    worked=Worked(whole=("x",), why_not="a pair holds an exponential, and a tile has 128 words"),
    axes={"pairs": ("tile", "token", "part")},
    full=(1 << 10, 1 << 15),
    reduction=lambda size: TILE,
    contract=Domain(
        sizes=domain.shapes(tokens=(1, 2, 7), words=(1, 2, 31, 32, 127, 129, 257)).with_outlier(
            words=2053
        ),
        values=(
            (
                *domain.data(
                    "x",
                    domain.NEGATIVE,
                    domain.EQUAL,
                    domain.RISING,
                    domain.MIDDLING,
                    domain.NEAR_LOWEST,
                ),
                masked_words("every third logit -inf", lambda word, rng: word % 3 == 0),
                masked_words("a tile of -inf", lambda word, rng: word < TILE),
                masked_words("some logits -inf", lambda word, rng: rng.random(word.shape) < 0.5),
                masked_words("all logits -inf", lambda word, rng: word >= 0),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.reads_each_once(4 * 2 * 256, size=(2, 256)),
        method.balanced_loads(),
    ),
)


def some_pairs(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """Pairs as they come from logits about 3 apart, and a target's logit near the largest."""
    tokens, tiles = size
    largest = 3 * floats(rng, (tiles, tokens))
    sums = rng.uniform(1, 20, (tiles, tokens)).astype(np.float32)
    return {
        "pairs": np.stack([largest, sums], axis=2),
        "wanted": largest.max(axis=0) - rng.uniform(0, 5, tokens).astype(np.float32),
        "target": targets(rng, tokens, 1000),
        "loss": empty(tokens),
        **int32s(tokens=tokens, tiles=tiles),
        "ignored": np.int64(IGNORED),
    }


def loss_of_pairs(given: Given) -> Given:
    pairs = given["pairs"].astype(np.float64)
    largest = pairs[..., 0].max(axis=0)
    weights = np.exp(pairs[..., 0] - largest)
    found = np.log((pairs[..., 1] * weights).sum(axis=0)) - (given["wanted"] - largest)
    return {"loss": np.where(given["target"] == given["ignored"], 0, found)}


def moved_pairs(label: str, by: float, spread: float = 1.0) -> InputClass:
    """Largest logits about ``by``, their distances multiplied by ``spread``."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        pairs, wanted = given["pairs"].astype(np.float64), given["wanted"].astype(np.float64)
        below = wanted - pairs[..., 0].max(axis=0)
        pairs[..., 0] = by + spread * pairs[..., 0]
        largest = pairs.astype(np.float32)[..., 0].max(axis=0)
        return {"pairs": pairs, "wanted": largest + np.rint(below)}

    return InputClass(label, change)


def empty_tiles(given: Given, rng: np.random.Generator) -> Given:
    """Tiles that are -inf throughout, the first among them, but one of each token."""
    pairs = given["pairs"].copy()
    tiles, tokens, _ = pairs.shape
    none = rng.random((tiles, tokens)) < 0.6
    none[0] = True
    none[tiles - 1] = False
    pairs[none] = -np.inf, 0
    return {"pairs": pairs}


def pairs_of_ignored(given: Given, rng: np.random.Generator) -> Given:
    pairs, wanted = given["pairs"].copy(), given["wanted"].copy()
    idle = given["target"] == given["ignored"]
    pairs[:, idle], wanted[idle] = np.nan, np.nan
    return {"pairs": pairs, "wanted": wanted}


def masked_target(given: Given, rng: np.random.Generator) -> Given:
    wanted = given["wanted"].copy()
    wanted[::2] = -np.inf
    return {"wanted": wanted}


def seventh_ignored(given: Given, rng: np.random.Generator) -> Given:
    """Word 7 is ignored, and no target is negative."""
    target = np.where(given["target"] < 0, 7, given["target"])
    return {"ignored": 7, "target": target}


MERGE_PAIRS = KernelExercise(
    inputs=some_pairs,
    reference=loss_of_pairs,
    launch=lambda size: Launch((ceil_div(size[0], 128),), (128,)),
    small=((5, 4), (130, 3), (3, 1), (1, 1)),
    worked=Worked(whole=("wanted",), why_not="a loss is a logarithm"),
    axes={"loss": ("token",), "pairs": ("tile", "token", "part")},
    full=(1 << 13, 1 << 9),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(tokens=(1, 2, 3, 127, 128, 129), tiles=(1, 2, 3, 7)).with_outlier(
            tokens=1031, tiles=521
        ),
        values=(
            (
                domain.AS_GIVEN,
                moved_pairs("logits near 1000", 1000),
                moved_pairs("logits near -1000", -1000),
                moved_pairs("logits about 30,000", 30_000),
                moved_pairs("logits hundreds apart", 0, 100),
                moved_pairs("logits near -3e38", -3e38, 1e36),
            ),
            (
                domain.AS_GIVEN,
                InputClass("tiles of -inf", empty_tiles),
                InputClass("NaN where tokens don't count", pairs_of_ignored),
                InputClass("targets of -inf", masked_target),
                InputClass("a word ignored", seventh_ignored),
                InputClass("ignored past 32 bits", past_32_bits),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(size=(130, 3)),
        bytes_of("pairs", 8 * 64 * 9, (64, 9), "A thread reads each of its pairs once."),
    ),
)


# --- a review ---

FAULTS = {4: "start", 6: "edge", 11: "range", 16: "type"}


REVIEW_PAIRS = review(
    FAULTS,
    example='{3: "edge"}',
    start="Follow the logits -100 and -101 through lines 4 to 13, then a logit of 100 through line "
    "11.",
)
