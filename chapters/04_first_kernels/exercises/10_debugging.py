"""The exercises of "Debugging"."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from course_utils import ceil_div, cp, load, sanitize
from course_utils.checking import difference
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.claims import Claim
from course_utils.exercises.authoring.domain import Domain, Given
from course_utils.exercises.authoring.launches import empty, floats
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.vectors import BLOCK, FULL, SMALL, one_thread_each
from course_utils.exercises.authoring.worked import Worked


def smoothed(given: Given) -> dict[str, np.ndarray]:
    """The mean of three neighbours, with the ends repeated."""
    x = np.pad(given["x"].astype(np.float64), 1, mode="edge")
    return {"y": (x[:-2] + x[1:-1] + x[2:]) / 3}


FIND_THE_EDGE = KernelExercise(
    source="04_first_kernels/exercises/smooth.cu",
    kernel="smooth",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=smoothed,
    launch=one_thread_each,
    small=SMALL,
    worked=Worked(size=5, values={"x": (3, 6, -3, 9, 12)}),  # means 4, 2, 4, 6 and 11
    full=FULL,
    bug=kinds.OUT_OF_BOUNDS,
    contract=Domain(
        sizes=domain.lengths(),
        values=(domain.data("x", *domain.ANY_FINITE, domain.SOME_NAN, domain.LAST_INFINITE),),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=1024),
        method.balanced_loads(size=1024),
    ),
)


FIND_THE_GARBAGE = KernelExercise(
    source="04_first_kernels/exercises/block_sums.cu",
    kernel="block_sums",
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "sums": empty(ceil_div(n, BLOCK)),
        "n": np.int32(n),
    },
    reference=lambda given: {
        "sums": np.add.reduceat(given["x"].astype(np.float64), np.arange(0, len(given["x"]), BLOCK))
    },
    launch=one_thread_each,
    small=(1000, 257, 255, 1),
    full=FULL + 1,
    reduction=lambda n: BLOCK,
    bug=kinds.UNINITIALISED,
    contract=Domain(
        sizes=domain.lengths(),
        # Not rising or falling: those sums cancel.
        values=(
            domain.data(
                "x",
                domain.NEGATIVE,
                domain.POSITIVE,
                domain.EQUAL,
                domain.TIES,
                domain.MIDDLING,
                domain.SMALL,
                domain.FAINT,
                domain.LARGE,
                domain.ZEROS,
                domain.SOME_NAN,
                domain.LAST_INFINITE,
            ),
        ),
    ),
    method=(
        method.balanced_loads(size=1024),
        method.reads_each_once(4 * 1024, size=1024),
        # In a tree, thread 0 does six times the work of the others.
        method.balanced_work(20.0, size=1024),
    ),
)


# --- write the test ---

# Finds the largest of n floats and its first index, with one block of 256 threads.
FIRST_MAX = r"""
extern "C" __global__ void KERNEL(const float* x, float* largest, int* index, int n)
{
    __shared__ float best[256];
    __shared__ int where[256];
    const int t = threadIdx.x;
    best[t] = BEGIN;
    where[t] = n;
    for (int i = FIRST; i >= 0 && i < LENGTH; i += STEP) {
        const float v = SEEN(x[i]);
        if (v OVER best[t]) {
            best[t] = v;
            where[t] = i;
        }
    }
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) {
            const float other = best[t + half];
            const bool earlier = TIES && where[t + half] < where[t];
            if (other > best[t] || (other == best[t] && earlier)) {
                best[t] = other;
                where[t] = where[t + half];
            }
        }
        __syncthreads();
    }
    if (t == 0) {
        largest[0] = best[0];
        index[0] = where[0];
    }
}
"""
AS_IT_SHOULD = {
    "BEGIN": "-INFINITY",
    "FIRST": "t",
    "LENGTH": "n",
    "STEP": "256",
    "SEEN": "",
    "OVER": ">",
    "TIES": "true",
}
KERNELS = {  # which of its parts are other ones
    "kernel 1": {"BEGIN": "0.0f"},
    "kernel 2": {},
    "kernel 3": {"LENGTH": "n / 256 * 256"},
    "kernel 4": {"OVER": ">="},
    # Right as well: from the end, where the last that is found is the first.
    "kernel 5": {"FIRST": "n - 1 - t", "STEP": "-256", "OVER": ">="},
    "kernel 6": {"SEEN": "(float)(int)"},
    "kernel 7": {"LENGTH": "min(n, 1024)"},
    "kernel 8": {"TIES": "false"},
}
RIGHT_KERNELS = "kernel 2", "kernel 5"
PASSES, FAILS = "passes the test", "fails the test"
CONTRACT = "An array holds 1 to 2000 finite floats: for anything else no kernel promises a result."


@cache
def first_maxima() -> Any:
    """The kernels, called kernel_1 to kernel_8, from one run of the compiler."""
    texts = []
    for name, other in KERNELS.items():
        text = FIRST_MAX.replace("KERNEL", name.replace(" ", "_"))
        for part, code in (AS_IT_SHOULD | other).items():
            text = text.replace(part, code)
        texts.append(text)
    return load(source="".join(texts), filename="first_max.cu")


def finds(name: str, x: np.ndarray) -> tuple[float, int]:
    """A kernel's answer on ``x``: the largest element, and its index."""
    largest, index = cp.full(1, cp.nan, cp.float32), cp.full(1, -1, cp.int32)
    kernel = getattr(first_maxima(), name.replace(" ", "_"))
    kernel((1,), (256,), (cp.asarray(x, cp.float32), largest, index, np.int32(len(x))))
    return float(largest[0]), int(index[0])


def tested(function: Callable[[], Any], claim: Claim) -> str:
    """Whether a kernel passes the arrays of a test."""
    found = function()
    if not isinstance(found, (list, tuple)) or not 1 <= len(found) <= 3:
        return claim.refuse("not one to three arrays", "Return a list of one to three arrays.")
    passed = True
    for given in found:
        x = np.asarray(given)
        if x.ndim != 1 or x.dtype.kind not in "fiu" or not 1 <= len(x) <= 2000:
            return claim.refuse("an array outside the contract", CONTRACT)
        with np.errstate(over="ignore"):
            x = x.astype(np.float32)
        if not np.isfinite(x).all():
            return claim.refuse("an array outside the contract", CONTRACT)
        passed &= finds(claim.name, x) == (float(x.max()), int(x.argmax()))
    if passed == (claim.name in RIGHT_KERNELS):
        return PASSES if passed else FAILS
    advice = (
        "It's wrong, and none of your arrays shows it. Which of these have none of them: a length "
        "that isn't a multiple of 256, more than 1024 elements, no positive number, fractions, the "
        "largest number twice, with 256 or with any other distance between the two?"
    )
    return claim.refuse(PASSES if passed else FAILS, advice)


TELL_THEM_APART = PythonExercise(
    function="arrays",
    cases=tuple((Claim(name),) for name in KERNELS),
    reference=lambda claim: PASSES if claim.name in RIGHT_KERNELS else FAILS,
    call=tested,
    prepare=lambda: [finds(name, np.ones(1)) for name in KERNELS],
    method=Claim.advice,
    contract="the test is for these kernels",
)


# --- review a change ---

SQUARE_SUMS = """
extern "C" __global__ void KERNEL(const float* x, float* sums, int n)
{
    __shared__ float tile[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * 256 + t;
    tile[t] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) {
            tile[t] += tile[t + half];
        }
        __syncthreads();  // of the loop
    }
    if (t == 0) {
        sums[blockIdx.x] = tile[0];
    }
}
"""
CHANGES = {
    "A": ("const int i = blockIdx.x * 256 + t;", "const short i = blockIdx.x * 256 + t;"),
    "B": (
        "tile[t] = i < n ? x[i] * x[i] : 0.0f;",
        "if (i >= n) { return; } tile[t] = x[i] * x[i];",
    ),
    "C": ("tile[t] += tile[t + half];", "tile[t] += tile[t ^ half];"),
    "D": ("__syncthreads();  // of the loop", "if (half > 32) { __syncthreads(); }"),
    "E": (
        "for (int half = 128; half > 0; half /= 2) {",
        "for (int half = 128; half > 0; half >>= 1) {",
    ),
}
RIGHT_CHANGES = "C", "E"
SHOWN, APPROVED = "a size that shows a fault", "nothing to show"


@cache
def changed_kernels() -> Any:
    """The kernel after each of the changes, called after_A to after_E."""
    texts = [
        SQUARE_SUMS.replace("KERNEL", f"after_{change}").replace(*lines)
        for change, lines in CHANGES.items()
    ]
    return load(source="".join(texts), filename="square_sums.cu")


@cache
def shows(change: str, n: int) -> bool:
    """Whether a check of the emulator, or a sum, shows that the changed kernel is wrong."""
    x = np.random.default_rng(n).standard_normal(n, dtype=np.float32)
    blocks = ceil_div(n, BLOCK)
    sums = cp.full(blocks, cp.nan, cp.float32)
    arguments = cp.asarray(x), sums, np.int32(n)
    kernel = getattr(changed_kernels(), f"after_{change}")
    report = sanitize(kernel, (blocks,), (BLOCK,), arguments, optimised_only=True)
    right = np.add.reduceat(x.astype(np.float64) ** 2, np.arange(0, n, BLOCK))
    return bool(not report.clean or difference(sums.get(), right, rtol=1e-4, atol=1e-8))


def reviewed(function: Callable[[str], Any], claim: Claim) -> str:
    """Whether a size shows that a change is a fault, or an approval is right."""
    n = function(claim.name)
    if n is None:
        if claim.name in RIGHT_CHANGES:
            return APPROVED
        advice = "This change is a fault. Which threads, elements or warps does it treat otherwise?"
        return claim.refuse("an approval", advice)
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= 100_000:
        return claim.refuse(n, "Return an n from 1 to 100,000, or None.")
    if shows(claim.name, int(n)):
        return SHOWN
    if claim.name in RIGHT_CHANGES:
        return claim.refuse(
            f"{n}, where nothing shows",
            "The changed kernel is right with this n. Does it compute another index, or another "
            "order, than before? If it doesn't, approve it, however odd it looks.",
        )
    return claim.refuse(
        f"{n}, where nothing shows",
        "The changed kernel is right with this n, and wrong with another one. What would have to "
        "be larger, or smaller, or no multiple of something?",
    )


REVIEW_THE_CHANGE = PythonExercise(
    function="shows_at",
    cases=tuple((Claim(change),) for change in CHANGES),
    reference=lambda claim: APPROVED if claim.name in RIGHT_CHANGES else SHOWN,
    call=reviewed,
    prepare=lambda: [shows(change, 1) for change in CHANGES],
    method=Claim.advice,
    contract="there are five changes",
)
