"""How tests launch the kernels of the loss without logits, from hostile inputs on."""

from functools import partial

import numpy as np
from launchers import Chapter, draw, work

from course_utils import cp
from course_utils.benchmarks.cases.pytorch_extensions import linear_cross_entropy as head
from course_utils.benchmarks.harness.float_bits import from_bf16, to_bf16
from course_utils.benchmarks.harness.workload import Workload

IGNORED = head.IGNORED
CLOSE = {"rtol": 1e-4, "atol": 1e-4, "same_bits": False}  # __expf is the hardware's


def expected_losses(logits, target):
    """(logsumexp, loss) of each row in float64, with infinities and NaN as PyTorch has them; NaN
    where the target is no word."""
    logits = logits.astype(float)
    with np.errstate(all="ignore"):
        largest = logits.max(axis=1)
        moved = logits - np.where(np.isneginf(largest), 0, largest)[:, None]
        logs = np.log(np.exp(moved).sum(axis=1))
        exists = (target >= 0) & (target < logits.shape[1])
        found = moved[np.arange(len(target)), np.where(exists, target, 0)]
        loss = np.where(exists, logs - found, np.nan)
        return largest + logs, np.where(target == IGNORED, 0, loss)


def targets_of(tokens, words):
    """Some that don't count, one that is no word, and the last word."""
    target = np.random.default_rng(5).integers(0, words, tokens)
    target[1::7], target[2:3], target[3:4] = IGNORED, words, words - 1
    return target


def any_losses(name, tokens, width, words, factor):
    """Logits hundreds apart where ``factor`` is large."""
    x, w = draw((tokens, width)), draw((words, width), 1)
    x, w = to_bf16(np.float32(factor * width**-0.5) * x), to_bf16(w)
    target = targets_of(tokens, words)
    exact = from_bf16(x).astype(float) @ from_bf16(w).astype(float).T
    return _losses(name, x, w, target, expected_losses(exact, target))


STRANGE = {  # logits of some words
    "some -inf": [(slice(0, None, 3), -np.inf)],
    "all -inf": [(slice(None), -np.inf)],
    "all but one -inf": [(slice(1, None), -np.inf)],
    "the last alone": [(slice(0, -1), -np.inf)],
    "one +inf": [(5, np.inf)],
    "one NaN": [(299, np.nan)],
    "huge": [(slice(0, None, 2), 1.6e38), (slice(1, None, 2), -1.6e38)],
}


def strange_losses(name, kind):
    """Every token has the same logits, those of 300 words, with different targets."""
    w = np.zeros((300, 8), np.float32)
    w[:, 0] = draw(300)
    for place, value in STRANGE[kind]:
        w[place, 0] = value
    x, w = to_bf16(np.eye(1, 8, dtype=np.float32).repeat(6, axis=0)), to_bf16(w)
    target = np.array([0, 1, 5, 299, IGNORED, 298])
    logits = from_bf16(w)[:, 0][None].repeat(6, axis=0)
    return _losses(name, x, w, target, expected_losses(logits, target))


def _losses(name, x, w, target, expected):
    """(logsumexp, loss) in two rows."""
    tokens, width = x.shape
    found = cp.empty((2, tokens), np.float32)
    x, w, target = map(cp.asarray, (np.ascontiguousarray(x), w, np.ascontiguousarray(target)))
    if name == "token_losses":
        arguments = x, w, target, found[0], found[1], width, len(w), IGNORED
        launch = head.CHAPTER.kernel(name), tokens, 256, arguments
        return work(*launch, found, np.stack(expected), **CLOSE)
    calls = head.loss_calls(x, w, target, found[0], found[1])
    return Workload(calls, found, lambda: np.stack(expected), **CLOSE)


def in_chunks(name, tokens, width, words, chunk):
    """Losses and both gradients by the calls that ``name`` is part of, a chunk of tokens at a time;
    the last one is shorter."""
    ways = head.chunked_calls if name == "word_gradients" else head.recomputed_calls
    n = tokens, width, words
    return head.work_on(partial(ways, chunk=chunk), n, head.inputs_of(n))


def describe(chapter: Chapter) -> None:
    """Register the descriptions of this module's kernels."""
    small = [(1, 8, 1, 1), (9, 24, 300, 1), (3, 40, 257, 300)]
    chapter.launch("logit_pairs", sizes=[*small, (130, 72, 513, 30)])(any_losses)
    chapter.launch("token_losses", sizes=[*small, (2, 1, 5, 1), (5, 33, 9, 1)])(any_losses)
    chapter.launch("pairs_merged", "token_losses", sizes=list(STRANGE))(strange_losses)
    chapter.launch("token_gradients", sizes=[(1, 8, 1, 1)])(in_chunks)
    chapter.launch("logit_gradients", sizes=[(20, 24, 263, 12)])(in_chunks)
    chapter.launch("word_gradients", sizes=[(20, 24, 264, 12)])(in_chunks)
