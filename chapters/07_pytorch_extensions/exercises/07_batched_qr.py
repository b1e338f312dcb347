"""The exercises of "Batched QR"."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import AS_GIVEN, Domain, Given, InputClass
from course_utils.exercises.authoring.exact_formulas import exact_product
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.authoring.worked import Worked

Shape = tuple[int, ...]
WARPS = 8  # of a block of 256 threads


def a_warp_each(count: int) -> Launch:
    """Enough blocks of 256 threads for a warp each."""
    return Launch((ceil_div(count, WARPS),), (WARPS * 32,))


def factored(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """LAPACK's geqrf of each matrix, in float64: R with the reflectors, and tau."""
    h, tau = np.linalg.qr(a.astype(np.float64), mode="raw")
    return np.swapaxes(h, -2, -1), tau


def some_rows(rng: np.random.Generator, size: Shape) -> Given:
    rows, n = size
    return {
        "x": floats(rng, size),
        "v": empty(size),
        "beta_tau": empty((rows, 2)),
        **int32s(rows=rows, n=n),
    }


def reflectors_of(given: Given) -> dict[str, np.ndarray]:
    x = given["x"].astype(np.float64)
    alpha, norm = x[:, 0], np.sqrt((x[:, 1:] ** 2).sum(axis=1))
    flat = norm == 0
    beta = np.where(flat, alpha, -np.copysign(np.hypot(alpha, norm), alpha))
    v = np.zeros_like(x)
    v[:, 1:] = x[:, 1:] / np.where(flat, 1, alpha - beta)[:, None]
    v[:, 0] = 1
    tau = np.where(flat, 0, (beta - alpha) / np.where(flat, 1, beta))
    return {"v": v, "beta_tau": np.stack([beta, tau], axis=1)}


def no_tail(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    tails = x * (rng.random(x.shape) < 0.5)
    tails[::2, 1:] = 0
    return tails


def tail_times(factor: float) -> Any:
    def change(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        smaller = x.copy()
        smaller[:, 1:] *= np.float32(factor)
        return smaller

    return change


def first_times(factor: float) -> Any:
    def change(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        other = x.copy()
        other[:, 0] *= np.float32(factor)
        return other

    return change


def every_other_small(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    other = x.copy()
    other[:, 1:-1:2] *= np.float32(1e-30)
    return other


def each_of_its_size(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x * 10.0 ** rng.uniform(-29, 29, (len(x), 1))


def zeros_before_the_last(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    rows = np.zeros_like(x)
    rows[-1] = x[-1]
    return rows


def first_zero(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return first_times(0 if x.shape[1] > 1 else 1)(x, rng)


ONE_REFLECTOR = KernelExercise(
    inputs=some_rows,
    reference=reflectors_of,
    worked=Worked(size=(2, 3), values={"x": (3, 4, 0, -7, 0, 24)}),  # beta -5 and 25
    launch=lambda size: a_warp_each(size[0]),
    small=((9, 100), (8, 64), (3, 33), (1, 1)),
    full=(1 << 14, 2048),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(rows=(1, 3, 8, 9, 17), n=(1, 2, 31, 32, 33, 65, 257)).with_outlier(
            n=2053
        ),
        values=(
            domain.data(
                "x",
                ("all near 1e30", lambda x, rng: x * np.float32(1e30)),
                ("all near 1e-30", lambda x, rng: x * np.float32(1e-30)),
                domain.SMALLEST_NORMAL,
                ("nothing after the first in some rows", no_tail),
                ("rows of zeros, but the last", zeros_before_the_last),
                ("all but the first near 1e-31", tail_times(1e-31)),
                ("the first near 1e-30", first_times(1e-30)),
                ("the first zero", first_zero),
                ("every other near 1e-30", every_other_small),
                ("near 1e20", lambda x, rng: x * np.float32(1e20)),
                ("each row of another size", each_of_its_size),
                ("positive", lambda x, rng: np.abs(x)),
                ("negative", lambda x, rng: -np.abs(x)),
            ),
        ),
    ),
    method=(
        method.balanced_loads(3.0, size=(8, 64)),
        method.balanced_work(3.0, size=(8, 64)),
        method.no_shared_memory("Shuffles add up over a warp.", size=(8, 64)),
        method.no_redundant_work(2.0, size=(8, 256)),
    ),
    within=2.0,
)


def a_block(rng: np.random.Generator, size: Shape) -> Given:
    m, n = size
    v = floats(rng, m)
    tau = 2 / (1 + (v[1:].astype(float) ** 2).sum())
    return {
        "v": v,
        "tau": np.float32(tau),
        "C": floats(rng, size),
        "D": empty(size),
        **int32s(m=m, n=n),
    }


def no_product(label: str, of_v: float, of_c: float) -> InputClass:
    """The last of v, and a number of C beside it: 0 and infinity, whose product is no number."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        v, c = given["v"].copy(), given["C"].copy()
        v[-1], c[-1, (c.shape[1] - 1) // 2] = of_v, of_c
        return {"v": v, "C": c}

    return InputClass(label, change)


def reflected(given: Given) -> dict[str, np.ndarray]:
    v, c = given["v"].astype(np.float64), given["C"].astype(np.float64)
    v[0] = 1
    if given["tau"] == 0:
        return {"D": c}
    return {"D": c - v[:, None] * (float(given["tau"]) * (v[:, None] * c).sum(axis=0))}


APPLY_REFLECTOR = KernelExercise(
    inputs=a_block,
    reference=reflected,
    launch=lambda size: Launch((ceil_div(size[1], 128),), (128,)),
    small=((20, 130), (33, 128), (7, 5), (1, 1)),
    worked=Worked(  # v = (1, 1, -1, 1), whose squares add up to 2 / tau
        size=(4, 3),
        values={
            "v": (7, 1, -1, 1),
            "tau": 0.5,
            "C": ((3, 2, -1), (1, -1, 5), (-2, 3, 1), (4, 4, 3)),
        },
    ),
    full=(2048, 1 << 14),
    reduction=lambda size: size[0],
    contract=Domain(
        sizes=domain.shapes(m=(1, 2, 5, 31, 33, 70), n=(1, 2, 127, 128, 129, 300)).with_outlier(
            m=2053, n=32771
        ),
        values=(
            (
                AS_GIVEN,
                InputClass("tau = 0", lambda given, rng: {"tau": 0.0}),
                InputClass("tau = 1.5", lambda given, rng: {"tau": 1.5}),
                InputClass("zeros among v", lambda given, rng: {"v": every_other_zero(given["v"])}),
                InputClass("v[0] = 1e30", lambda given, rng: {"v": _with_first(given["v"], 1e30)}),
                InputClass("v[0] = NaN", lambda given, rng: {"v": _with_first(given["v"], np.nan)}),
                *domain.data("v", domain.SOME_INFINITE, domain.SOME_NAN)[1:],
                InputClass(
                    "tau = 0, some of v infinite",
                    lambda given, rng: {"tau": 0, "v": domain.SOME_INFINITE[1](given["v"], rng)},
                ),
                InputClass(
                    "tau = 0, some of C infinite",
                    lambda given, rng: {"tau": 0, "C": domain.SOME_INFINITE[1](given["C"], rng)},
                ),
                no_product("v zero where C is infinite", 0, np.inf),
                no_product("C zero where v is infinite", np.inf, 0),
            ),
            domain.data("C", *domain.ORDINARY, domain.LARGE, domain.SOME_INFINITE, domain.SOME_NAN),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(2.0, size=(33, 128)),
        method.no_redundant_work(2.0, size=(70, 128)),
    ),
    within=2.0,
)


def every_other_zero(v: np.ndarray) -> np.ndarray:
    other = v.copy()
    other[1:-1:2] = 0
    return other


def _with_first(v: np.ndarray, value: float) -> np.ndarray:
    other = v.copy()
    other[0] = value
    return other


def some_products(rng: np.random.Generator, size: Shape) -> Given:
    k, n = size
    v = np.tril(floats(rng, (k + 9, k)), -1) + np.eye(k + 9, k, dtype=np.float32)
    crossed = v.T @ v
    tau = 2 / np.diag(crossed)
    crossed[np.tril_indices(k)] = rng.choice([1e9, -1e9], k * (k + 1) // 2)
    return {
        "crossed": crossed.astype(np.float32),
        "tau": tau.astype(np.float32),
        "Y": floats(rng, size),
        "W": empty(size),
        **int32s(k=k, n=n),
    }


def solved(given: Given) -> dict[str, np.ndarray]:
    crossed, tau = np.triu(given["crossed"].astype(np.float64), 1), given["tau"].astype(np.float64)
    w = given["Y"].astype(np.float64)
    for i in range(len(tau)):
        w[i] = tau[i] * (w[i] - crossed[:i, i] @ w[:i])
    return {"W": w}


def some_zero(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(x.shape) < 0.4, 0, x).astype(np.float32)


def nan_elsewhere(crossed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """NaN on the diagonal and below it."""
    return np.where(np.tri(len(crossed), dtype=bool), np.nan, crossed)


MANY_REFLECTORS = KernelExercise(
    inputs=some_products,
    reference=solved,
    worked=Worked(  # on the diagonal and below it there is something else
        size=(2, 3),
        values={"crossed": (-9, 3, -9, -9), "tau": (2, 0.5), "Y": (3, 1, -2, 4, 2, -1)},
    ),
    launch=lambda size: Launch((ceil_div(size[1], 128),), (128,)),
    small=((6, 130), (5, 128), (2, 5), (1, 1)),
    full=(32, 1 << 20),
    reduction=lambda size: size[0] ** 2,
    contract=Domain(
        sizes=domain.shapes(k=(1, 2, 3, 7, 16, 33), n=(1, 2, 127, 128, 129, 300)).with_outlier(
            k=67, n=5003
        ),
        values=(
            domain.data(
                "tau", ("zeros among tau", some_zero), ("tau zero", lambda tau, rng: 0 * tau)
            ),
            domain.data("crossed", ("NaN where it has no meaning", nan_elsewhere)),
            domain.data("Y", domain.LARGE, domain.FAINT),
        ),
    ),
    method=(
        method.no_surplus_threads(1 / 6, size=(6, 130)),
        method.balanced_work(2.0, size=(5, 128)),
        method.no_redundant_work(2.0, size=(33, 128)),
    ),
    within=2.0,
)


def factors(rng: np.random.Generator, size: int) -> Given:
    return {
        "A": floats(rng, (16, size)),
        "B": floats(rng, (8, size)),
        "C": empty((16, 8)),
        "K": np.int32(size),
    }


def below_another(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The last fp32 numbers before one that TF32 has."""
    steps = rng.integers(1, 5, x.shape) * 2.0**-10
    return (1 + steps - rng.integers(1, 64, x.shape) * 2.0**-23).astype(np.float32)


def with_digits(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """1 and something that TF32 does not have."""
    return (1 + 2.0**-12 + rng.random(x.shape) * 2.0**-13).astype(np.float32)


THREE_PRODUCTS = KernelExercise(
    inputs=factors,
    reference=lambda given: {"C": exact_product(given["A"], given["B"].T)},
    launch=lambda size: Launch((1,), (32,)),
    small=(24, 64, 8),
    worked=Worked(whole=("A", "B"), why_not="one instruction multiplies 16 x 8 by 8 x 8 elements"),
    full=1 << 12,
    reduction=lambda size: size,
    contract=Domain(
        sizes=domain.lengths("K", least=8, most=300, of=8).with_outlier(K=520),
        values=(
            domain.data(
                "A B",
                ("near 1", with_digits),
                ("just below numbers of TF32", below_another),
                ("near 1e12", lambda x, rng: x * np.float32(1e12)),
                ("near 1e-12", lambda x, rng: x * np.float32(1e-12)),
            ),
        ),
    ),
    method=(
        method.instructions(
            "products of tensor cores, of 8 columns each",
            "mma.sync",
            at_least=3 * 32 * 8,
            at_most=4 * 32 * 8,
            advice="Three products for each 8 columns, or all four.",
            size=64,
        ),
        method.instructions(
            "multiplications by threads",
            "mul.f",
            "fma.",
            "mul.rn",
            "div.",
            at_most=32 * 8 * 8,
            advice="The tensor core multiplies; a subtraction makes the low part.",
            size=64,
        ),
    ),
)


def two_triangles(rng: np.random.Generator, size: Shape) -> Given:
    pairs, n = size

    def triangles() -> np.ndarray:
        numbers = floats(rng, (pairs, n, n))
        strong = np.triu(numbers) / np.sqrt(n) + 2 * np.sign(numbers) * np.eye(n)
        below = np.tril(rng.choice([1e6, -1e6], (pairs, n, n)), -1)
        return (strong + below).astype(np.float32)

    return {
        "top": triangles(),
        "bottom": triangles(),
        "R": empty((pairs, n, n)),
        **int32s(pairs=pairs, n=n),
    }


def nearly_dependent(given: Given, rng: np.random.Generator) -> Given:
    """In both, the last column is nearly the one before: squares have lost what is left of it."""
    found = {name: given[name].copy() for name in ("top", "bottom")}
    n = given["top"].shape[1]
    for triangles in found.values() if n > 1 else ():
        triangles[:, :-1, -1] = triangles[:, :-1, -2]
        triangles[:, -1, -1] *= 1e-3
    return found


def small_beginning(given: Given, rng: np.random.Generator) -> Given:
    bottom = given["bottom"].copy()
    bottom[:, 0, 0] *= 1e-6 if bottom.shape[1] > 1 else 1
    return {"bottom": bottom}


def hollow(given: Given, rng: np.random.Generator) -> Given:
    n = given["top"].shape[1]
    return {"top": np.where(np.eye(n, dtype=bool) & (rng.random(n) < 0.5), 0, given["top"])}


def merged(given: Given) -> dict[str, np.ndarray]:
    stack = np.concatenate([np.triu(given[name]) for name in ("top", "bottom")], axis=1)
    n = stack.shape[-1]
    return {"R": np.triu(factored(stack)[0][:, :n])}


MERGE_TRIANGLES = KernelExercise(
    inputs=two_triangles,
    reference=merged,
    worked=Worked(  # R is -5 -3 and 0 -9, without the 7 and the -6 below the diagonals
        size=(1, 2), values={"top": (3, 1, 7, 4), "bottom": (4, 3, -6, 8)}
    ),
    launch=lambda size: a_warp_each(size[0]),
    small=((3, 10), (8, 16), (9, 3), (1, 1)),
    full=(1 << 14, 16),
    reduction=lambda size: 8 * size[1],
    contract=Domain(
        sizes=domain.shapes(pairs=(1, 3, 9), n=(1, 2, 5, 15, 16)).with_outlier(pairs=33),
        values=(
            (
                AS_GIVEN,
                InputClass(
                    "the bottom is zero", lambda given, rng: {"bottom": 0 * given["bottom"]}
                ),
                InputClass("the top is its half", lambda given, rng: {"top": given["bottom"] / 2}),
                InputClass("the first column of the bottom is small", small_beginning),
                InputClass("zeros on the top's diagonal", hollow),
                InputClass("the last column nearly the one before", nearly_dependent),
                InputClass("the top is negative", lambda given, rng: {"top": -abs(given["top"])}),
            ),
            domain.data(
                "top bottom",
                ("near 1e8", lambda r, rng: r * np.float32(1e8)),
                ("near 1e-8", lambda r, rng: r * np.float32(1e-8)),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(size=(9, 3)),
        method.balanced_loads(5.0, size=(8, 16)),
        Requirement(
            "multiplications of a lane",
            lambda stats: stats.opcodes("mul.", "fma.") / (8 * 32),
            at_most=600,
            advice="Column j has j + 1 numbers in the bottom triangle: rows below them stay zero.",
            size=(8, 16),
        ),
    ),
    within=2.0,
)


def matrices(rng: np.random.Generator, size: Shape) -> np.ndarray:
    """batch x m x n, for a size of (batch, n, m - n), of columns that are far from dependent."""
    batch, n, more = size
    a = floats(rng, (batch, n + more, n))
    a[:, np.arange(n), np.arange(n)] += 2 * np.sqrt(n + more).astype(np.float32)
    return a


def some_factorisations(rng: np.random.Generator, size: Shape) -> Given:
    a = matrices(rng, size)
    batch, m, n = a.shape
    qr, tau = factored(a)
    return {
        "qr": qr.astype(np.float32),
        "tau": tau.astype(np.float32),
        "x": floats(rng, (batch, m)),
        "y": empty((batch, m)),
        **int32s(batch=batch, m=m, n=n),
    }


def q_of_x(given: Given) -> dict[str, np.ndarray]:
    qr, tau, y = (given[name].astype(np.float64) for name in ("qr", "tau", "x"))
    for j in reversed(range(tau.shape[1])):
        v = qr[:, :, j].copy()
        v[:, :j], v[:, j] = 0, 1
        y = y - (tau[:, j] * (v * y).sum(axis=1))[:, None] * v
    return {"y": y}


def others_above(qr: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """NaN in the place of R."""
    return np.where(np.tri(qr.shape[1], qr.shape[2], -1, bool), qr, np.float32(np.nan))


Q_TIMES = KernelExercise(
    inputs=some_factorisations,
    reference=q_of_x,
    launch=lambda size: a_warp_each(size[0]),
    small=((3, 6, 34), (8, 5, 28), (9, 7, 0), (1, 1, 0)),
    worked=Worked(  # v = (1, 1, -1, -1) and (0, 1, -1, 0): y is whole, and Q^T x is another
        size=(1, 2, 2),
        values={
            "qr": ((5, 7), (1, 6), (-1, -1), (-1, 0)),
            "tau": (0.5, 1),
            "x": (3, 1, -2, 4),
        },
    ),
    full=(1 << 12, 32, 96),
    reduction=lambda size: 4 * (size[1] + size[2]),
    contract=Domain(
        sizes=domain.shapes(
            **{"batch": (1, 3, 8, 9), "n": (1, 2, 9, 17, 33), "m - n": (0, 1, 22, 31, 70)}
        ).with_outlier(**{"n": 67, "m - n": 261}),
        values=(
            domain.data(
                "tau", ("zeros among tau", some_zero), ("halved", lambda tau, rng: tau / 2)
            ),
            domain.data("qr", ("NaN in R's place", others_above)),
            domain.data("x", domain.SMALL, domain.FAINT, domain.LARGE, domain.TIES),
        ),
    ),
    method=(
        method.balanced_loads(3.0, size=(8, 5, 28)),
        method.balanced_work(3.0, size=(8, 5, 28)),
        method.no_shared_memory("A lane keeps its elements; shuffles add up.", size=(8, 5, 28)),
        method.no_redundant_work(3.0, size=(2, 33, 28)),
    ),
    within=2.0,
)


def to_factor(rng: np.random.Generator, size: Shape) -> Given:
    a = matrices(rng, size)
    batch, m, n = a.shape
    return {"A": a, "qr": empty(a.shape), "tau": empty((batch, n)), **int32s(m=m, n=n)}


def as_lapack(given: Given) -> dict[str, np.ndarray]:
    qr, tau = factored(given["A"])
    return {"qr": qr, "tau": tau}


def zero_columns(a: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Some columns zero, and the first zero but for its first number."""
    other = a * (rng.random((len(a), 1, a.shape[2])) < 0.7)
    other[:, 1:, 0] = 0
    other[:, :, -2:] = a[:, :, -2:]
    return other


def little_below(a: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Numbers below the diagonal that are small, but not zero."""
    return np.where(np.tri(a.shape[1], a.shape[2], -1, bool), 1e-9 * a, a)


def first_number_zero(a: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    other = a.copy()
    other[:, 0, 0] = 0
    return other


def by_the_lesson(cp: Any, values: Any) -> Any:
    """The ladder's last rung on the same matrices."""
    from course_utils.benchmarks.cases.pytorch_extensions import batched_qr

    found = batched_qr.Factors.of(values["A"].shape)
    for call in batched_qr.tensor_calls(values["A"], found):
        call()
    return found.qr


OPEN_QR = KernelExercise(
    inputs=to_factor,
    reference=as_lapack,
    worked=Worked(  # columns of norm 25, and a second reflector of (-15, 12, 16)
        size=(1, 2, 2), values={"A": (7, -17.25, 8, -23, 16, -4, 16, 0)}
    ),
    launch=lambda size: Launch(
        (size[0],), (256,), shared=4 * (size[1] + size[2] + 4) * (size[1] + 1)
    ),
    small=((2, 9, 14), (1, 16, 0), (3, 5, 2), (1, 1, 1)),
    full=(640, 176, 0),
    reduction=lambda size: 16 * (size[1] + size[2]),
    budget=400_000,
    contract=Domain(
        sizes=domain.shapes(
            **{"batch": (1, 2, 3), "n": (2, 3, 7, 17), "m - n": (0, 1, 5)}
        ).with_outlier(**{"n": 33, "m - n": 67}),  # each past a warp, beside a small one
        values=(
            domain.data(
                "A",
                ("zero columns", zero_columns),
                ("negative", lambda a, rng: -a),
                ("zero in the first place", first_number_zero),
                ("near 1e8", lambda a, rng: a * np.float32(1e8)),
                ("near 1e-6", lambda a, rng: a * np.float32(1e-6)),
                ("near 1e-12", lambda a, rng: a * np.float32(1e-12)),
                ("next to nothing below the diagonal", little_below),
            ),
        ),
    ),
    method=(
        method.balanced_work(40.0, size=(1, 16, 0)),
        method.reads("A", 4 * 256, 4 * 4 * 256, advice="Read the matrix once.", size=(1, 16, 0)),
    ),
    library=("qr_tensor of the lesson", by_the_lesson),
)
