"""Top-k at sizes that no other test has, and the tokens that are drawn."""

import numpy as np
import pytest
from launches_07 import hostile

from course_utils import cp
from course_utils.benchmarks.cases.pytorch_extensions import sampling, top_k
from course_utils.errors import LessonError


def indices_of(calls, x, k, **tried):
    found = top_k.Found.of(len(x), k)
    for call in calls(cp.asarray(x), k, found, **tried):
        call()
    return found.indices.get()


@pytest.mark.parametrize("k", [257, 1024, 2048])
def test_many_are_selected_and_sorted(k):
    x = hostile("rising", (1, 9001))
    assert np.array_equal(indices_of(top_k.stream_calls, x, k)[0], 9000 - np.arange(k))


@pytest.mark.parametrize("calls", [top_k.radix_calls, top_k.stream_calls])
def test_the_unsorted_k_are_the_same_set(calls):
    x = hostile("zeros", (2, 700))
    unsorted, wanted = indices_of(calls, x, 300, SORTED=0), top_k.largest(cp.asarray(x), 300).get()
    assert np.array_equal(np.sort(unsorted), np.sort(wanted))


def test_a_row_may_begin_anywhere():
    x = hostile("normal", (5, 1001))
    room = np.concatenate([np.zeros(1, np.float32), x.ravel()])
    part = cp.asarray(room)[1:].reshape(x.shape)
    found = top_k.Found.of(len(x), 30)
    (call,) = top_k.cluster_calls(part, 30, found, CLUSTER=2)
    call()
    assert np.array_equal(found.indices.get(), top_k.largest(cp.asarray(x), 30).get())


@pytest.mark.parametrize("k, columns", [(0, 10), (11, 10), (2049, 4096)])
def test_a_k_that_does_not_fit_is_refused(k, columns):
    with pytest.raises(LessonError, match=f"k is {k}"):
        top_k.stream_defines(columns, k)


def test_a_seed_draws_the_same_tokens_and_an_offset_others():
    logits = cp.asarray(hostile("normal", (40, 50)))

    def drawn(seed, offset):
        token = cp.empty(40, np.int64)
        sampling.race_call(logits, token, 1.0, seed, offset)()
        return token.get().tolist()

    assert drawn(1, 0) == drawn(1, 0)
    assert drawn(1, 0) != drawn(1, 4)
    assert drawn(1, 0) != drawn(2, 0)


def raced(logits, temperature=0.8, seed=2026):
    token = cp.empty(len(logits), np.int64)
    sampling.race_call(logits, token, temperature, seed)()
    return token.get()


@pytest.mark.parametrize("kind", ["normal", "equal", "zeros", "masked", "nan", "bits", "rising"])
def test_the_race_has_the_winner_of_float64(kind):
    logits = hostile(kind, (3, 9001))
    assert np.array_equal(raced(cp.asarray(logits)), sampling.race_winners(logits, 0.8, 2026))


def test_a_race_may_begin_anywhere():
    logits = hostile("normal", (3, 4100))
    room = np.concatenate([np.zeros(1, np.float32), logits.ravel()])
    part = cp.asarray(room)[1:].reshape(logits.shape)
    assert np.array_equal(raced(part), sampling.race_winners(logits, 0.8, 2026))


@pytest.mark.parametrize("only", [None, 700])
def test_a_forbidden_token_is_never_drawn(only):
    logits = np.full((4, 1030), -np.inf, np.float32)
    if only is not None:
        logits[:, only] = -50
    assert raced(cp.asarray(logits)).tolist() == [only or 0] * 4  # the first, where none is allowed


def test_at_an_infinite_temperature_all_tokens_are_alike():
    logits = hostile("normal", (40, 37))
    drawn = raced(cp.asarray(logits), np.inf)
    assert np.array_equal(drawn, sampling.race_winners(logits, np.inf, 2026))


def test_a_close_race_is_decided_by_exact_times():
    """Scores are 0, then -20, but one of the last is 3e-5 ahead, with the shortest time of them:
    neither a ceiling that is too low nor a time with an error of a ten-thousandth hides it."""
    columns, last, temperature, ahead = 20001, 17000, 0.8, 3e-5
    for seed in range(8):
        scores = -sampling.race_scores(np.zeros((1, columns)), 0, temperature, seed)  # log(time)
        winner = last + np.argmin(scores[last:])
        closest = scores[winner] + ahead
        scores[last:] -= 20
        scores[winner] = closest
        logits = (temperature * scores).astype(np.float32)[None]
        assert raced(cp.asarray(logits), temperature, seed).tolist() == [winner]


@pytest.mark.parametrize("p, size", [(0.0, 1), (1.0, 8)])
def test_a_nucleus_has_at_least_one_token_and_at_most_all(p, size):
    found, token = top_k.Found.of(400, 8), cp.empty(400, np.int64)
    found.values[...] = cp.asarray(np.zeros((400, 8), np.float32))
    found.indices[...] = cp.asarray(np.broadcast_to(np.arange(8), (400, 8)))
    sampling.nucleus_call(found, token, p, 1.0, 7)()
    assert set(token.get().tolist()) == set(range(size))


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["normal", "equal", "zeros", "masked", "nan", "bits", "rising"])
@pytest.mark.parametrize("rows, columns, k", [(128, 131072, 50), (3, 70001, 50), (5, 131072, 2048)])
def test_long_rows_are_right(kind, rows, columns, k):
    x = hostile(kind, (rows, columns))
    wanted = top_k.largest(cp.asarray(x), k).get()
    for calls in (top_k.radix_calls, top_k.stream_calls, top_k.cluster_calls):
        assert np.array_equal(indices_of(calls, x, k), wanted)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["normal", "equal", "zeros", "masked", "nan", "bits"])
@pytest.mark.parametrize("columns, k", [(1024, 50), (256, 8), (1000, 96)])
def test_many_short_rows_are_right(kind, columns, k):
    x = hostile(kind, (4096, columns))
    wanted = top_k.largest(cp.asarray(x), k).get()
    assert np.array_equal(indices_of(top_k.warp_calls, x, k), wanted)
