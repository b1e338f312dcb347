"""The exercises of "Batched QR"."""

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
from course_utils.exercises.promises import AS_GIVEN, Given, Values

Shape = tuple[int, ...]
WARPS = 8  # of a block of 256 threads


def a_warp_each(count: int) -> Launch:
    """Enough blocks of 256 threads for a warp each."""
    return Launch((-(-count // WARPS),), (WARPS * 32,))


def factored(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What LAPACK's geqrf makes of each matrix, in float64: R with the reflectors, and tau."""
    h, tau = np.linalg.qr(a.astype(np.float64), mode="raw")
    return np.swapaxes(h, -2, -1), tau


def some_rows(rng: np.random.Generator, size: Shape) -> dict:
    rows, n = size
    return {
        "x": floats(rng, size),
        "v": empty(size),
        "beta_tau": empty((rows, 2)),
        "rows": np.int32(rows),
        "n": np.int32(n),
    }


def reflectors_of(given: Given) -> dict:
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


def tail_times(factor: float):
    def change(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        smaller = x.copy()
        smaller[:, 1:] *= np.float32(factor)
        return smaller

    return change


def first_times(factor: float):
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


ONE_REFLECTOR = Exercise(
    id="07.one_reflector",
    title="one reflector, for any column",
    task="""
Compute beta, tau and v of the reflector that makes zeros of all of x but its first number, for each
row x. Numbers may be as small as the smallest normal one, 1.2e-38, and as large as 1e30: fp32 does
not have their squares. All but the first may be zero, or 1e-31 of it: LAPACK's rules say what comes
out.
""",
    source="07_pytorch_extensions/exercises/one_reflector.cu",
    kernel="one_reflector",
    inputs=some_rows,
    reference=reflectors_of,
    launch=lambda size: a_warp_each(size[0]),
    small=((9, 100), (8, 64), (3, 33), (1, 1)),
    full=(1 << 14, 2048),
    reduction=lambda size: size[1],
    promises=Promises(
        sizes=promises.shapes(rows=(1, 3, 8, 9, 17), n=(1, 2, 31, 32, 33, 65, 257)).with_longest(
            n=2053
        ),
        values=(
            promises.data(
                "x",
                ("all near 1e30", lambda x, rng: x * np.float32(1e30)),
                ("all near 1e-30", lambda x, rng: x * np.float32(1e-30)),
                promises.SMALLEST_NORMAL,
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
    means=(
        means.loads_shared_out(3.0, size=(8, 64)),
        means.work_shared_out(3.0, size=(8, 64)),
        means.no_shared_memory("Shuffles add up over a warp.", size=(8, 64)),
        means.no_extra_work(2.0, size=(8, 64)),
    ),
    within=2.0,
    hints=(
        "Divide by the largest of |x[1]|, …, |x[n - 1]| before you square: the sum of squares is "
        "then between 1 and n. `largest` may be 0.",
        "beta = −copysign(√(x[0]² + norm²), x[0]); `hypotf` does not overflow on the way.",
        "v[i] = x[i] / (x[0] − beta), tau = (beta − x[0]) / beta.",
    ),
    explanation="""
The sign of beta makes x[0] − beta a sum of two numbers of the same sign: no digits are lost. With
the other sign all of them may be lost. Scaling costs one more reading of the row.
""",
    mutants=(
        mutant("the other sign", kinds.WRONG, ("-copysignf(hypotf", "copysignf(hypotf")),
        mutant(
            "always negative",
            kinds.WRONG,
            ("-copysignf(hypotf(alpha, norm), alpha)", "-hypotf(alpha, norm)"),
        ),
        mutant(
            "squares as they are",
            kinds.WRONG,
            ("squares += x[i] / largest * (x[i] / largest);", "squares += x[i] * x[i];"),
            ("largest * sqrtf", "sqrtf"),
        ),
        mutant(
            "overflow at the end",
            kinds.WRONG,
            ("hypotf(alpha, norm)", "sqrtf(alpha * alpha + norm * norm)"),
        ),
        mutant("0 / 0", kinds.NOT_A_NUMBER, ("        norm = 0.0f; // not 0 times NaN\n", "")),
        mutant(
            "a norm below 1e-36 is 0",
            kinds.WRONG,
            ("float beta =", "if (norm < 1e-36f) norm = 0.0f;\n    float beta ="),
        ),
        mutant(
            "tau of no reflection",
            kinds.WRONG,
            ("= norm == 0.0f ? 0.0f : ", "= norm == 0.0f ? 2.0f : "),
        ),
        mutant("v begins with x", kinds.EDGES, ("i == 0 ? 1.0f :", "i == 0 ? alpha - beta :")),
        mutant("v not divided", kinds.WRONG, ("x[i] / (alpha - beta)", "x[i]")),
        mutant(
            "the first counts too",
            kinds.PRECISION,
            (
                "int i = 1 + lane; i < n; i += kWarpSize) {\n        squares",
                "int i = lane; i < n; i += kWarpSize) {\n        squares",
            ),
        ),
        mutant(
            "a lane's squares",
            kinds.DATA_RACE,
            ("warp_sum(squares)", "squares"),
            (
                "        beta_tau[2 * row] = beta;",
                "    }\n    {\n        beta_tau[2 * row] = beta;",
            ),
        ),
        mutant(
            "tau upside down",
            kinds.WRONG,
            ("(beta - alpha) / beta", "(alpha - beta) / alpha"),
        ),
        mutant(
            "largest of a lane",
            kinds.WRONG,
            ("int distance = kWarpSize / 2; distance > 0", "int distance = 0; distance > 0"),
        ),
        mutant(
            "one too many", kinds.OUT_OF_BOUNDS, ("int i = lane; i < n;", "int i = lane; i <= n;")
        ),
        mutant(
            "the second for the largest",
            kinds.WRONG,
            (
                "    float squares = 0.0f;",
                "    if (n > 1 && x[1] != 0.0f) largest = fabsf(x[1]);\n    float squares = 0.0f;",
            ),
        ),
        mutant(
            "every lane sums all",
            kinds.MEANS_MISSING,
            (
                "int i = 1 + lane; i < n; i += kWarpSize) {\n        squares",
                "int i = 1; i < n; ++i) {\n        squares",
            ),
            ("warp_sum(squares)", "squares"),
        ),
    ),
)


def a_block(rng: np.random.Generator, size: Shape) -> dict:
    m, n = size
    v = floats(rng, m)
    tau = 2 / (1 + (v[1:].astype(float) ** 2).sum())
    return {
        "v": v,
        "tau": np.float32(tau),
        "C": floats(rng, size),
        "D": empty(size),
        "m": np.int32(m),
        "n": np.int32(n),
    }


def no_product(label: str, of_v: float, of_c: float) -> Values:
    """The last of v, and a number of C beside it: 0 and infinity, whose product is no number."""

    def change(given: Given, rng: np.random.Generator) -> Given:
        v, c = given["v"].copy(), given["C"].copy()
        v[-1], c[-1, (c.shape[1] - 1) // 2] = of_v, of_c
        return {"v": v, "C": c}

    return Values(label, change)


def reflected(given: Given) -> dict:
    v, c = given["v"].astype(np.float64), given["C"].astype(np.float64)
    v[0] = 1
    if given["tau"] == 0:
        return {"D": c}
    return {"D": c - v[:, None] * (float(given["tau"]) * (v[:, None] * c).sum(axis=0))}


APPLY_REFLECTOR = Exercise(
    id="07.apply_reflector",
    title="a reflection without its matrix",
    task="""
Apply a reflector to all columns of C. H has m² numbers and is never formed: v, tau and one dot
product for each column are enough. A tau of 0 changes nothing, whatever is in v. Any
numbers in C and v, infinite ones and NaN too.
""",
    source="07_pytorch_extensions/exercises/apply_reflector.cu",
    kernel="apply_reflector",
    inputs=a_block,
    reference=reflected,
    launch=lambda size: Launch((-(-size[1] // 128),), (128,)),
    small=((20, 130), (33, 128), (7, 5), (1, 1)),
    full=(2048, 1 << 14),
    reduction=lambda size: size[0],
    promises=Promises(
        sizes=promises.shapes(m=(1, 2, 5, 31, 33, 70), n=(1, 2, 127, 128, 129, 300)).with_longest(
            m=2053, n=32771
        ),
        values=(
            (
                AS_GIVEN,
                Values("tau = 0", lambda given, rng: {"tau": 0.0}),
                Values("tau = 1.5", lambda given, rng: {"tau": 1.5}),
                Values("zeros among v", lambda given, rng: {"v": every_other_zero(given["v"])}),
                Values("v[0] = 1e30", lambda given, rng: {"v": _with_first(given["v"], 1e30)}),
                Values("v[0] = NaN", lambda given, rng: {"v": _with_first(given["v"], np.nan)}),
                *promises.data("v", promises.SOME_INFINITE, promises.SOME_NAN)[1:],
                Values(
                    "tau = 0, some of v infinite",
                    lambda given, rng: {"tau": 0, "v": promises.SOME_INFINITE[1](given["v"], rng)},
                ),
                Values(
                    "tau = 0, some of C infinite",
                    lambda given, rng: {"tau": 0, "C": promises.SOME_INFINITE[1](given["C"], rng)},
                ),
                no_product("v zero where C is infinite", 0, np.inf),
                no_product("C zero where v is infinite", np.inf, 0),
            ),
            promises.data(
                "C", *promises.ORDINARY, promises.LARGE, promises.SOME_INFINITE, promises.SOME_NAN
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(2.0, size=(33, 128)),
        means.no_extra_work(2.0, size=(33, 128)),
    ),
    within=2.0,
    hints=(
        "H c = c − tau (v · c) v: first the dot product down the column, then the change.",
        "The first number of v is 1, whatever v[0] holds: begin the sum with C's first row. 0 "
        "times infinity is NaN, so a tau of 0 wants a branch.",
        "A loop over the rows adds up the sum; a second one takes tau times it times v[i] off "
        "each row, the first row with 1 in place of v[0].",
    ),
    explanation="""
Two readings of the column and four operations a number, in place of m² for the matrix. Neighbouring
threads have neighbouring columns of a row-major matrix, so every access of a warp is coalesced.
""",
    mutants=(
        mutant(
            "v[0] taken", kinds.WRONG, ("float dot = C[column];", "float dot = v[0] * C[column];")
        ),
        mutant(
            "v[0] taken in the change",
            kinds.EDGES,
            ("D[column] = C[column] - w;", "D[column] = C[column] - v[0] * w;"),
        ),
        mutant("no tau", kinds.WRONG, ("tau * dot", "2.0f * dot")),
        mutant("a tau of 0 taken times v", kinds.NOT_A_NUMBER, ("if (tau == 0.0f)", "if (false)")),
        mutant(
            "zeros of v left out",
            kinds.WRONG,
            ("        dot += v[i] *", "        if (v[i] != 0.0f) dot += v[i] *"),
        ),
        mutant(
            "zeros of C left out",
            kinds.WRONG,
            (
                "        dot += v[i] *",
                "        if (C[(long long)i * n + column] != 0.0f) dot += v[i] *",
            ),
        ),
        mutant(
            "no dot product above 1e30",
            kinds.WRONG,
            ("tau * dot;", "tau * fminf(fmaxf(dot, -1e30f), 1e30f);"),
        ),
        mutant("added", kinds.FIRST_BLOCK, (" - v[i] * w", " + v[i] * w")),
        mutant(
            "a tau of its own",
            kinds.WRONG,
            (
                "    float dot = C[column];",
                "    float own = 1.0f;\n"
                "    for (int i = 1; i < m; ++i) own += v[i] * v[i];\n"
                "    tau = 2.0f / own;\n"
                "    float dot = C[column];",
            ),
        ),
        mutant(
            "nothing where v is zero",
            kinds.PARTLY_WRITTEN,
            (
                "        D[(long long)i * n + column] =",
                "        if (v[i] != 0.0f) D[(long long)i * n + column] =",
            ),
        ),
        mutant(
            "short index",
            kinds.DATA_RACE,
            ("D[(long long)i * n + column] =", "D[(unsigned short)(i * n + column)] ="),
        ),
        mutant("without the first", kinds.WRONG, ("float dot = C[column];", "float dot = 0.0f;")),
        mutant(
            "first row kept", kinds.EDGES, ("D[column] = C[column] - w;", "D[column] = C[column];")
        ),
        mutant(
            "a row of C for a column",
            kinds.WRONG,
            (
                "dot += v[i] * C[(long long)i * n + column]",
                "dot += v[i] * C[(long long)column * m + i]",
            ),
        ),
        mutant(
            "last row forgotten",
            kinds.PRECISION,
            (
                "    for (int i = 1; i < m; ++i) {\n        dot",
                "    for (int i = 1; i < m - 1; ++i) {\n        dot",
            ),
        ),
        mutant(
            "last row not written",
            kinds.EDGES,
            (
                "    for (int i = 1; i < m; ++i) {\n        D",
                "    for (int i = 1; i < m - 1; ++i) {\n        D",
            ),
        ),
        mutant(
            "no guard",
            kinds.OUT_OF_BOUNDS,
            ("    if (column >= n) {\n        return;\n    }\n", ""),
        ),
        mutant(
            "the dot product for every row",
            kinds.MEANS_MISSING,
            (
                "        D[(long long)i * n + column] = C[(long long)i * n + column] - v[i] * w;",
                "        float again = C[column];\n"
                "        for (int r = 1; r < m; ++r) again += v[r] * C[r * n + column];\n"
                "        D[(long long)i * n + column] = "
                "C[(long long)i * n + column] - v[i] * tau * again;",
            ),
        ),
    ),
)


def every_other_zero(v: np.ndarray) -> np.ndarray:
    other = v.copy()
    other[1:-1:2] = 0
    return other


def _with_first(v: np.ndarray, value: float) -> np.ndarray:
    other = v.copy()
    other[0] = value
    return other


def some_products(rng: np.random.Generator, size: Shape) -> dict:
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
        "k": np.int32(k),
        "n": np.int32(n),
    }


def solved(given: Given) -> dict:
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


MANY_REFLECTORS = Exercise(
    id="07.many_reflectors",
    title="many reflections in one product",
    task="""
Apply k reflectors to C by one matrix product, C − V W. Each w_i is tau_i (v_i · c), with a c that
the reflectors before it have changed already. You have v_i · C of the C that nobody has changed, Y,
and the products of the v with each other. That is enough. A tau may be 0.
""",
    source="07_pytorch_extensions/exercises/many_reflectors.cu",
    kernel="many_reflectors",
    inputs=some_products,
    reference=solved,
    launch=lambda size: Launch((-(-size[1] // 128),), (128,)),
    small=((6, 130), (5, 128), (2, 5), (1, 1)),
    full=(32, 1 << 20),
    reduction=lambda size: size[0] ** 2,
    promises=Promises(
        sizes=promises.shapes(k=(1, 2, 3, 7, 16, 33), n=(1, 2, 127, 128, 129, 300)).with_longest(
            k=67, n=5003
        ),
        values=(
            promises.data(
                "tau", ("zeros among tau", some_zero), ("tau zero", lambda tau, rng: 0 * tau)
            ),
            promises.data("crossed", ("NaN where it has no meaning", nan_elsewhere)),
            promises.data("Y", promises.LARGE, promises.FAINT),
        ),
    ),
    means=(
        means.no_surplus_threads(1 / 6, size=(6, 130)),
        means.work_shared_out(2.0, size=(5, 128)),
        means.no_extra_work(2.0, size=(5, 128)),
    ),
    within=2.0,
    hints=(
        "The first is easy: w_0 = tau_0 y_0.",
        "The second sees c − v_0 w_0, and v_1 · (c − v_0 w_0) = y_1 − (v_0 · v_1) w_0.",
        "w_i = tau_i (y_i − Σ (v_j · v_i) w_j over all j < i). Read back the w you have stored.",
    ),
    explanation="""
The sums are a triangular system, solved from above. LAPACK writes its solution as a matrix, W = Tᵀ
Y, because then two products are all there is; and this is how T is found. Where tau is 0, so is w.
""",
    mutants=(
        mutant(
            "as if they were apart",
            kinds.FIRST_BLOCK,
            ("dot -= crossed[before * k + i]", "dot -= 0.0f * crossed[before * k + i]"),
        ),
        mutant(
            "below the diagonal",
            kinds.FIRST_BLOCK,
            ("crossed[before * k + i]", "crossed[i * k + before]"),
        ),
        mutant("added", kinds.FIRST_BLOCK, ("dot -= crossed", "dot += crossed")),
        mutant(
            "tau of the one before",
            kinds.FIRST_BLOCK,
            ("crossed[before * k + i] *", "tau[before] * crossed[before * k + i] *"),
        ),
        mutant("no tau", kinds.WRONG, ("tau[i] * dot", "dot")),
        mutant("one too many", kinds.UNINITIALISED, ("before < i;", "before <= i;")),
        mutant("one too few", kinds.FIRST_BLOCK, ("before < i;", "before < i - 1;")),
        mutant(
            "Y in place of W",
            kinds.FIRST_BLOCK,
            ("* W[before * n + column]", "* Y[before * n + column]"),
        ),
        mutant(
            "in one order of two",
            kinds.WRONG,
            ("int i = 0; i < k; ++i", "int i = k - 1; i >= 0; --i"),
            ("int before = 0; before < i", "int before = i + 1; before < k"),
            ("crossed[before * k + i]", "crossed[i * k + before]"),
        ),
        mutant(
            "divided by tau", kinds.PRECISION, ("tau[i] * dot", "dot / (1.0f / tau[i] + 1e-3f)")
        ),
        mutant(
            "no guard",
            kinds.OUT_OF_BOUNDS,
            ("    if (column >= n) {\n        return;\n    }\n", ""),
        ),
        mutant(
            "zero times what has no meaning",
            kinds.NOT_A_NUMBER,
            ("float dot = Y", "float none = 0.0f * crossed[i * k + i], dot = none + Y"),
        ),
        mutant("first 32 only", kinds.EDGES, ("tau[i] * dot", "i < 32 ? tau[i] * dot : 0.0f")),
    ),
)


def factors(rng: np.random.Generator, size: int) -> dict:
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


THREE_PRODUCTS = Exercise(
    id="07.three_products",
    title="fp32 from a tensor core",
    task="""
TF32 has 10 bits of fraction, fp32 has 23. Make two TF32 numbers of each fp32 number, a high part
and a low part, and add up as many of their products as it takes for the digits of fp32: three of
four are enough. Only the tensor core multiplies.
""",
    source="07_pytorch_extensions/exercises/three_products.cu",
    kernel="three_products",
    inputs=factors,
    reference=lambda given: {"C": given["A"].astype(np.float64) @ given["B"].astype(np.float64).T},
    launch=lambda size: Launch((1,), (32,)),
    small=(24, 64, 8),
    full=1 << 12,
    reduction=lambda size: size,
    promises=Promises(
        sizes=promises.lengths("K", least=8, most=300, of=8).with_longest(K=520),
        values=(
            promises.data(
                "A B",
                ("near 1", with_digits),
                ("just below numbers of TF32", below_another),
                ("near 1e12", lambda x, rng: x * np.float32(1e12)),
                ("near 1e-12", lambda x, rng: x * np.float32(1e-12)),
            ),
        ),
    ),
    means=(
        means.instructions(
            "products of tensor cores, of 8 columns each",
            "mma.sync",
            at_least=3 * 32 * 8,
            at_most=4 * 32 * 8,
            advice="Three products for each 8 columns, or all four.",
            size=64,
        ),
        means.instructions(
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
    hints=(
        "`to_tf32(x)` gives the bits of the high part; `__uint_as_float` makes a number of them.",
        "x − high is exact, and fits into TF32 after rounding but for its last bits.",
        "low · high, high · low, high · high: the fourth, low · low, is below the last digit.",
    ),
    explanation="""
The low part is at most 2⁻¹¹ of the number, so low · low is at most 2⁻²² of the product. The small
products are added first: a sum that is still small keeps their digits.
""",
    mutants=(
        mutant(
            "one product",
            kinds.PRECISION,
            ("        mma_tf32(sum, a_low, b_high[0], b_high[1]);\n", ""),
            ("        mma_tf32(sum, a_high, b_low[0], b_low[1]);\n", ""),
        ),
        mutant(
            "A's low part lost",
            kinds.PRECISION,
            ("        mma_tf32(sum, a_low, b_high[0], b_high[1]);\n", ""),
        ),
        mutant(
            "B's low part lost",
            kinds.PRECISION,
            ("        mma_tf32(sum, a_high, b_low[0], b_low[1]);\n", ""),
        ),
        mutant(
            "low parts alone",
            kinds.PRECISION,
            (
                "mma_tf32(sum, a_low, b_high[0], b_high[1])",
                "mma_tf32(sum, a_low, b_low[0], b_low[1])",
            ),
        ),
        mutant(
            "no high product",
            kinds.WRONG,
            ("        mma_tf32(sum, a_high, b_high[0], b_high[1]);\n", ""),
        ),
        mutant(
            "low of the wrong sign",
            kinds.PRECISION,
            (
                "to_tf32(a[i] - __uint_as_float(a_high[i]))",
                "to_tf32(__uint_as_float(a_high[i]) - a[i])",
            ),
        ),
        mutant(
            "bits as a number",
            kinds.WRONG,
            ("b[i] - __uint_as_float(b_high[i])", "b[i] - b_high[i]"),
        ),
        mutant(
            "B's parts exchanged",
            kinds.WRONG,
            (
                "mma_tf32(sum, a_high, b_high[0], b_high[1])",
                "mma_tf32(sum, a_high, b_high[1], b_high[0])",
            ),
        ),
        mutant(
            "high part twice",
            kinds.WRONG,
            (
                "mma_tf32(sum, a_low, b_high[0], b_high[1])",
                "mma_tf32(sum, a_high, b_high[0], b_high[1])",
            ),
        ),
        mutant(
            "high part cut off by the multiplication",
            kinds.PRECISION,
            (
                "mma_tf32(sum, a_high, b_high[0], b_high[1]);",
                "for (int i = 0; i < 4; ++i) a_high[i] = __float_as_uint(a[i]);\n"
                "        mma_tf32(sum, a_high, b_high[0], b_high[1]);",
            ),
        ),
        mutant(
            "an integer of it",
            kinds.PRECISION,
            ("a_high[i] = to_tf32(a[i])", "a_high[i] = unsigned(a[i])"),
        ),
        mutant(
            "by threads",
            kinds.MEANS_MISSING,
            (
                "        mma_tf32(sum, a_low, b_high[0], b_high[1]);\n",
                "        for (int i = 0; i < 4; ++i)\n"
                "            for (int e = 0; e < 8; ++e)\n"
                "                sum[i] += A[(group + i / 2 * 8) * K + k + e] * "
                "B[(member * 2 + i % 2) * K + k + e];\n",
            ),
            ("        mma_tf32(sum, a_high, b_low[0], b_low[1]);\n", ""),
            ("        mma_tf32(sum, a_high, b_high[0], b_high[1]);\n", ""),
        ),
    ),
)


def two_triangles(rng: np.random.Generator, size: Shape) -> dict:
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
        "pairs": np.int32(pairs),
        "n": np.int32(n),
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


def merged(given: Given) -> dict:
    stack = np.concatenate([np.triu(given[name]) for name in ("top", "bottom")], axis=1)
    n = stack.shape[-1]
    return {"R": np.triu(factored(stack)[0][:, :n])}


MERGE_TRIANGLES = Exercise(
    id="07.merge_triangles",
    title="two triangles make one",
    task="""
Tall matrices are cut into parts. Each part gives a triangle R, and the triangles are merged in
pairs. Factor one triangle on top of another, and use their zeros: column j of the bottom one ends
with row j. What is below the diagonals is not zero in memory.
""",
    source="07_pytorch_extensions/exercises/merge_triangles.cu",
    kernel="merge_triangles",
    inputs=two_triangles,
    reference=merged,
    launch=lambda size: a_warp_each(size[0]),
    small=((3, 10), (8, 16), (9, 3), (1, 1)),
    full=(1 << 14, 16),
    reduction=lambda size: 8 * size[1],
    promises=Promises(
        sizes=promises.shapes(pairs=(1, 3, 9), n=(1, 2, 5, 15, 16)).with_longest(pairs=33),
        values=(
            (
                AS_GIVEN,
                Values("the bottom is zero", lambda given, rng: {"bottom": 0 * given["bottom"]}),
                Values("the top is its half", lambda given, rng: {"top": given["bottom"] / 2}),
                Values("the first column of the bottom is small", small_beginning),
                Values("zeros on the top's diagonal", hollow),
                Values("the last column nearly the one before", nearly_dependent),
                Values("the top is negative", lambda given, rng: {"top": -abs(given["top"])}),
            ),
            promises.data(
                "top bottom",
                ("near 1e8", lambda r, rng: r * np.float32(1e8)),
                ("near 1e-8", lambda r, rng: r * np.float32(1e-8)),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.loads_shared_out(5.0, size=(8, 16)),
        Means(
            "multiplications of a lane",
            lambda work: work.opcodes("mul.", "fma.") / (8 * 32),
            at_most=600,
            advice="Column j has j + 1 numbers in the bottom triangle: rows below them stay zero.",
            size=(8, 16),
        ),
    ),
    within=2.0,
    hints=(
        "alpha is t[j] of lane j; what is to become zero is b[0] to b[j] of lane j. The other rows "
        "of the top take no part.",
        "`__shfl_sync(kWholeWarp, b[i], j)` gives that number to all lanes. One sum in each lane "
        "gives the squares, in lane j, and the dot product with the lane's column, elsewhere.",
        "w = tau (t[j] + dot · inverse); in lanes above j, t[j] −= w, and b[i] −= w v[i], where v "
        "is lane j's b times inverse. Lane j gets beta.",
    ),
    explanation="""
All of a tall matrix's parts are factored at the same time, and a merge costs a fifth of what two
stacked squares would: (2/3) n³ operations for (10/3) n³. Q is then a product of all reflectors, of
the parts and of the merges.
""",
    mutants=(
        mutant(
            "one row too few",
            kinds.WRONG,
            (
                "for (int i = 0; i <= j; ++i) {\n                dot",
                "for (int i = 0; i < j; ++i) {\n                dot",
            ),
        ),
        mutant(
            "one row unchanged",
            kinds.WRONG,
            (
                "for (int i = 0; i <= j; ++i) {\n                float v",
                "for (int i = 0; i < j; ++i) {\n                float v",
            ),
        ),
        mutant(
            "tau forgotten",
            kinds.WRONG,
            ("h.tau * (t[j] + dot * h.inverse)", "t[j] + dot * h.inverse"),
        ),
        mutant(
            "v not divided",
            kinds.NOT_A_NUMBER,
            ("__shfl_sync(kWholeWarp, b[i], j) * h.inverse", "__shfl_sync(kWholeWarp, b[i], j)"),
        ),
        mutant(
            "little is nothing",
            kinds.WRONG,
            (
                "Reflector h = reflector_of(alpha, __shfl_sync(kWholeWarp, dot, j));",
                "float squares = __shfl_sync(kWholeWarp, dot, j);\n"
                "            Reflector h = reflector_of("
                "alpha, squares < 1e-10f * alpha * alpha ? 0.0f : squares);",
            ),
        ),
        mutant("top row kept", kinds.WRONG, ("lane > j ? t[j] - w :", "lane > j ? t[j] :")),
        mutant("alpha on the diagonal", kinds.WRONG, ("lane == j ? h.beta : t[j]", "t[j]")),
        mutant(
            "of each lane's own squares",
            kinds.WRONG,
            ("reflector_of(alpha, __shfl_sync(kWholeWarp, dot, j))", "reflector_of(alpha, dot)"),
        ),
        mutant(
            "all rows of a square",
            kinds.MEANS_MISSING,
            (
                "for (int i = 0; i <= j; ++i) {\n                dot",
                "for (int i = 0; i < kMost; ++i) {\n                dot",
            ),
            (
                "for (int i = 0; i <= j; ++i) {\n                float v",
                "for (int i = 0; i < kMost; ++i) {\n                float v",
            ),
        ),
        mutant(
            "no guard",
            kinds.OUT_OF_BOUNDS,
            ("    if (pair >= pairs) {\n        return; // the whole warp\n    }\n", ""),
        ),
    ),
)


def matrices(rng: np.random.Generator, size: Shape) -> np.ndarray:
    """batch x m x n, for a size of (batch, n, m - n), of columns that are far from dependent."""
    batch, n, more = size
    a = floats(rng, (batch, n + more, n))
    a[:, np.arange(n), np.arange(n)] += 2 * np.sqrt(n + more).astype(np.float32)
    return a


def some_factorisations(rng: np.random.Generator, size: Shape) -> dict:
    a = matrices(rng, size)
    batch, m, n = a.shape
    qr, tau = factored(a)
    return {
        "qr": qr.astype(np.float32),
        "tau": tau.astype(np.float32),
        "x": floats(rng, (batch, m)),
        "y": empty((batch, m)),
        "batch": np.int32(batch),
        "m": np.int32(m),
        "n": np.int32(n),
    }


def q_of_x(given: Given) -> dict:
    qr, tau, y = (given[name].astype(np.float64) for name in ("qr", "tau", "x"))
    for j in reversed(range(tau.shape[1])):
        v = qr[:, :, j].copy()
        v[:, :j], v[:, j] = 0, 1
        y = y - (tau[:, j] * (v * y).sum(axis=1))[:, None] * v
    return {"y": y}


def others_above(qr: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """NaN in the place of R."""
    return np.where(np.tri(*qr.shape[1:], k=-1, dtype=bool), qr, np.float32(np.nan))


Q_TIMES = Exercise(
    id="07.q_times",
    title="Q without its matrix",
    task="""
A factorisation stores no Q, only its reflectors. Multiply the Q of each matrix with a vector. Q =
H₁ H₂ … Hₙ, so which comes first? A tau may be 0, and x about 1e-25 or 1e30. In the upper triangle
lies R, which has no part in Q.
""",
    source="07_pytorch_extensions/exercises/q_times.cu",
    kernel="q_times",
    inputs=some_factorisations,
    reference=q_of_x,
    launch=lambda size: a_warp_each(size[0]),
    small=((3, 6, 34), (8, 5, 28), (9, 7, 0), (1, 1, 0)),
    full=(1 << 12, 32, 96),
    reduction=lambda size: 4 * (size[1] + size[2]),
    promises=Promises(
        sizes=promises.shapes(
            **{"batch": (1, 3, 8, 9), "n": (1, 2, 9, 17, 33), "m - n": (0, 1, 22, 31, 70)}
        ).with_longest(**{"n": 67, "m - n": 261}),
        values=(
            promises.data(
                "tau", ("zeros among tau", some_zero), ("halved", lambda tau, rng: tau / 2)
            ),
            promises.data("qr", ("NaN in R's place", others_above)),
            promises.data("x", promises.SMALL, promises.FAINT, promises.LARGE, promises.TIES),
        ),
    ),
    means=(
        means.loads_shared_out(3.0, size=(8, 5, 28)),
        means.work_shared_out(3.0, size=(8, 5, 28)),
        means.no_shared_memory("A lane keeps its elements; shuffles add up.", size=(8, 5, 28)),
        means.no_extra_work(3.0, size=(8, 5, 28)),
    ),
    within=2.0,
    hints=(
        "Q x = H₁ (H₂ (… (Hₙ x))): the last one is applied first.",
        "v is 0 above row j, 1 in row j, and below it what column j of qr holds.",
        "`warp_sum` gives every lane the dot product.",
    ),
    explanation="""
From the first to the last it is Qᵀ x, which least squares wants: Qᵀ b, then the triangle. Either
costs 4 m n operations. Q itself has m² numbers, so forming it costs more than many such products.
""",
    mutants=(
        mutant(
            "Q transposed", kinds.WRONG, ("int j = n - 1; j >= 0; --j", "int j = 0; j < n; ++j")
        ),
        mutant("last one forgotten", kinds.WRONG, ("int j = n - 1;", "int j = n - 2;")),
        mutant("first one forgotten", kinds.WRONG, ("j >= 0;", "j > 0;")),
        mutant("tau of 2", kinds.WRONG, ("tau[j] * warp_sum(dot)", "2.0f * warp_sum(dot)")),
        mutant("a lane's sum", kinds.WRONG, ("tau[j] * warp_sum(dot)", "tau[j] * dot")),
        mutant(
            "little is nothing",
            kinds.WRONG,
            (
                "float w = tau[j] * warp_sum(dot);",
                "float w = tau[j] * warp_sum(dot);\n        if (fabsf(w) < 1e-6f) w = 0.0f;",
            ),
        ),
        mutant(
            "nothing above 1e20",
            kinds.FIRST_BLOCK,
            ("= tau[j] * warp_sum(dot)", "= fminf(tau[j] * warp_sum(dot), 1e20f)"),
        ),
        mutant(
            "zero times R",
            kinds.NOT_A_NUMBER,
            (
                "i < j ? 0.0f : i == j ? 1.0f : qr[(long long)i * n + j];\n            dot",
                "i == j ? 1.0f : (i > j) * qr[(long long)i * n + j];\n            dot",
            ),
        ),
        mutant(
            "every lane sums all",
            kinds.MEANS_MISSING,
            (
                "        for (int i = lane; i < m; i += kWarpSize) {\n"
                "            float v = i < j ? 0.0f : i == j ? 1.0f : qr[(long long)i * n + j];\n"
                "            dot",
                "        __syncwarp();\n"
                "        for (int i = 0; i < m; ++i) {\n"
                "            float v = i < j ? 0.0f : i == j ? 1.0f : qr[(long long)i * n + j];\n"
                "            dot",
            ),
            ("tau[j] * warp_sum(dot);", "tau[j] * dot;\n        __syncwarp();"),
        ),
        mutant("added", kinds.WRONG, ("y[i] -= w * v", "y[i] += w * v")),
        mutant(
            "R in the dot product",
            kinds.WRONG,
            (
                "i < j ? 0.0f : i == j ? 1.0f : qr[(long long)i * n + j];\n            dot",
                "i == j ? 1.0f : qr[(long long)i * n + j];\n            dot",
            ),
        ),
        mutant(
            "R in the change",
            kinds.WRONG,
            (
                "i < j ? 0.0f : i == j ? 1.0f : qr[(long long)i * n + j];\n            y",
                "i == j ? 1.0f : qr[(long long)i * n + j];\n            y",
            ),
        ),
        mutant(
            "diagonal of R",
            kinds.WRONG,
            (
                "i < j ? 0.0f : i == j ? 1.0f : qr[(long long)i * n + j];\n            dot",
                "i < j ? 0.0f : qr[(long long)i * n + j];\n            dot",
            ),
        ),
        mutant(
            "rows for columns",
            kinds.OUT_OF_BOUNDS,
            (
                "1.0f : qr[(long long)i * n + j];\n            dot",
                "1.0f : qr[(long long)j * m + i + n];\n            dot",
            ),
        ),
        mutant(
            "no guard",
            kinds.OUT_OF_BOUNDS,
            ("    if (matrix >= batch) {\n        return; // the whole warp\n    }\n", ""),
        ),
        mutant(
            "a lane does it all",
            kinds.MEANS_MISSING,
            (
                "        float w = tau[j] * warp_sum(dot);\n",
                "        float whole = warp_sum(lane ? 0.0f : dot), all = 0.0f;\n"
                "        for (int i = j; lane == 0 && i < m; ++i)\n"
                "            all += i == j ? 0.0f : qr[(long long)i * n + j] * 1e-30f;\n"
                "        whole = warp_sum(dot);\n"
                "        float w = tau[j] * (whole + 1e-30f * warp_sum(all));\n",
            ),
        ),
    ),
)


def to_factor(rng: np.random.Generator, size: Shape) -> dict:
    a = matrices(rng, size)
    batch, m, n = a.shape
    return {
        "A": a,
        "qr": empty(a.shape),
        "tau": empty((batch, n)),
        "m": np.int32(m),
        "n": np.int32(n),
    }


def as_lapack(given: Given) -> dict:
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
    return np.where(np.tri(*a.shape[1:], k=-1, dtype=bool), 1e-9 * a, a)


def first_number_zero(a: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    other = a.copy()
    other[:, 0, 0] = 0
    return other


def by_the_lesson(cp, values):
    """The ladder's last rung on the same matrices."""
    from course_utils.benchmarks.cases.pytorch_extensions import batched_qr

    found = batched_qr.Factors.of(values["A"].shape)
    for call in batched_qr.tensor_calls(values["A"], found):
        call()
    return found.qr


OPEN_QR = Exercise(
    id="07.open_qr",
    title="your own batched QR, on the clock",
    task="""
Factor a batch of matrices, a block each, as LAPACK does: R, the reflectors without their ones, and
tau; tau is 0 where a column has nothing below its diagonal. First make it right. Then make it fast:
on a GPU your time becomes a rung of the ladder, with 640 matrices of 176 × 176, between a plain
solution and the last kernel of the lesson.
""",
    source="07_pytorch_extensions/exercises/open_qr.cu",
    kernel="open_qr",
    inputs=to_factor,
    reference=as_lapack,
    launch=lambda size: Launch(
        (size[0],), (256,), shared=4 * (size[1] + size[2] + 4) * (size[1] + 1)
    ),
    small=((2, 9, 14), (1, 16, 0), (3, 5, 2), (1, 1, 1)),
    full=(640, 176, 0),
    reduction=lambda size: 16 * (size[1] + size[2]),
    budget=400_000,
    promises=Promises(
        sizes=promises.shapes(
            **{"batch": (1, 2, 3), "n": (2, 3, 7, 17), "m - n": (0, 1, 5)}
        ).with_longest(**{"n": 33, "m - n": 67}),  # each past a warp, beside a small one
        values=(
            promises.data(
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
    means=(
        means.work_shared_out(40.0, size=(1, 16, 0)),
        means.reads("A", 4 * 256, 4 * 4 * 256, advice="Read the matrix once.", size=(1, 16, 0)),
    ),
    library=("qr_tensor of the lesson", by_the_lesson),
    hints=(
        "Shared memory holds the matrix, rows n + 1 apart. A column at a time: its reflector, then "
        "what it does to the columns on its right, a thread each.",
        "All threads may compute alpha, the squares and beta for themselves: that spares barriers. "
        "One barrier has to follow the change of the columns.",
        "Faster: several threads for a column; the matrix in registers, a lane a column; panels of "
        "32 columns, and products for the rest.",
    ),
    explanation="""
This is the plain solution: all of the arithmetic with two accesses to shared memory for each
product, and a dot product that one thread adds up. The lesson's kernels say where to go from here.
""",
    mutants=(
        mutant("the other sign", kinds.WRONG, ("-copysignf(sqrtf", "copysignf(sqrtf")),
        mutant(
            "negative beta",
            kinds.WRONG,
            ("copysignf(sqrtf(alpha * alpha + squares), alpha)", "sqrtf(alpha * alpha + squares)"),
        ),
        mutant(
            "positive beta of 0",
            kinds.WRONG,
            (
                "-copysignf(sqrtf(alpha * alpha + squares), alpha)",
                "(alpha > 0.0f ? -1.0f : 1.0f) * sqrtf(alpha * alpha + squares)",
            ),
        ),
        mutant(
            "tau 2 of no reflection",
            kinds.EDGES,
            ("(beta - alpha) / beta : 0.0f", "(beta - alpha) / beta : 2.0f"),
        ),
        mutant(
            "little is nothing",
            kinds.SCALED,
            (
                "        float alpha = shared[j * stride + j];",
                "        float alpha = shared[j * stride + j];\n"
                "        if (squares < 1e-12f * alpha * alpha) squares = 0.0f;",
            ),
        ),
        mutant(
            "0 / 0",
            kinds.NOT_A_NUMBER,
            ("squares > 0.0f ? (beta - alpha) / beta : 0.0f", "(beta - alpha) / beta"),
        ),
        mutant(
            "v not divided",
            kinds.WRONG,
            ("shared[i * stride + j] *= inverse;", "shared[i * stride + j] *= 1.0f;"),
        ),
        mutant("R without beta", kinds.WRONG, ("            shared[j * stride + j] = beta;\n", "")),
        mutant("row j kept", kinds.WRONG, ("            shared[j * stride + c] -= w;\n", "")),
        mutant(
            "the norm for the tail",
            kinds.WRONG,
            ("alpha * alpha + squares), alpha) : alpha", "squares), alpha) : alpha"),
        ),
        mutant(
            "no barrier after a column",
            kinds.DATA_RACE,
            ("        __syncthreads(); // all columns are changed\n", ""),
        ),
        mutant(
            "a column of A",
            kinds.WRONG,
            ("shared[i / n * stride + i % n] = A[i]", "shared[i % m * stride + i / m] = A[i]"),
        ),
        mutant(
            "first 32 columns",
            kinds.WRONG,
            ("for (int j = 0; j < n; ++j)", "for (int j = 0; j < min(n, 32); ++j)"),
        ),
        mutant(
            "one thread does it all",
            kinds.MEANS_MISSING,
            (
                "int c = j + 1 + threadIdx.x; c < n; c += blockDim.x",
                "int c = threadIdx.x ? n : j + 1; c < n; ++c",
            ),
        ),
    ),
)
