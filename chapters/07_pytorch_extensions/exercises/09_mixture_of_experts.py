"""The exercises of "Mixture of experts"."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

# --- routing ---


def logits_of(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    """Logits (tokens x experts), tens apart, and room for the choices; k is at most experts."""
    tokens, experts, k = size
    k = min(k, experts)
    return {
        "logits": 8 * floats(rng, (tokens, experts)),
        "chosen": empty((tokens, k), np.int32),
        "weights": empty((tokens, k)),
        **int32s(tokens=tokens, experts=experts, k=k, first=rng.integers(1, 200)),
    }


def routed(given: Given) -> dict[str, np.ndarray]:
    """The k largest, of equal ones the lower column first, and the softmax over them."""
    logits = given["logits"].astype(np.float64)
    order = np.argsort(-logits, axis=1, kind="stable")[:, : int(given["k"])]
    best = np.take_along_axis(logits, order, axis=1)
    powers = np.exp(best - best[:, :1])
    return {
        "chosen": (int(given["first"]) + order).astype(np.int32),
        "weights": powers / powers.sum(1, keepdims=True),
    }


def hundreds_apart(given: Given, rng: np.random.Generator) -> Given:
    return {"logits": 300 * given["logits"]}


EXPERT_WEIGHTS = KernelExercise(
    inputs=logits_of,
    reference=routed,
    launch=lambda size: Launch((ceil_div(size[0], 4),), (128,)),
    small=((5, 100, 4), (4, 64, 2), (3, 33, 8), (1, 1, 1)),
    axes={"chosen": ("token", "choice"), "weights": ("token", "choice")},
    worked=Worked(
        size=(2, 4, 2), values={"logits": (1, 3, 3, 0, 2, -1, -2, 2), "k": 2, "first": 10}
    ),
    full=(1 << 15, 64, 8),
    reduction=lambda size: 400,  # exponents of a hundred are rounded
    contract=Domain(
        sizes=domain.shapes(
            tokens=(1, 3, 4, 5, 33), experts=(1, 2, 7, 31, 32, 33, 64, 256), k=(1, 2, 3, 8)
        )
        .with_outlier(experts=1000, tokens=2053)
        .limited_in("experts"),
        values=(
            (
                *domain.data(
                    "logits",
                    domain.NEGATIVE,
                    domain.TIES,
                    domain.EQUAL,
                    domain.RISING,
                    domain.FALLING,
                    domain.ZEROS_OF_BOTH_SIGNS,
                    domain.NEAR_LOWEST,
                ),
                InputClass("logits hundreds apart", hundreds_apart),
            ),
            domain.scalars("first", 0, 100_000),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_loads(2.0, size=(8, 256, 2)),
        method.no_redundant_work(size=(8, 256, 2)),
    ),
)


# --- counting and placing ---


def assignments(rng: np.random.Generator, n: int, experts: int) -> np.ndarray:
    """n experts, of which about a third have no assignment."""
    there = np.flatnonzero(rng.random(experts) < 0.7)
    return rng.choice(there if len(there) else [experts - 1], n).astype(np.int32)


def starts(chosen: np.ndarray, experts: int) -> np.ndarray:
    """The first row of each expert, and their end."""
    counts = np.bincount(chosen, minlength=experts)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def all_to(which: str, name: str) -> InputClass:
    """All assignments to the first expert or to the last one that there is."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        experts = int(given["experts"]) if "experts" in given else len(given["offsets"]) - 1
        chosen = np.full_like(given["chosen"], experts - 1 if which == "last" else 0)
        begin = given["offsets"][0] if name else 0
        other = {"offsets": begin + starts(chosen, experts)} if name else {}
        return {"chosen": chosen, **other}

    return InputClass(f"all to the {which} expert", change)


EXPERT_OFFSETS = KernelExercise(
    inputs=lambda rng, size: {
        "chosen": assignments(rng, size[0], size[1]),
        "offsets": empty(size[1] + 1, np.int32),
        **int32s(n=size[0], experts=size[1]),
    },
    reference=lambda given: {"offsets": starts(given["chosen"], int(given["experts"]))},
    launch=lambda size: Launch((1,), (256,)),
    small=((300, 40), (70, 8), (5, 256), (1, 1)),
    worked=Worked(size=(4, 3), values={"chosen": (2, 0, 2, 2)}),
    full=(1 << 15, 64),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(
            n=(1, 2, 31, 33, 257, 1025), experts=(1, 2, 31, 32, 33, 200, 256)
        ).with_outlier(n=150_001),  # one expert of two gets more than 65,535
        values=((domain.AS_GIVEN, all_to("first", ""), all_to("last", "")),),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_loads(2.0, size=(1024, 32)),
        method.atomics(
            "shared",
            at_least=1,
            advice="Count with atomicAdd on the counters in shared memory.",
        ),
        method.shuffles(2, advice="Scan the counts with warp_scan.", size=(1024, 256)),
    ),
)


def to_place(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    n, experts = size
    chosen = assignments(rng, n, experts)
    return {
        "chosen": chosen,
        "offsets": starts(chosen, experts) + np.int32(rng.integers(1, 50)),
        "places": empty(n, np.int32),
        "n": np.int32(n),
    }


def placed(given: Given) -> dict[str, np.ndarray]:
    places = np.empty(len(given["chosen"]), np.int32)
    places[np.argsort(given["chosen"], kind="stable")] = np.arange(len(places))
    places += given["offsets"][0]
    return {"places": places}


STABLE_ROWS = KernelExercise(
    inputs=to_place,
    reference=placed,
    launch=lambda size: Launch((size[1],), (32,)),
    small=((100, 6), (33, 3), (32, 2), (1, 1)),
    worked=Worked(size=(4, 2), values={"chosen": (1, 0, 1, 1), "offsets": (7, 8, 11)}),
    full=(1 << 14, 64),
    exact=True,
    contract=Domain(
        sizes=domain.shapes(
            n=(1, 2, 31, 32, 33, 65, 257, 1025), experts=(1, 2, 3, 8, 40)
        ).with_outlier(n=66_000),
        values=((domain.AS_GIVEN, all_to("first", "offsets"), all_to("last", "offsets")),),
    ),
    method=(
        method.one_store_per_result(),
        method.atomics(
            "global", at_most=0, advice="Ballots give the same order in every run: no atomics."
        ),
        method.balanced_loads(2.0, size=(1024, 3)),
        method.instructions(
            "ballots",
            "vote.",
            "match.",
            at_least=1,
            advice="`__ballot_sync` gives every lane the answers of all 32, always in their order.",
            size=(1024, 3),
        ),
    ),
)


def any_counts(rng: np.random.Generator) -> tuple[Any, ...]:
    rows = int(rng.choice([1, 2, 16, 128]))
    experts = int(rng.integers(1, 9))
    counts = [
        int(rows * rng.integers(0, 3) + rng.choice([0, 0, 1, rows - 1])) for _ in range(experts)
    ]
    return counts, rows


def tiles_of(counts: np.ndarray, rows: int) -> Any:
    """(expert, first row, end) of each tile."""
    ends = np.cumsum(counts, dtype=int).tolist()
    return [
        (expert, end - count + row, end)
        for expert, (count, end) in enumerate(zip(counts, ends, strict=True))
        for row in range(0, count, rows)
    ]


TILE_TABLE = PythonExercise(
    function="tile_table",
    cases=(
        ([3, 0, 5], 4),
        ([128, 129, 1], 128),
        ([0, 0], 16),
        ([1], 128),
        ([0, 7, 0], 1),
        ([], 16),
    ),
    reference=tiles_of,
    contract=DrawnCases(any_counts, tried="up to 8 experts, tiles of 1 to 128 rows"),
)


# --- the grouped product ---


def grouped_rows(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, experts = size
    return {
        "A": floats(rng, (rows, 16)),
        "B": floats(rng, (experts, 8, 16)),
        "offsets": starts(assignments(rng, rows, experts), experts),
        "C": empty((rows, 8)),
        "experts": np.int32(experts),
    }


def grouped_product(given: Given) -> dict[str, np.ndarray]:
    a, b = given["A"].astype(np.float64), given["B"].astype(np.float64)
    counts = np.diff(given["offsets"])
    owner = np.repeat(np.arange(len(counts)), counts)
    return {"C": np.einsum("rk,rnk->rn", a, b[owner])}


RAGGED_EDGE = KernelExercise(
    inputs=grouped_rows,
    reference=grouped_product,
    launch=lambda size: Launch((2, size[1]), (8, 16)),
    small=((50, 3), (17, 2), (16, 1), (1, 1)),
    worked=Worked(why_not="a row has 16 numbers"),
    axes={"C": ("row", "column")},
    full=(1 << 15, 64),
    reduction=lambda size: 16,
    bug=kinds.DATA_RACE,
    contract=Domain(
        sizes=domain.shapes(rows=(1, 2, 15, 16, 17, 33, 100), experts=(1, 2, 3, 8)),
        values=(domain.data("A", domain.NEGATIVE, domain.POSITIVE, domain.SMALL),),
    ),
    method=(method.one_store_per_result(),),
)


def gate_and_number(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, width = size
    return {
        "both": 3 * floats(rng, (rows, 2 * width)),
        "h": empty((rows, width)),
        "width": np.int32(width),
    }


def gated(given: Given) -> dict[str, np.ndarray]:
    width = int(given["width"])
    gate, number = np.split(given["both"].astype(np.float64), [width], axis=1)
    with np.errstate(over="ignore"):
        return {"h": gate / (1 + np.exp(-gate)) * number}


def far_from_zero(given: Given, rng: np.random.Generator) -> Given:
    return {"both": 1000 * given["both"]}


def nearly_closed(given: Given, rng: np.random.Generator) -> Given:
    """Gates whose sigmoid is some 1e-9, and not 0."""
    both = given["both"].copy()
    both[:, : int(given["width"])] -= 20
    return {"both": both}


SWIGLU_ROWS = KernelExercise(
    inputs=gate_and_number,
    reference=gated,
    launch=lambda size: Launch((ceil_div(size[1], 128), size[0]), (128,)),
    small=((3, 130), (2, 128), (5, 33), (1, 1)),
    axes={"h": ("row", "column")},
    full=(1 << 13, 4096),
    reduction=lambda size: 40,
    worked=Worked(why_not="the gate has an exponential"),
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 2, 3, 17), width=(1, 2, 31, 33, 127, 128, 129, 300)
        ).with_outlier(rows=32_771, width=4099),
        values=(
            (
                *domain.data("both", domain.NEGATIVE, domain.POSITIVE, domain.EQUAL, domain.TIES),
                InputClass("both thousands apart", far_from_zero),
                InputClass("gates about -20", nearly_closed),
            ),
        ),
    ),
    method=(method.one_store_per_result(), method.balanced_work()),
)


def results_of_experts(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    tokens, width, k = size
    places = rng.permutation(tokens * k).astype(np.int32).reshape(tokens, k)
    return {
        "rows": floats(rng, (tokens * k, width)),
        "places": places,
        "weights": rng.random((tokens, k), dtype=np.float32),
        "y": empty((tokens, width)),
        **int32s(width=width, k=k),
    }


def combined(given: Given) -> dict[str, np.ndarray]:
    rows, places = given["rows"].astype(np.float64), given["places"]
    fetched = np.where(places[:, :, None] >= 0, rows[places], 0)
    return {"y": np.einsum("tj,tjc->tc", given["weights"].astype(np.float64), fetched)}


def some_dropped(given: Given, rng: np.random.Generator) -> Given:
    dropped = rng.random(given["places"].shape) < 0.4
    dropped[0] = True  # a token without any result
    return {"places": np.where(dropped, -1, given["places"])}


def beside_infinities(given: Given, rng: np.random.Generator) -> Given:
    """0 times one of these rows is NaN. They are those that a place of -1 may be taken for."""
    rows = given["rows"].copy()
    rows[[0, -1]] = np.inf
    return {"rows": rows, **some_dropped(given, rng)}


ROWS_TO_TOKENS = KernelExercise(
    inputs=results_of_experts,
    reference=combined,
    launch=lambda size: Launch((ceil_div(size[1], 64), size[0]), (64,)),
    small=((5, 70, 2), (3, 64, 4), (2, 3, 1), (1, 1, 1)),
    worked=Worked(
        size=(2, 2, 2),
        values={"places": (3, 0, -1, 2), "weights": (2, 1, 5, 3)},
        whole=("rows",),
    ),
    axes={"y": ("token", "column")},
    full=(1 << 13, 2048, 4),
    reduction=lambda size: size[2],
    contract=Domain(
        sizes=domain.shapes(
            tokens=(1, 2, 7, 33), width=(1, 2, 63, 64, 65, 130), k=(1, 2, 3, 8)
        ).with_outlier(width=2053, k=35),
        values=(
            (
                *domain.data("rows", domain.NEGATIVE, domain.SMALL),
                InputClass("some assignments dropped", some_dropped),
                InputClass("some dropped, rows of infinities", beside_infinities),
            ),
        ),
    ),
    method=(method.one_store_per_result(), method.balanced_work(), method.no_redundant_work()),
)


# --- capacity, and several GPUs ---


def any_assignments(rng: np.random.Generator) -> tuple[Any, ...]:
    experts = int(rng.integers(1, 7))
    chosen = rng.integers(0, experts, int(rng.integers(0, 20))).tolist()
    return chosen, experts, int(rng.integers(0, 6))


def within_capacity(chosen: list[int], experts: int, capacity: int) -> Any:
    places = []
    for i, expert in enumerate(chosen):
        before = chosen[:i].count(expert)
        places.append(expert * capacity + before if before < capacity else -1)
    return places


KEPT_BY_CAPACITY = PythonExercise(
    function="kept_by_capacity",
    cases=(
        ([0, 0, 0, 1], 2, 2),
        ([2, 1, 2, 0, 2, 2], 3, 3),
        ([1, 1, 1], 4, 1),
        ([0, 1], 2, 0),
        ([], 3, 4),
    ),
    reference=within_capacity,
    contract=DrawnCases(any_assignments, tried="up to 20 assignments and 6 experts"),
)


def any_exchange(rng: np.random.Generator) -> tuple[Any, ...]:
    ranks = int(rng.choice([1, 2, 4]))
    experts = ranks * int(rng.integers(1, 5))
    top = int(rng.integers(1, min(experts, 4) + 1))
    chosen = [
        [rng.permutation(experts)[:top].tolist() for _ in range(int(rng.integers(0, 6)))]
        for _ in range(ranks)
    ]
    return chosen, ranks, experts


def rows_sent(chosen: Any, ranks: int, experts: int) -> Any:
    own = experts // ranks
    return [
        [sum(any(e // own == target for e in token) for token in tokens) for target in range(ranks)]
        for tokens in chosen
    ]


EXCHANGE_PLAN = PythonExercise(
    function="exchange_plan",
    cases=(
        ([[[1, 3], [2, 3]], [[0, 1]]], 2, 4),
        ([[[0], [3]], [[3], [2], [0]]], 2, 4),
        ([[], [[1, 0]]], 2, 2),
        ([[[0, 1, 2]]], 1, 3),
        ([[], [], [], []], 4, 8),
        ([[[0, 1, 2, 3, 4]], []], 2, 8),
    ),
    reference=rows_sent,
    contract=DrawnCases(any_exchange, tried="1, 2 and 4 ranks, up to 16 experts"),
)
