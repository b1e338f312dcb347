"""Shared by exercises of several notebooks of this chapter."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils.exercises.authoring.domain import Given, InputClass
from course_utils.exercises.authoring.method import Requirement


def most_read(label: str, *, at_most: int, advice: str, size: Any) -> Requirement:
    """The bytes that one thread loads from global memory, in the launch and by the thread where
    they are most: a search by halving reads few."""
    return Requirement(
        label,
        lambda stats: max(int(threads.loaded.max()) for threads in stats.threads),
        at_most=at_most,
        advice=advice,
        size=size,
    )


def log_of_sums(x: np.ndarray) -> np.ndarray:
    """The logarithm of the sum of each row's exponentials, in fp32."""
    largest = x.max(axis=1).astype(np.float64)
    return (largest + np.log(np.exp(x - largest[:, None]).sum(axis=1))).astype(np.float32)


def nan_where_ignored(given: Given, rng: np.random.Generator) -> Given:
    """Rows whose target is ignored may hold anything."""
    x, logsumexp = given["x"].copy(), given["logsumexp"].copy()
    idle = given["target"] == given["ignored"]
    x[idle], logsumexp[idle] = np.nan, np.nan
    return {"x": x, "logsumexp": logsumexp}


def masked_logits(given: Given, rng: np.random.Generator) -> Given:
    """Half of the logits are minus infinity, as if a mask forbade them."""
    x = np.where(rng.random(given["x"].shape) < 0.5, -np.inf, given["x"]).astype(np.float32)
    x[:, 0] = 2
    return {"x": x, "logsumexp": log_of_sums(x)}


def equal_and_low(query: str) -> InputClass:
    """Equal scores, below any number that could replace minus infinity."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        q, k = np.full_like(given[query], 1e17), np.full_like(given["K"], -1e17)
        return {query: q, "K": k, "scale": np.float32(1)}

    return InputClass("scores of about -1e35", change)
