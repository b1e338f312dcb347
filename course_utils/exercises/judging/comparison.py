"""Is a result right? Inputs must be unchanged, and outputs must agree with the reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...checking import judge
from ...checking.error_kinds import Slip
from ...checking.tolerance import is_far
from ...checking.verdict import Verdict, format_value
from ...compiling import signature
from ..authoring import kinds
from ..authoring.launches import Empty
from ..authoring.spec import KernelExercise
from .outcome import simple

OTHER_CALL = (
    "The test calls this cell's code in another way than the cell's own kernel does: which "
    "part of it holds for that one call alone?"
)
RESULT_READ = (
    "A kernel of the test counted this in the output of yours: which thread stores it, and where?"
)
Stored = Callable[[], Mapping[str, np.ndarray]]
VECTOR = re.compile("_*[a-z]+([234])")  # float2, __half2, int4


def compared(
    exercise: KernelExercise,
    arrays: Mapping[str, Any],
    before: Mapping[str, np.ndarray],
    given: Mapping[str, Any],
    size: Any,
    zeros: bool = True,
    poisoned: bool = True,
    stored: Stored | None = None,
) -> Verdict:
    """The verdict on the ``arrays`` that the launches left, on the host or on a GPU.

    ``before`` is the content of each array ahead of the launches, ``given`` the inputs that the
    reference gets. With ``zeros`` the reference may be all zeros. ``poisoned``: outputs held values
    that no kernel computes. ``stored`` gives for each array the elements that a thread stored to,
    bool, its shape. It's called where an array that had values holds some of them still. None where
    that isn't known, as on a GPU.
    """
    expected = exercise.expected(given)
    for name, array in arrays.items():
        if name in before and name not in expected and _bytes(array) != before[name].tobytes():
            return simple(kinds.INPUT_CHANGED, f"the kernel wrote to its input {name}.")

    def judged(name: str, now_stored: np.ndarray | None = None) -> Verdict:
        return judge(
            arrays[name],
            expected[name],
            name=name,
            reduction=exercise.reduction(size),
            initial=before[name],
            zeros=zeros,
            poisoned=poisoned and isinstance(given[name], Empty),
            exact=exercise.exact,
            axes=exercise.axes.get(name, ()),
            order="F" if name in exercise.by_columns else "C",
            inputs=inputs_beside(exercise, given, name, size),
            stored=now_stored,
        )

    verdicts = (judged(name) for name, want in expected.items() if np.size(want))
    wrong = next((v for v in verdicts if not v.passed), None)
    if wrong is not None and wrong.unwritten and not isinstance(given[wrong.name], Empty):
        name = wrong.name
        if stored is not None:
            wrong = judged(name, stored()[name])
        elif wrong.kind != kinds.NOTHING_WRITTEN:  # an old value may have been stored again
            wrong = judged(name, np.ones(before[name].shape, bool))
    if wrong is None:
        return simple(kinds.PASS, "every output is right.")
    if wrong.name in exercise.probed:
        return _of_probe(exercise, wrong, size, set(expected))
    if wrong.kind == kinds.NOTHING_WRITTEN and not isinstance(given[wrong.name], Empty):
        return replace(wrong, message=f"{wrong.name} is as it was before the launch.")
    both = arrays[wrong.name], expected[wrong.name]
    wrong = _of_members(exercise, wrong, *both, size)
    wrong = _as_complex(exercise, wrong, *both, size)
    return _with_member(exercise, wrong)


def inputs_beside(
    exercise: KernelExercise, given: Mapping[str, Any], output: str, size: Any = None
) -> dict[str, Any]:
    """The inputs by the name that a verdict on ``output`` gives them, without the extents, which
    the trial's label has. The content of ``output`` before the launch is ``old y``. A matrix stored
    by columns is here by rows. ``size``: of launches, and then only the inputs that one of them
    gets together with ``output``."""
    launches = () if size is None else exercise.launches(size)
    together = [set(x.arguments or given) for x in launches if output in (x.arguments or given)]
    beside = set().union(*together) if together else set(given)
    sizes = exercise.contract.sizes if exercise.contract else None
    left_out = {
        *(sizes.names if sizes else ()),
        *(exercise.worked.hidden if exercise.worked else ()),
    }
    return {
        f"old {name}" if name == output else name: value.T if name in exercise.by_columns else value
        for name, value in given.items()
        if not isinstance(value, Empty) and name in beside - left_out
    }


def _of_probe(exercise: KernelExercise, wrong: Verdict, size: Any, outputs: set[str]) -> Verdict:
    """``wrong`` in the words of the cell, about a finding of the course's own kernel: in a call of
    the cell's code, or in the cell's other outputs."""
    launch = next(x for x in exercise.launches(size) if wrong.name in (x.arguments or ()))
    stored = outputs.difference(exercise.probed).intersection(launch.arguments or ())
    hint = RESULT_READ if stored else OTHER_CALL
    told = exercise.probed[wrong.name](*(wrong.first.index if wrong.first else (0,)))
    if wrong.first is None or wrong.kind == kinds.NOTHING_WRITTEN:
        return simple(wrong.kind, f"{told}: nothing comes of it.", hint=hint)
    expected, got = format_value(wrong.first.expected), format_value(wrong.first.got)
    message = f"{told}: expected {expected}, got {got}."
    return simple(kinds.WRONG, message, hint=hint)


def _bytes(array: Any) -> bytes:
    """The bytes of an array, which may be CuPy's."""
    host = array.get() if hasattr(array, "get") else array
    return bytes(host.tobytes())


def contradicts(wrong: Verdict, of_case: Verdict) -> bool:
    """Whether ``of_case``, the verdict on a case of small numbers, is about more than the loss of
    precision that ``wrong`` speaks of."""
    first = of_case.first
    if wrong.kind != kinds.PRECISION or of_case.kind == kinds.PRECISION or first is None:
        return False
    return is_far(first.got, first.expected)


def with_sign(wrong: Verdict, of_case: Verdict) -> Verdict:
    """``wrong`` with the slip of ``of_case``, the verdict on a case of few numbers, where that's a
    sign. Of many numbers some are sums of right and wrong terms."""
    if wrong.slip is not None or of_case.slip not in (Slip.WRONG_SIGN, Slip.EXPONENT_SIGN):
        return wrong
    return replace(wrong, slip=of_case.slip, hint=of_case.hint)


def members_of(exercise: KernelExercise) -> dict[str, int]:
    """How many numbers an element of each array has whose type is float2, float4 or alike."""
    found = {}
    for kernel in signature.kernels(exercise.solution).values():
        for parameter in kernel.parameters:
            if vector := VECTOR.fullmatch(parameter.c_type):
                found[parameter.name] = int(vector[1])
    return found


def wrong_members(
    exercise: KernelExercise, name: str, got: Any, expected: Any, size: Any
) -> tuple[int, ...]:
    """Which numbers of an element are wrong somewhere in the array ``name``, whose type is float2,
    float4 or alike: 0 for x. Nothing for an array of single numbers."""
    members = members_of(exercise).get(name)
    want = np.asarray(expected)
    if members is None or want.ndim != 1 or want.size % members:
        return ()
    host = got.get() if hasattr(got, "get") else np.asarray(got)
    parts = [
        judge(
            np.ascontiguousarray(host.reshape(-1)[at::members]),
            np.ascontiguousarray(want[at::members]),
            name=name,
            reduction=exercise.reduction(size),
            exact=exercise.exact,
            zeros=True,
        )
        for at in range(members)
    ]
    return tuple(at for at, part in enumerate(parts) if not part.passed)


def _of_members(
    exercise: KernelExercise, wrong: Verdict, got: Any, expected: Any, size: Any
) -> Verdict:
    """``wrong`` without another index as its slip where an element has several numbers, and some of
    them are right everywhere: an index moves all of an element."""
    if wrong.slip not in (Slip.ELSEWHERE, Slip.OUT_OF_ORDER):
        return wrong
    members = members_of(exercise).get(wrong.name, 1)
    which = wrong_members(exercise, wrong.name, got, expected, size)
    if not 0 < len(which) < members:
        return wrong
    bad = " and ".join(f".{'xyzw'[at]}" for at in which)
    good = " and ".join(f".{'xyzw'[at]}" for at in range(members) if at not in which)
    message = f"the {bad} of {wrong.name}'s elements is wrong, the {good} of all is right."
    return replace(wrong, message=message, slip=None, hint=kinds.NEXT_STEP[kinds.WRONG])


def _as_complex(
    exercise: KernelExercise, wrong: Verdict, got: Any, expected: Any, size: Any
) -> Verdict:
    """``wrong`` with the sign of an exponent as its slip where the array is of float2, and its
    complex numbers show that."""
    want = np.asarray(expected)
    of_pairs = members_of(exercise).get(wrong.name) == 2 and want.dtype == np.float32
    if not of_pairs or wrong.kind != kinds.WRONG or wrong.slip is not None or want.size % 2:
        return wrong
    host = got.get() if hasattr(got, "get") else np.asarray(got)
    pairs = [np.ascontiguousarray(each).view(np.complex64) for each in (host, want)]
    seen = judge(*pairs, name=wrong.name, reduction=exercise.reduction(size), zeros=True)
    if seen.slip is not Slip.EXPONENT_SIGN:
        return wrong
    return replace(wrong, message=seen.message, hint=seen.hint, slip=seen.slip)


def _with_member(exercise: KernelExercise, wrong: Verdict) -> Verdict:
    """``wrong``, and the first wrong member if the array's type is float2, float4 or alike."""
    members = members_of(exercise).get(wrong.name)
    if members is None or wrong.first is None or len(wrong.first.index) != 1:
        return wrong
    at, member = divmod(wrong.first.index[0], members)
    first = replace(wrong.first, member=f"{wrong.name}[{at}].{'xyzw'[member]}")
    return replace(wrong, first=first)
