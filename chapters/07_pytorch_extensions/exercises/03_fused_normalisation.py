"""The exercises of "Fused normalisation"."""

from __future__ import annotations

from runpy import run_path

import ml_dtypes
import numpy as np

from course_utils.exercises import (
    Exercise,
    Launch,
    Means,
    Promises,
    Target,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.promises import AS_GIVEN, Given, Values
from course_utils.paths import KERNELS

EPS = np.float32(1e-5)
MOST = 2048  # columns of a row that a block keeps
IN_REGISTERS = (
    "An array whose index is known only at run time lies in local memory, which is global memory: "
    "let the loops have a constant number of turns, and unroll them."
)
COLUMNS = (1, 2, 31, 32, 33, 65, 255, 256, 257, 513, 1025, 2047, 2048)
KEPT_ROWS = promises.shapes(rows=(1, 3, 7, 40), columns=COLUMNS)
FULL = (2, 1024)  # where every thread has as much to do as any other; in any order at 2 x MOST


def in_float64(given: Given, *names: str) -> list[np.ndarray]:
    """These inputs in float64."""
    return [given[name].astype(np.float64) for name in names]


def off_zero(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    """Rows whose mean is a few times their spread."""
    rows, columns = size
    centers = 3 * rng.standard_normal((rows, 1))
    x = centers + rng.standard_normal(size)
    return {
        "x": with_heavy_end(x).astype(np.float32),
        "mean": empty(rows),
        "variance": empty(rows),
        "rows": np.int32(rows),
        "columns": np.int32(columns),
    }


def with_heavy_end(x: np.ndarray) -> np.ndarray:
    """The last number of each row counts for as much as a hundredth of a long row, so that a sum
    without it is off by more than rounding."""
    x[:, -1] += np.sqrt(x.shape[1]) / 8
    return x


def mean_and_variance(given: Given) -> dict:
    (x,) = in_float64(given, "x")
    return {"mean": x.mean(axis=1), "variance": x.var(axis=1)}


def far_from_zero(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A mean a hundred times as large as the spread, with either sign."""
    return x + 100 * rng.choice((-1, 1), (len(x), 1))


def parts_apart(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Neighbouring columns have other means, so lanes differ by more than their own spread."""
    return x + 50 * (np.arange(x.shape[1]) % 7)


WELFORD_ROWS = Exercise(
    id="07.welford_rows",
    title="32 lanes agree on a variance",
    task="""
Each lane has met its part of a row, and knows how many numbers that were, their mean, and the sum
of their squared distances from it. Merge the 32 lanes into the row's mean and variance. The row is
read once, whatever its length, and its mean may be a hundred times as large as its spread.
""",
    source="07_pytorch_extensions/exercises/welford_rows.cu",
    kernel="welford_rows",
    inputs=off_zero,
    reference=mean_and_variance,
    launch=lambda size: Launch((-(-size[0] // 8),), (256,)),
    small=((9, 100), (8, 64), (3, 33), (2, 5), (1, 2)),
    full=(1 << 14, 4096),
    reduction=lambda size: 4 * size[1],
    promises=Promises(
        sizes=promises.shapes(
            rows=(1, 3, 7, 8, 9, 33), columns=(1, 2, 17, 31, 32, 33, 63, 65, 301, 2053)
        ).with_longest(rows=1031, columns=16411),
        values=(
            (
                *promises.data("x", promises.NEGATIVE, promises.EQUAL, promises.SMALL),
                *promises.data("x", promises.TIES, promises.SOME_NAN),
                *promises.data(
                    "x", ("far from zero", far_from_zero), ("in parts far apart", parts_apart)
                ),
            ),
        ),
    ),
    means=(
        means.loads_shared_out(2.0, size=(8, 64)),
        means.shuffles(
            3 * 32, advice="Lanes hand each other what they have by shuffles.", size=(8, 64)
        ),
        means.no_shared_memory("Shuffles need no shared memory.", size=(8, 64)),
        means.no_local_memory("A lane keeps three numbers, not its part of the row.", size=(8, 64)),
        means.reads_each_once(4 * 8 * 64, size=(8, 64)),
        means.one_store_each(),
    ),
    hints=(
        "The mean of both sets lies between their means, and nearer to that of the larger set.",
        "With `distance` between the means: the squared distances grow by distance² · count · more "
        "/ (count + more).",
        "Two lanes that met nothing give 0 / 0: a share of 0 is what is wanted then.",
        "`center += distance * share` with `share = more / (count + more)`, after squares and "
        "before count.",
    ),
    explanation="""
Nothing large is subtracted from anything large but two means, and that difference is what is
wanted. In a butterfly (`__shfl_xor_sync`) both lanes compute the same merge from opposite sides, so
all 32 end with the row's moments; only one stores them.
""",
    mutants=(
        mutant("as if lanes had as many", kinds.PRECISION, ("more / (count + more)", "0.5f")),
        mutant(
            "distances of the means forgotten",
            kinds.WRONG,
            (" + distance * distance * count * share", ""),
        ),
        mutant("no guard for nothing", kinds.NOT_A_NUMBER, ("more == 0.0f ? 0.0f : more", "more")),
        mutant("other squares forgotten", kinds.WRONG, ("squares += others +", "squares +=")),
        mutant("counts not added", kinds.PRECISION, ("        count += more;\n", "")),
        mutant("of a sample", kinds.SCALED, ("squares / count", "squares / (count - 1.0f)")),
        mutant("one step short", kinds.WRONG, ("step > 0", "step > 1")),
        mutant(
            "a sum of squares",
            kinds.PRECISION,
            ("squares += distance * (value - center);", "squares += value * value;"),
            ("squares += others + distance * distance * count * share;", "squares += others;"),
            (
                "variance[row] = squares / count",
                "variance[row] = squares / count - center * center",
            ),
        ),
        mutant(
            "center moved first",
            kinds.WRONG,
            (
                "        squares += others + distance * distance * count * share;\n"
                "        center += distance * share;\n        count += more;",
                "        center += distance * share;\n        count += more;\n"
                "        squares += others + distance * distance * count * share;",
            ),
        ),
        mutant("every lane stores", kinds.DATA_RACE, ("if (lane == 0)", "if (lane >= 0)")),
    ),
)


def both_sums(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows = floats(rng, size) + np.float32(1)
    return {
        "x": rows,
        "residual": floats(rng, size),
        "gamma": floats(rng, size[1]),
        "z": empty(size),
        "y": empty(size),
        "columns": np.int32(size[1]),
        "eps": EPS,
    }


def added_and_normed(given: Given) -> dict:
    x, residual, gamma = in_float64(given, "x", "residual", "gamma")
    z = x + residual
    squares = (z**2).mean(axis=1, keepdims=True)
    return {"z": z, "y": z / np.sqrt(squares + given["eps"]) * gamma}


def tiny_without_eps(given: Given, rng: np.random.Generator) -> Given:
    tiny = np.float32(1e-15)  # its square is a normal number
    return {"x": tiny * given["x"], "residual": tiny * given["residual"], "eps": 0}


ADD_RMS_NORM = Exercise(
    id="07.add_rms_norm",
    title="two steps in one",
    task="""
Between two layers of a language model stand an addition and an RMS normalisation. Make one kernel
of them: z = x + residual is stored for the next addition, and y = z · rstd · gamma goes on. Read x,
residual and gamma once each. Any rows of up to 2048 numbers, of which some may be infinite or NaN.
eps may be 0, but no row is 0 then.
""",
    source="07_pytorch_extensions/exercises/add_rms_norm.cu",
    kernel="add_rms_norm",
    inputs=both_sums,
    reference=added_and_normed,
    launch=lambda size: Launch((size[0],), (256,)),
    small=((3, 300), FULL, (2, 257), (3, 7), (1, 1)),
    full=(1 << 14, MOST),
    reduction=lambda size: size[1],
    promises=Promises(
        sizes=KEPT_ROWS,
        values=(
            (
                *promises.data("x", *promises.ORDINARY, promises.SOME_INFINITE, promises.SOME_NAN),
                promises.infinite_at_the_ends("x", -1),
                *promises.data("x", promises.VERY_LARGE)[1:],
                Values("eps = 0, x and residual about 1e-15", tiny_without_eps),
            ),
            promises.data("gamma", *promises.ORDINARY, promises.LARGE, promises.FAINT),
            promises.scalars("eps", 0, 1.0, 1e-3),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(2.0, size=(2, MOST)),
        means.no_local_memory(IN_REGISTERS, size=FULL),
    ),
    target=Target(
        label="bytes read, over those of x, residual and gamma for each row",
        measure=lambda counts: counts.global_load_bytes / (3 * 4 * 2 * 1024),
        at_most=1.0,
        advice="The result is right. z is in registers after the first loop: use it from there.",
        size=FULL,
    ),
    within=2.0,
    hints=(
        "Element k of the thread is number `k * kThreads + threadIdx.x` of the row.",
        "Past the end of the row, zeros add nothing to the sum of squares.",
        "The mean divides by `columns`, and eps belongs under the root: "
        "`rsqrtf(block_total<kThreads>(squares, of_warp) / columns + eps)`.",
    ),
    explanation="""
Apart, the addition reads two arrays and writes one, and the normalisation reads that one and writes
another: five. Together they are four, since z stays in registers between its store and its use.
""",
    mutants=(
        mutant(
            "only this warp's sum",
            kinds.WRONG,
            ("block_total<kThreads>(squares, of_warp)", "warp_sum(squares)"),
        ),
        mutant(
            "of x alone", kinds.WRONG, ("? x[start + i] + residual[start + i]", "? x[start + i]")
        ),
        mutant("gamma forgotten", kinds.WRONG, (" * gamma[i]", "")),
        mutant("gamma of the thread", kinds.EDGES, ("gamma[i]", "gamma[threadIdx.x]")),
        mutant("the sum for the mean", kinds.SCALED, (" / columns + eps", " + eps")),
        mutant("divided by the most", kinds.SCALED, ("/ columns +", "/ (kThreads * kEach) +")),
        mutant("eps outside the root", kinds.PRECISION, (" / columns + eps)", " / columns) + eps")),
        mutant("eps forgotten", kinds.PRECISION, (" / columns + eps", " / columns")),
        mutant("eps of 1e-12", kinds.WRONG, ("columns + eps", "columns + fmaxf(eps, 1e-12f)")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("i < columns ? x", "true ? x")),
        mutant(
            "z not stored", kinds.NOTHING_WRITTEN, ("            z[start + i] = part[k];\n", "")
        ),
        mutant(
            "infinities cut off",
            kinds.WRONG,
            ("part[k] * part[k]", "fminf(part[k] * part[k], 1e30f)"),
        ),
        mutant(
            "reads again",
            kinds.TARGET_MISSED,
            ("= part[k] * rstd", "= (x[start + i] + residual[start + i]) * rstd"),
        ),
    ),
)


def bf16_rows(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, columns = size
    return {
        "x": with_heavy_end(1 + floats(rng, size)).astype(ml_dtypes.bfloat16),
        "rstd": empty(rows),
        "rows": np.int32(rows),
        "columns": np.int32(columns),
        "eps": EPS,
    }


def one_over_norms(given: Given) -> dict:
    squares = (given["x"].astype(np.float64) ** 2).mean(axis=1)
    return {"rstd": 1 / np.sqrt(squares + given["eps"])}


BF16_ROW_NORMS = Exercise(
    id="07.bf16_row_norms",
    title="find what eight bits do to a sum",
    task="""
The rows are bf16, and are meant to be. The kernel is clean under every check and nearly right on
short rows; on long ones it is far off. Run it, look at how the error grows with the row, and mend
it. Any rows, of any length.
""",
    source="07_pytorch_extensions/exercises/bf16_row_norms.cu",
    kernel="bf16_row_norms",
    inputs=bf16_rows,
    reference=one_over_norms,
    launch=lambda size: Launch((-(-size[0] // 8),), (256,)),
    small=((3, 4099), (9, 100), (3, 33), (2, 5), (1, 1)),
    full=(1 << 14, 4096),
    reduction=lambda size: size[1],
    promises=Promises(
        sizes=promises.shapes(
            rows=(1, 3, 7, 8, 9, 33), columns=(1, 2, 31, 32, 33, 63, 65, 301, 2053)
        ).with_longest(rows=1031, columns=65_543),
        values=(
            (
                *promises.data(
                    "x",
                    *promises.ORDINARY,
                    promises.ZEROS,
                    promises.SOME_INFINITE,
                    promises.SOME_NAN,
                ),
                promises.infinite_at_the_ends("x", -1),
            ),
            promises.scalars("eps", 1.0, 1e-3),
        ),
    ),
    means=(
        means.loads_shared_out(2.0, size=(8, 64)),
        means.shuffles(32, advice="Lanes hand each other their sums by shuffles.", size=(8, 64)),
        means.reads_each_once(2 * 8 * 64, size=(8, 64)),
        means.one_store_each(),
    ),
    bug=kinds.WRONG,
    hints=(
        "bf16 has 8 significant bits: what is 256 + 1 in it?",
        "A sum that has grown to 256 times its next term does not grow any more.",
        "Keep the sum in a `float`, multiply in floats, and let the shuffles hand on floats.",
    ),
    explanation="""
bf16 saves bytes in memory, where nothing is added up. In registers a float costs the same, so read
bf16, compute in fp32, and round once, when the result is stored.
""",
    mutants=(
        mutant(
            "products in bf16",
            kinds.WRONG,
            ("squares += value * value;", "squares += float(__nv_bfloat16(value * value));"),
        ),
        mutant(
            "lanes behind the end: the last one times 0",
            kinds.NOT_A_NUMBER,
            ("i = lane; i < columns;", "i = lane; i - lane < columns;"),
            (
                "float value = x[(long long)row * columns + i];",
                "float value = x[(long long)row * columns + min(i, columns - 1)];\n"
                "        value *= i < columns;",
            ),
        ),
        mutant(
            "the warp's sum in bf16",
            kinds.WRONG,
            (
                "squares += __shfl_xor_sync(kWholeWarp, squares, step);",
                "squares += __shfl_xor_sync(kWholeWarp, squares, step);\n"
                "        squares = float(__nv_bfloat16(squares));",
            ),
        ),
        mutant(
            "a lane's sum rounded",
            kinds.WRONG,
            (
                "    for (int step",
                "    squares = float(__nv_bfloat16(squares));\n    for (int step",
            ),
        ),
        mutant(
            "rounded at the end",
            kinds.WRONG,
            ("rsqrtf(float(squares)", "rsqrtf(float(__nv_bfloat16(squares))"),
        ),
        mutant(
            "in half",
            kinds.WRONG,
            ("float squares = 0.0f;", "__half squares = 0.0f;"),
            ("squares += value * value;", "squares = __half(float(squares) + value * value);"),
            (
                "squares += __shfl_xor_sync(kWholeWarp, squares, step);",
                "float other = __shfl_xor_sync(kWholeWarp, squares, step);\n"
                "        squares = __half(float(squares) + other);",
            ),
            ("#include <cuda_bf16.h>", "#include <cuda_bf16.h>\n#include <cuda_fp16.h>"),
        ),
        mutant("eps forgotten", kinds.PRECISION, (" / columns + eps", " / columns")),
        mutant(
            "last elements missed", kinds.WRONG, ("i < columns; i +=", "i + 32 <= columns; i +=")
        ),
        mutant(
            "rows of up to 32,768",
            kinds.WRONG,
            ("i < columns; i +=", "i < min(columns, 32768); i +="),
        ),
    ),
)


def normed_rows(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    x = (1 + np.arange(size[0]) % 3)[:, None] * (floats(rng, size) + 2)  # rows of other spreads
    x = x.astype(np.float32)
    return {
        "dy": floats(rng, size),
        "x": x,
        "gamma": floats(rng, size[1]),
        **moments(x),
        "dx": empty(size),
        "columns": np.int32(size[1]),
    }


def moments(x: np.ndarray) -> dict:
    """mean and rstd of each row, as the way forward keeps them."""
    exact = x.astype(np.float64)
    mean, variance = exact.mean(axis=1), exact.var(axis=1)
    return {
        "mean": mean.astype(np.float32),
        "rstd": (1 / np.sqrt(variance + EPS)).astype(np.float32),
    }


def gradient_of_norm(given: Given) -> dict:
    dy, x, gamma, mean, rstd = in_float64(given, "dy", "x", "gamma", "mean", "rstd")
    normed, gradient = (x - mean[:, None]) * rstd[:, None], dy * gamma
    product = (gradient * normed).mean(axis=1, keepdims=True)
    dx = gradient - gradient.mean(axis=1, keepdims=True) - normed * product
    return {"dx": rstd[:, None] * dx}


def other_rows(given: Given, rng: np.random.Generator) -> Given:
    """x with another spread and another mean, and the moments that go with it."""
    x = (given["x"] * np.float32(0.01) - np.float32(3)).astype(np.float32)
    return {"x": x, **moments(x)}


LAYER_NORM_GRADIENT = Exercise(
    id="07.layer_norm_gradient",
    title="the way back through a layer normalisation",
    task="""
Each element of a row depends on all others of it by the mean and by the variance, so its gradient
has two sums over the row. Compute dx for rows of up to 2048 numbers, and read dy, x and gamma once
each. A gradient may be NaN. (Rows have five numbers or more: of two, nothing is left but rounding.)
""",
    source="07_pytorch_extensions/exercises/layer_norm_gradient.cu",
    kernel="layer_norm_gradient",
    inputs=normed_rows,
    reference=gradient_of_norm,
    launch=lambda size: Launch((size[0],), (256,)),
    small=((3, 300), FULL, (2, 257), (3, 7), (1, 5)),
    full=(1 << 14, MOST),
    reduction=lambda size: 16 * size[1],  # what is left of three terms that nearly cancel
    promises=Promises(
        sizes=promises.shapes(rows=(1, 3, 7, 40), columns=(5, *COLUMNS[2:])),
        values=(
            promises.data(
                "dy",
                *promises.ORDINARY,
                promises.SOME_NAN,
                promises.FAINT,
                promises.VERY_LARGE,
            ),
            promises.data("gamma", promises.NEGATIVE, promises.MIDDLING),
            (AS_GIVEN, Values("x small, about -3", other_rows)),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(2.0, size=(2, MOST)),
        means.no_local_memory(IN_REGISTERS, size=FULL),
    ),
    target=Target(
        label="bytes read, over those of dy, x and gamma for each row",
        measure=lambda counts: counts.global_load_bytes / (3 * 4 * 2 * 1024),
        at_most=1.2,  # and two numbers a thread
        advice="The result is right. n and g are in registers after the first loop.",
        size=FULL,
    ),
    within=2.0,
    hints=(
        "First loop: n and g of the thread's elements, zeros past the end, and their two sums.",
        "`block_total` gives the sum to each thread. The second call needs another array than the "
        "first: a fast warp would overwrite what a slow one still reads.",
        "Both sums are divided by `columns`, and rstd multiplies everything.",
    ),
    explanation="""
The first sum is what the mean takes back, the second what the variance takes back: dx has no part
along a constant row, and none along n itself, for the normalisation throws both away.
""",
    mutants=(
        mutant("rstd forgotten", kinds.WRONG, ("scale * (gradient[k] - sum", "(gradient[k] - sum")),
        mutant("gamma forgotten", kinds.WRONG, (" * gamma[i]", "")),
        mutant("gamma of the row", kinds.WRONG, ("gamma[i]", "gamma[blockIdx.x % columns]")),
        mutant(
            "mean of the rows", kinds.WRONG, ("of_warp[0]) / columns", "of_warp[0]) / gridDim.x")
        ),
        mutant("no mean", kinds.WRONG, ("gradient[k] - sum - ", "gradient[k] - ")),
        mutant("variance forgotten", kinds.WRONG, (" - normed[k] * product", "")),
        mutant(
            "sum of dy",
            kinds.WRONG,
            ("sum += gradient[k];", "sum += there ? dy[start + i] : 0.0f;"),
        ),
        mutant(
            "x not normed",
            kinds.WRONG,
            ("(x[start + i] - center) * scale", "x[start + i] - center"),
        ),
        mutant(
            "mean of the first row",
            kinds.FIRST_BLOCK,
            ("center = mean[blockIdx.x]", "center = mean[0]"),
        ),
        mutant("one array for both sums", kinds.DATA_RACE, ("of_warp[1])", "of_warp[0])")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("bool there = i < columns", "bool there = true")),
        mutant(
            "reads again",
            kinds.TARGET_MISSED,
            (
                "scale * (gradient[k]",
                "scale * (const_cast<const volatile float *>(dy)[start + i] * gamma[i]",
            ),
        ),
    ),
)


def some_logits(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, columns = size
    x = (3 * rng.standard_normal(size) - 20).astype(np.float32)
    target = rng.integers(0, columns, rows)
    target[1::3] = -100
    return {
        "x": x,
        "target": target,
        "logsumexp": log_of_sums(x),
        "dx": empty(size),
        "columns": np.int32(columns),
        "ignored": np.int64(-100),
        "weight": np.float32(0.7),
        "smoothing": np.float32(0.1),
    }


def log_of_sums(x: np.ndarray) -> np.ndarray:
    largest = x.max(axis=1).astype(np.float64)
    return (largest + np.log(np.exp(x - largest[:, None]).sum(axis=1))).astype(np.float32)


def gradient_of_loss(given: Given) -> dict:
    x, logsumexp, smoothing = in_float64(given, "x", "logsumexp", "smoothing")
    target, columns = given["target"], x.shape[1]
    label = (1 - smoothing) * (np.arange(columns) == target[:, None]) + smoothing / columns
    dx = given["weight"] * (np.exp(x - logsumexp[:, None]) - label)
    return {"dx": np.where((target == given["ignored"])[:, None], 0, dx)}


def a_class_ignored(given: Given, rng: np.random.Generator) -> Given:
    """What is ignored is the last class, and no target is negative."""
    last = given["x"].shape[1] - 1
    return {"ignored": last, "target": np.where(given["target"] < 0, last, given["target"])}


def padding(given: Given, rng: np.random.Generator) -> Given:
    """Rows that do not count hold anything."""
    x, logsumexp = given["x"].copy(), given["logsumexp"].copy()
    idle = given["target"] == given["ignored"]
    x[idle], logsumexp[idle] = np.nan, np.nan
    return {"x": x, "logsumexp": logsumexp}


def masked(given: Given, rng: np.random.Generator) -> Given:
    """Half of the logits are minus infinity, as where a mask forbids them."""
    x = np.where(rng.random(given["x"].shape) < 0.5, -np.inf, given["x"]).astype(np.float32)
    x[:, 0] = 5
    return {"x": x, "logsumexp": log_of_sums(x)}


def all_counted(given: Given, rng: np.random.Generator) -> Given:
    """No row is ignored, though a target may be as large as a class can be."""
    last = given["x"].shape[1] - 1
    return {"target": np.where(given["target"] < 0, last, given["target"])}


def moved(given: Given, by: float) -> Given:
    return {"x": given["x"] + by, "logsumexp": given["logsumexp"] + by}


def far_from_all_classes(given: Given, rng: np.random.Generator) -> Given:
    """What is ignored has the lower half of a target that counts, and more above it."""
    ignored = int(np.abs(given["target"]).max()) + (1 << 32)
    return {
        "ignored": ignored,
        "target": np.where(given["target"] < 0, ignored, given["target"]),
    }


LOSS_GRADIENT = Exercise(
    id="07.loss_gradient",
    title="the gradient of a loss, with padding",
    task="""
Write the gradient of each logit, one thread each. A target equal to `ignored` says that the row
does not count: its gradient is 0, whatever its logits are. `ignored` may be any number, also that
of a class; logits may be −∞, and rows that do not count may hold NaN. Each logit takes one
exponential.
""",
    source="07_pytorch_extensions/exercises/loss_gradient.cu",
    kernel="loss_gradient",
    inputs=some_logits,
    reference=gradient_of_loss,
    launch=lambda size: Launch((-(-size[1] // 256), size[0]), (256,)),
    small=((4, 300), (2, 256), (3, 7), (1, 2)),
    full=(1 << 11, 1 << 15),
    promises=Promises(
        sizes=promises.shapes(
            rows=(1, 2, 3, 7), columns=(1, 2, 31, 255, 256, 257, 1025)
        ).with_longest(rows=301, columns=65_543),
        values=(
            (
                AS_GIVEN,
                Values("a class ignored", a_class_ignored),
                Values("NaN where rows do not count", padding),
                Values("some logits -inf", masked),
                Values("all rows count", all_counted),
                Values("ignored past 32 bits", far_from_all_classes),
                Values("logits near 100", lambda given, rng: moved(given, 100)),
                Values("logits near -100", lambda given, rng: moved(given, -100)),
            ),
            promises.scalars("weight", 1.0, -2.0, 1e-4),
            promises.scalars("smoothing", 0.0, 0.5, 1.0),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(2.0, size=(2, 256)),
        Means(
            "exponentials for each logit",
            lambda work: work.opcodes("ex2.") / work.results,
            at_most=1.0,
            advice="The probability is exp(x - logsumexp): there is nothing to add up again.",
            size=(2, 256),
        ),
    ),
    within=2.0,
    hints=(
        "The probability of a class is exp(x − logsumexp), which no row can make overflow.",
        "The label of a class is smoothing / columns, and 1 − smoothing more at the target.",
        "Test for `ignored` first, and store a 0: 0 times NaN is NaN.",
    ),
    explanation="""
One number a row, logsumexp, stands for the whole softmax. The test comes before the arithmetic:
rows of padding often hold whatever was in memory, and 0 times NaN is NaN.
""",
    mutants=(
        mutant(
            "a quotient of exponentials",
            kinds.NOT_A_NUMBER,
            ("expf(x[i] - logsumexp[row])", "expf(x[i]) * expf(-logsumexp[row])"),
        ),
        mutant(
            "padding multiplied by 0",
            kinds.NOT_A_NUMBER,
            (
                "        dx[i] = 0.0f;\n        return;\n",
                "        dx[i] = 0.0f * x[i];\n        return;\n",
            ),
        ),
        mutant("padding left out", kinds.PARTLY_WRITTEN, ("        dx[i] = 0.0f;\n", "")),
        mutant("padding counted", kinds.WRONG, ("target[row] == ignored", "false")),
        mutant("padding below 0 alone", kinds.WRONG, ("target[row] == ignored", "target[row] < 0")),
        mutant(
            "32 bits of the target",
            kinds.EDGES,
            ("target[row] == ignored", "int(target[row]) == int(ignored)"),
        ),
        mutant("-100 alone", kinds.WRONG, ("target[row] == ignored", "target[row] == -100")),
        mutant(
            "the last row's target",
            kinds.WRONG,
            ("column == target[row]", "column == target[gridDim.y - 1]"),
        ),
        mutant(
            "weight on one part",
            kinds.WRONG,
            (
                "weight * (expf(x[i] - logsumexp[row]) - label)",
                "weight * expf(x[i] - logsumexp[row]) - label",
            ),
        ),
        mutant("weight forgotten", kinds.SCALED, ("weight * (expf", "(expf")),
        mutant("not smoothed", kinds.PRECISION, ("smoothing / columns + ", "")),
        mutant("smoothed twice", kinds.WRONG, ("1.0f - smoothing :", "1.0f :")),
        mutant(
            "target's logit only",
            kinds.PARTLY_WRITTEN,
            ("    dx[i] = weight", "    if (column == target[row]) dx[i] = weight"),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("column >= columns", "column > columns")),
    ),
)


PHILOX = run_path(str(KERNELS / "07_pytorch_extensions" / "philox.py"))
ANY_LAUNCH = promises.grids((1, 32), (1, 256), (3, 96), (7, 256), (2, 1024), (33, 64))


def to_drop(rng: np.random.Generator, n: int) -> dict:
    return {
        "x": floats(rng, n),
        "y": empty(n),
        "keep": np.float32(0.7),
        "seed": np.uint64(2024),
        "offset": np.uint64(8),
        "n": np.int32(n),
    }


def dropped(given: Given) -> dict:
    x, keep = given["x"], given["keep"]
    mask = PHILOX["kept"](x.size, keep, int(given["seed"]), int(given["offset"]))
    return {"y": np.where(mask, x / keep, 0)}


def as_large_as_one(given: Given, rng: np.random.Generator) -> Given:
    """keep is the number of an element in the middle, which is not below it."""
    group = np.array([given["x"].size // 8])
    bits = PHILOX["philox"](int(given["seed"]), group, int(given["offset"]) // 4)
    return {"keep": PHILOX["uniform"](bits)[0, 0]}


DROPOUT_ANYWHERE = Exercise(
    id="07.dropout_anywhere",
    title="the same mask for every launch",
    task="""
The gradient's kernel must drop what the way forward dropped, also with another grid. Let element i
take its random number by its own place: number i % 4 of Philox block (subsequence i / 4, offset /
4). One call of `philox` gives four elements their numbers. Any grid, any block, any n, any finite
x; seed and offset have 64 bits, and offset is a multiple of 4.
""",
    source="07_pytorch_extensions/exercises/dropout_anywhere.cu",
    kernel="dropout_anywhere",
    inputs=to_drop,
    reference=dropped,
    launch=lambda n: Launch((-(-n // 1024),), (256,)),
    small=(1000, 257, 31, 1),
    full=1 << 24,
    promises=Promises(
        sizes=promises.shapes(n=(1, 2, 3, 4, 5, 31, 33, 127, 769, 1025, 4099)).with_longest(
            n=32_771
        ),
        launches=ANY_LAUNCH,
        values=(
            promises.data("x", *promises.ANY_FINITE, promises.HUGE),
            promises.scalars("seed", 0, 1, (1 << 40) + 3, (1 << 64) - 99),
            promises.scalars("offset", 0, 4, 1 << 36, (1 << 63) + 8),
            (
                *promises.scalars("keep", 0.1, 0.5, 1.0),  # last: it may depend on the two above
                Values("keep as large as an element's number", as_large_as_one),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(2.0, size=1024),
        means.instructions(
            "upper halves of products (two a round, ten rounds a block of four)",
            "mul.hi",
            at_least=18 * 256,
            at_most=22 * 256,
            advice="One call of `philox` is enough for four neighbours, and no fewer.",
            size=1024,
        ),
    ),
    within=2.0,
    hints=(
        "A turn of the loop is a group of four elements: `4 * group < n`.",
        "The subsequence is the group, not the thread, and the block is the same for all.",
        "The last group may be cut off: test `4 * group + j < n` for each of its four.",
    ),
    explanation="""
A generator with a state ties the numbers to the thread that draws them. Philox takes a counter, so
they belong to the element. PyTorch's own dropout counts by threads and turns: its mask depends on
how large a grid it chose, which depends on the GPU.
""",
    mutants=(
        mutant("by the thread", kinds.WRONG, ("philox(seed, group,", "philox(seed, thread,")),
        mutant("offset forgotten", kinds.WRONG, ("group, offset / 4)", "group, 0)")),
        mutant("offset whole", kinds.WRONG, ("group, offset / 4)", "group, offset)")),
        mutant(
            "offset in 32 bits", kinds.WRONG, ("group, offset / 4)", "group, (unsigned)offset / 4)")
        ),
        mutant(
            "seed in 32 bits", kinds.WRONG, ("philox(seed, group", "philox((unsigned)seed, group")
        ),
        mutant(
            "offset with a sign",
            kinds.WRONG,
            ("group, offset / 4)", "group, (long long)offset / 4)"),
        ),
        mutant("keeps what is as large", kinds.WRONG, ("< keep ?", "<= keep ?")),
        mutant(
            "a mask that multiplies",
            kinds.NOT_A_NUMBER,
            (
                "uniform(each[j]) < keep ? x[i] / keep : 0.0f",
                "(uniform(each[j]) < keep ? 1.0f : 0.0f) * (x[i] / keep)",
            ),
        ),
        mutant("one number for four", kinds.WRONG, ("uniform(each[j])", "uniform(each[0])")),
        mutant("in the other order", kinds.WRONG, ("uniform(each[j])", "uniform(each[3 - j])")),
        mutant("not scaled", kinds.SCALED, ("? x[i] / keep", "? x[i]")),
        mutant("drops what it should keep", kinds.WRONG, ("< keep ?", ">= keep ?")),
        mutant(
            "half of it",
            kinds.SCALED,
            (
                "uniform(each[j]) < keep ? x[i] / keep : 0.0f",
                "(uniform(each[j]) < keep) * (x[i] / keep) * 0.5f",
            ),
        ),
        mutant(
            "no loop",
            kinds.FIRST_BLOCK,
            (
                "for (int group = thread; 4 * group < n; group += threads)",
                "if (int group = thread; 4 * group < n)",
            ),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, (" && 4 * group + j < n", "")),
        mutant(
            "a call for each",
            kinds.MEANS_MISSING,
            (
                "for (int group = thread; 4 * group < n; group += threads) {",
                "for (int g = thread; g < n; g += threads) {\n        int group = g / 4;",
            ),
            ("int j = 0; j < 4 && 4 * group + j < n; ++j", "int j = g % 4; j == g % 4; ++j"),
        ),
    ),
)
