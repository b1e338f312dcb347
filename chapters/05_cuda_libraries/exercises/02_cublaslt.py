"""The exercises of "cuBLASLt"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

# --- A list, read ---

PLACES = {"again": (1, 2, 3), "waves": (5,), "split": (6, 7)}  # of the page's report


def as_read(function: Callable[[], Any]) -> tuple[str, ...] | None:
    """Each question, and whether its places are right."""
    found = function()
    if found is None:
        return None
    if not isinstance(found, dict):
        raise LessonError('return a dictionary, such as {"again": [1], "waves": [], "split": []}')
    return tuple(
        f"{name}: {'right' if tuple(sorted(found.get(name, ()))) == places else 'not yet'}"
        for name, places in PLACES.items()
    )


READ_LIST = PythonExercise(
    cases=((),),
    reference=lambda: tuple(f"{name}: right" for name in PLACES),
    call=as_read,
    start="Take one column at a time: first the workspace, then the milliseconds, then the waves.",
    contract="There is one report to read.",
)

# --- An epilogue that remembers ---


def to_activate(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    rows, columns = size
    return {
        "x": floats(rng, (rows, columns)),
        "bias": floats(rng, columns),
        "y": empty((rows, columns)),
        "mask": empty((rows, ceil_div(columns, 128) * 4), np.uint32),
        **int32s(rows=rows, columns=columns),
    }


def activated(given: Given) -> dict[str, np.ndarray]:
    value = given["x"] + given["bias"]  # in fp32: the sign is that of the rounded sum
    bits = np.zeros((len(value), given["mask"].shape[1] * 32), np.uint8)
    bits[:, : value.shape[1]] = value > 0
    words = np.packbits(bits, axis=1, bitorder="little").view("<u4")
    return {"y": np.where(value > 0, value, 0), "mask": words}


MASK_SIZE = 3, 200

RELU_MASK = KernelExercise(
    inputs=to_activate,
    reference=activated,
    launch=lambda size: Launch((ceil_div(size[1], 128), size[0]), (128,)),
    small=((3, 200), (2, 128), (1, 33), (5, 1), (1, 1)),
    worked=Worked(whole=("bias",)),
    full=(8192, 8192),
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 2, 7, 40), columns=(1, 31, 32, 33, 127, 129, 300)
        ).with_outlier(rows=16_411, columns=4099),
        values=(
            domain.data(
                "x",
                domain.NEGATIVE,
                domain.POSITIVE,
                domain.TIES,
                domain.LARGE,
                domain.SOME_INFINITE,
                domain.SOME_NAN,
            ),
            (
                InputClass("as drawn", lambda given, rng: {}),
                *domain.data("x bias", domain.FAINTEST)[1:],
                InputClass(
                    "x = -bias or just above", lambda given, rng: sums_about_zero(given, rng)
                ),
            ),
        ),
    ),
    method=(
        Requirement(
            "bytes stored, over those of y and the mask",
            lambda stats: stats.counts.global_store_bytes / stats.result_bytes,
            at_most=1.0,
            advice="One lane of each warp stores the word of all 32.",
            size=MASK_SIZE,
        ),
        method.atomics(
            "global",
            at_most=0,
            advice="The bits of a word come from one warp, whose lanes can vote.",
            size=MASK_SIZE,
        ),
        method.balanced_work(size=MASK_SIZE),
    ),
)


def sums_about_zero(given: Given, rng: np.random.Generator) -> Given:
    """x is -bias in two columns of three: a sum of 0 in one, the least above 0 in the other."""
    x = given["x"].copy()
    x[:, ::3] = -given["bias"][::3]
    x[:, 1::3] = np.nextafter(-given["bias"][1::3], np.float32(np.inf))
    return {"x": x}
