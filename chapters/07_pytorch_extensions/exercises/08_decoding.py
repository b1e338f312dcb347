"""The exercises of "Decoding"."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

from .common import equal_and_low

WIDTH = 32  # of a row of keys and of values
PAGE = 16


def bytes_of(array: str, needed: int, size: Any, advice: str) -> Requirement:
    """How often an array's elements are read, on average. ``needed`` bytes hold them once."""
    return Requirement(
        f"bytes read from {array}, over those that are needed",
        lambda stats: stats.loaded_from(array) / needed,
        at_most=1.0,
        advice=advice,
        size=size,
    )


# --- one query per head ---


def caches(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """q (heads x 32), K and V (heads x n x 32), room for o."""
    heads, n = size
    return {
        "q": floats(rng, (heads, WIDTH)),
        "K": floats(rng, (heads, n, WIDTH)),
        "V": floats(rng, (heads, n, WIDTH)),
        "o": empty((heads, WIDTH)),
        "n": np.int32(n),
        "scale": np.float32(rng.uniform(0.1, 0.3)),
    }


def decoded(given: Given) -> dict[str, np.ndarray]:
    """softmax(scale K q) V of each head, in float64."""
    q, keys, values = (given[name].astype(np.float64) for name in ("q", "K", "V"))
    scores = float(given["scale"]) * np.einsum("hnc,hc->hn", keys, q)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return {"o": np.einsum("hn,hnc->hc", weights, values)}


def scores_apart(label: str, sign: int) -> InputClass:
    """Scores that are hundreds from 0, all of one sign."""
    return InputClass(
        label,
        lambda given, rng: {
            "q": np.full_like(given["q"], 2.0),
            "K": sign * (25 + np.abs(given["K"])),
        },
    )


def of_both_signs(given: Given, rng: np.random.Generator) -> Given:
    """Scores hundreds apart: a key's numbers are all about 8, or all about -8."""
    signs = rng.choice([-1.0, 1.0], given["K"].shape[:2])[..., None].astype(np.float32)
    return {"q": np.full_like(given["q"], 2.0), "K": signs * (8 + np.abs(given["K"]))}


DECODE_ROW = KernelExercise(
    inputs=caches,
    reference=decoded,
    launch=lambda size: Launch((size[0],), (128,)),
    small=((2, 100), (1, 33), (3, 3), (1, 1)),
    worked=Worked(  # the weights are 1 and 0 for head 0, and a half each for head 1
        size=(2, 2),
        values={
            "q": {(0, 0): 9},
            "K": {(0, 0, 0): 9},
            "V": {(0, 0, 0): 4, (0, 1, 0): 8, (1, 0, 0): 6, (1, 1, 1): 2},
            "scale": 1,
        },
        whole=("V",),
    ),
    axes={"o": ("head", "column")},
    full=(256, 8192),
    reduction=lambda size: 40_000 + size[1],  # exponents of a hundred are rounded
    contract=Domain(
        sizes=domain.shapes(heads=(1, 2, 3, 5), n=(1, 2, 3, 4, 5, 31, 33, 130)).with_outlier(
            n=2053
        ),
        values=(
            (
                domain.AS_GIVEN,
                scores_apart("scores of hundreds", 1),
                scores_apart("scores of minus hundreds", -1),
                InputClass("scores of both signs", of_both_signs),
                equal_and_low("q"),
                InputClass("a negative scale", lambda given, rng: {"scale": -given["scale"]}),
            ),
            domain.data("V", domain.POSITIVE, domain.MIDDLING),
        ),
    ),
    method=(
        *(
            bytes_of(array, 4 * 2 * 130 * WIDTH, (2, 130), "Read each key and value once.")
            for array in "KV"
        ),
        method.balanced_loads(at_most=1.2, size=(2, 128)),
        method.one_store_per_result(),
    ),
)


# --- pages ---


def step_of(free: Any, lengths: Any, page: int) -> tuple[Any, ...]:
    """The arguments of a step in which page numbers count up through the sequences' tables."""
    tables, number = [], 0
    for length in lengths:
        count = ceil_div(length, page)
        tables.append(list(range(number, number + count)))
        number += count
    return [number + n for n in free], tables, list(lengths), page


def any_step(rng: np.random.Generator) -> tuple[Any, ...]:
    """Some sequences, many of them at the end of a page, and fewer free pages than they want."""
    page = int(rng.choice([1, 2, 4, 16]))
    count = int(rng.integers(1, 9))
    lengths = [
        int(page * rng.integers(0, 4) + rng.choice([0, 0, int(rng.integers(0, page))]))
        for _ in range(count)
    ]
    free = rng.permutation(int(rng.integers(0, count + 1))).tolist()
    return step_of(free, lengths, page)


def after_step(free: Any, tables: Any, lengths: Any, page: Any) -> Any:
    """(free, tables, lengths) after one more token of each sequence that has room."""
    free, tables, lengths = list(free), [list(table) for table in tables], list(lengths)
    for s in range(len(lengths)):
        full = lengths[s] == page * len(tables[s])
        if full and free:
            tables[s].append(free.pop())
        if not full or lengths[s] < page * len(tables[s]):
            lengths[s] += 1
    return free, tables, lengths


TAKE_PAGES = PythonExercise(
    function="take_pages",
    cases=(
        step_of([2, 0, 1], [8, 9, 0], 4),
        step_of([0], [4, 4, 3], 4),
        step_of([], [4, 3], 4),
        step_of([1, 0], [0, 16, 15, 32], 16),
        step_of([0], [1, 1], 1),
        ([], [], [], 16),
    ),
    reference=after_step,
    contract=DrawnCases(any_step, tried="page of 1 to 16 tokens, up to 8 sequences"),
)


def cheapest_page(
    lengths: list[int], pages: list[int], token_bytes: int, entry_bytes: int
) -> tuple[int, int]:
    def total(page: int) -> int:
        return sum(ceil_div(n, page) for n in lengths) * (page * token_bytes + entry_bytes)

    best = min(pages, key=lambda page: (total(page), -page))
    return best, total(best)


def some_sequences(rng: np.random.Generator) -> tuple[Any, ...]:
    lengths = [int(n) for n in rng.integers(0, int(rng.choice([20, 300])), rng.integers(0, 8))]
    pages = [int(page) for page in rng.permutation([1, 2, 4, 8, 16, 64, 100])[: rng.integers(1, 6)]]
    return lengths, pages, int(rng.choice([2, 64, 4096])), int(rng.choice([4, 8, 600]))


CHOOSE_PAGE = PythonExercise(
    cases=(
        ([5, 8], [4, 8], 100, 8),
        ([5, 8], [8, 4], 100, 0),
        ([1, 1, 1], [16, 1], 2048, 4),
        ([0, 0], [4, 16], 100, 8),
        ([], [4], 100, 8),
        ([64, 128], [16, 64], 10, 8),
        ([100], [1, 2, 4, 100], 4, 400),
        ([17, 33, 65], [16, 32], 4096, 8),
        ([7, 9], [8], 3, 5),
        ([4, 4], [1, 4, 2], 16, 0),
    ),
    reference=cheapest_page,
    start="How many pages does each sequence begin, for each length of a page?",
    contract=DrawnCases(some_sequences, 24),
)


def paged(rng: np.random.Generator, n: int) -> Given:
    """pages (more than are needed x 16 x 32), the table of the sequence, room for y. The longest
    sequence has pages whose rows have numbers too large for a short."""
    of_one = ceil_div(n, PAGE)
    pages = of_one + (2 if n < 2000 else 2**15 // PAGE)
    return {
        "pages": floats(rng, (pages, PAGE, WIDTH)),
        "table": rng.permutation(pages)[:of_one].astype(np.int32),
        "y": empty((n, WIDTH)),
        "n": np.int32(n),
    }


def read_out(given: Given) -> dict[str, np.ndarray]:
    """The sequence's rows, in their order."""
    rows = given["pages"][given["table"]].reshape(-1, WIDTH)
    return {"y": rows[: int(given["n"])]}


PAGE_EDGE = KernelExercise(
    inputs=paged,
    reference=read_out,
    launch=lambda n: Launch((ceil_div(n, 8),), (256,)),
    small=(40, 17, 16, 1),
    worked=Worked(why_not="a row has 32 numbers"),
    axes={"y": ("token", "column")},
    full=1 << 18,
    exact=True,
    bug=kinds.OUT_OF_BOUNDS,
    contract=Domain(
        sizes=domain.lengths(most=2100),
        values=(domain.data("pages", *domain.ANY_FINITE),),
    ),
    method=(method.one_store_per_result(), method.balanced_work()),
)


# --- rotary positions ---


def rows_at_positions(rng: np.random.Generator, rows: int) -> Given:
    """x (rows x 64), the rows' positions, cosines and sines (more rows x 32), room for y. Of many
    rows some have positions too large for a short."""
    length = rows + (3 if rows < 1000 else 2**16)
    angles = np.outer(np.arange(length), 100.0 ** (-np.arange(WIDTH) / WIDTH))
    return {
        "x": floats(rng, (rows, 2 * WIDTH)),
        "position": rng.integers(0, length, rows).astype(np.int32),
        "cosine": np.cos(angles + rng.uniform(0, 6, angles.shape)).astype(np.float32),
        "sine": np.sin(angles + rng.uniform(0, 6, angles.shape)).astype(np.float32),
        "y": empty((rows, 2 * WIDTH)),
        "rows": np.int32(rows),
    }


def rotated(given: Given) -> dict[str, np.ndarray]:
    """The pairs (i, i + 32) of each row, rotated."""
    first, second = np.split(given["x"].astype(np.float64), 2, axis=1)
    cosine, sine = (
        given[name].astype(np.float64)[given["position"]] for name in ("cosine", "sine")
    )
    return {
        "y": np.concatenate(
            [first * cosine - second * sine, first * sine + second * cosine], axis=1
        )
    }


ROTATE_PAIRS = KernelExercise(
    inputs=rows_at_positions,
    reference=rotated,
    launch=lambda rows: Launch((ceil_div(rows * WIDTH, 256),), (256,)),
    small=(19, 8, 1),
    worked=Worked(why_not="a row has 64 numbers"),
    axes={"y": ("row", "number")},
    full=1 << 18,
    reduction=lambda rows: 2,
    contract=Domain(
        sizes=domain.lengths("rows", most=1100),
        values=(domain.data("x", *domain.ORDINARY),),
    ),
    method=(method.one_store_per_result(), method.balanced_work(), method.balanced_loads()),
)
