"""From a wrong array to the mistake that most likely made it.

Each function of the modules here tests one hypothesis and answers with a
:class:`~course_utils.checking.evidence.Diagnosis`, or None. One that explains more comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .. import error_kinds as kinds
from ..error_kinds import Slip
from ..evidence import Diagnosis, Evidence
from . import (
    arrangement,
    formulas,
    in_common,
    matrix_products,
    partial_sums,
    reach,
    repeated,
    where_wrong,
    whole,
)

HYPOTHESES: tuple[Callable[[Evidence], Diagnosis | None], ...] = (
    whole.untouched,
    whole.from_unwritten,
    whole.zero,
    whole.not_a_number,
    repeated.stuck,
    arrangement.conjugated,
    arrangement.half_spectrum,
    arrangement.transposed,
    arrangement.reversed_,
    arrangement.shifted,
    arrangement.rolled,
    repeated.added_again,
    whole.scaled,
    matrix_products.product,
    whole.imprecise,
    reach.reached,
    partial_sums.tree_of_block,
    where_wrong.off_diagonal,
    where_wrong.edges,
    where_wrong.short_index,
    where_wrong.first_block,
    where_wrong.partly_written,
    partial_sums.terms_missing,
)


def classify(e: Evidence) -> Diagnosis:
    """The kind of mistake and a sentence about it. Something must be wrong."""
    with np.errstate(all="ignore"):  # of infinite, NaN and the largest numbers
        return _first_that_holds(e)


def _first_that_holds(e: Evidence) -> Diagnosis:
    found = next(filter(None, (test(e) for test in HYPOTHESES)), None)
    if found is not None and not in_common.is_located(found.kind):
        return found
    if found is not None and (
        found.slip not in (None, Slip.FIRST_LINES) or e.unwritten[e.wrong].all()
    ):
        return found
    if found is None and (exchanged := formulas.min_for_max(e)) is not None:
        return exchanged
    shared = in_common.shared(e)
    if found is None and shared is None:
        tests = (
            matrix_products.same_eigenvalues,
            formulas.function_of,
            formulas.factor_per_line,
            formulas.one_too_many,
        )
        found = next(filter(None, (test(e) for test in tests)), None)
    if found is None:
        found = in_common.describe_wrong(e)
        return found if shared is None else replace(found, message=shared[0], slip=shared[1])
    if shared is None:
        return found
    sentence, slip = shared
    if found.kind == kinds.EDGES and slip is Slip.SAME_FACTOR:
        slip = Slip.EDGES_COUNTED_TWICE
    message = f"{found.message} {sentence[0].upper()}{sentence[1:]}"
    return replace(found, message=message, slip=slip)
