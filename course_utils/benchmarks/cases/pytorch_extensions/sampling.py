"""Tokens drawn from logits, beside PyTorch and FlashInfer.

A size of the race is (rows, columns), of the nucleus (rows, columns, k).
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from ....devices.selection import cp
from ....integers import ceil_div
from ...harness.arrays import normal
from ...harness.case import Case
from ...harness.chapter_kernels import program as python_program
from ...harness.torch_runs import Runs, as_tensors, by_torch, compiled, torch_on_gpu, unchecked
from ...harness.workload import KernelCall, Workload
from ...libraries import rivals
from .operators import CHAPTER
from .top_k import LONG_ROWS, SEED, Found, SelectionSize, cluster_calls, largest

TEMPERATURE, P = 0.8, 0.9


@cache
def _philox() -> Any:
    return {
        name: python_program(f"{CHAPTER.folder}/philox.py", name) for name in ("philox", "uniform")
    }


def race_scores(
    logits: np.ndarray, row: int, temperature: float, seed: int, offset: int = 0
) -> np.ndarray:
    """The scores in ``sample_race.cu`` of one ``row`` of ``logits`` on the host, in float64."""
    columns = logits.shape[1]
    groups = ceil_div(columns, 4)
    bits = _philox()["philox"](seed, row * groups + np.arange(groups), offset // 4)
    u = _philox()["uniform"](bits).ravel()[:columns].astype(np.float64)
    with np.errstate(divide="ignore"):
        scores: np.ndarray = logits[row].astype(np.float64) / temperature - np.log(-np.log1p(-u))
    return scores


def race_winners(logits: np.ndarray, temperature: float, seed: int, offset: int = 0) -> np.ndarray:
    """What ``sample_race.cu`` draws, in float64, for ``logits`` on the host."""
    winners = np.empty(len(logits), np.int64)
    for row in range(len(logits)):  # one at a time: ten arrays of 64 bits for each number
        winners[row] = np.argmax(race_scores(logits, row, temperature, seed, offset))
    return winners


def nucleus_tokens(
    logits: np.ndarray,
    indices: np.ndarray,
    p: float,
    temperature: float,
    seed: int,
    offset: int = 0,
) -> np.ndarray:
    """What ``sample_top_p.cu`` draws, in float64, for sorted ``logits`` on the host."""
    weights = np.exp((logits.astype(np.float64) - logits[:, :1]) / temperature)
    running = weights.cumsum(axis=1)
    ends = (running < p * running[:, -1:]).sum(axis=1).clip(max=logits.shape[1] - 1)
    rows = np.arange(len(logits))
    bits = _philox()["philox"](seed, rows, offset // 4)
    u = _philox()["uniform"](bits)[:, 0].astype(np.float64)
    places = (running < (u * running[rows, ends])[:, None]).sum(axis=1)
    tokens: np.ndarray = indices[rows, places]
    return tokens


def race_call(
    logits: Any, token: Any, temperature: float, seed: int, offset: int = 0
) -> KernelCall:
    """``sample_race.cu`` on fp32 ``logits`` (rows, columns): a token per row, int64 (rows,)."""
    arguments = logits, token, logits.shape[1], np.float32(temperature), seed, offset
    return KernelCall(CHAPTER.kernel("sample_race"), logits.shape[0], 1024, arguments)


def nucleus_call(
    found: Found, token: Any, p: float, temperature: float, seed: int, offset: int = 0
) -> KernelCall:
    """``sample_top_p.cu`` on the sorted logits in ``found``: a token per row, int64 (rows,)."""
    settings = np.float32(p), np.float32(temperature), seed, offset
    arguments = *found.both, token, found.rows, found.k, *settings
    return KernelCall(CHAPTER.kernel("sample_top_p"), ceil_div(found.rows, 8), 256, arguments)


def _race(n: tuple[int, int]) -> Workload:
    logits, token = normal(n), cp.empty(n[0], np.int64)

    def expected() -> Any:
        return cp.asarray(race_winners(cp.asnumpy(logits), TEMPERATURE, SEED))

    call = race_call(logits, token, TEMPERATURE, SEED)
    libraries = unchecked(by_torch(_torch_race, logits) | _compiled_gumbel(logits))
    libraries |= rivals.sampling(logits, TEMPERATURE, SEED)
    return Workload((call,), token, expected, libraries=libraries)


def _nucleus(n: SelectionSize) -> Workload:
    rows, columns, k = n
    logits, found, token = normal((rows, columns)), Found.of(rows, k), cp.empty(rows, np.int64)
    calls = cluster_calls(logits, k, found)

    def expected() -> Any:
        indices = largest(logits, k)
        sorted_logits = np.take_along_axis(logits, indices, axis=1)
        given, places = map(cp.asnumpy, (sorted_logits, indices))
        return cp.asarray(nucleus_tokens(given, places, P, TEMPERATURE, SEED))

    draw = nucleus_call(found, token, P, TEMPERATURE, SEED)
    libraries = unchecked(by_torch(partial(_torch_nucleus, k=k), logits))
    libraries |= rivals.nucleus_sampling(logits, k, P, TEMPERATURE, SEED)
    return Workload((*calls, draw), token, expected, libraries=libraries)


# Libraries draw other numbers: they are timed without a check.


def _torch_race(logits: Any) -> Any:
    weights = (logits / TEMPERATURE).softmax(dim=-1)
    return (weights / torch_on_gpu().empty_like(weights).exponential_()).argmax(dim=-1)


def _compiled_gumbel(logits: Any) -> Runs:
    if torch_on_gpu() is None:
        return {}
    return compiled(_torch_gumbel, *as_tensors(logits), name="torch.compile, Gumbel")


def _torch_gumbel(logits: Any) -> Any:
    """The race as ours runs it, without a sum: a uniform number of 0 never wins."""
    times = -torch_on_gpu().rand_like(logits).log()
    return (logits / TEMPERATURE - times.log()).argmax(dim=-1)


def _torch_nucleus(logits: Any, k: int) -> Any:
    values, indices = torch_on_gpu().topk(logits, k, dim=-1)
    weights = (values / TEMPERATURE).softmax(dim=-1)
    weights = weights.where(weights.cumsum(dim=-1) - weights < P, 0)
    place = (weights / torch_on_gpu().empty_like(weights).exponential_()).argmax(-1, keepdim=True)
    return indices.gather(-1, place)


CASES = (
    Case(
        "sample_race",
        "a token from each row of logits, fp32",
        CHAPTER.files("sample_race"),
        _race,
        bytes=lambda n: 4 * n[0] * n[1],
        flops=lambda n: 0,
        gpu_sizes=((128, 131072),),
        test_sizes=((3, 1), (7, 1030), (2, 20001)),  # the last takes several turns
        ceiling="read",
    ),
    Case(
        "sample_top_p",
        "a token from the nucleus of each row, fp32",
        CHAPTER.files("sample_top_p", "top_k_stream", "top_k_cluster"),
        _nucleus,
        bytes=lambda n: 4 * n[0] * n[1],
        flops=lambda n: 0,
        gpu_sizes=(LONG_ROWS,),
        test_sizes=((3, 40, 7), (9, 300, 40)),
        ceiling="read",
    ),
)
