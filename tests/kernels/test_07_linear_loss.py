"""The loss without logits: the memory that it writes, what the assembler makes, and refusals."""

import numpy as np
import pytest

from course_utils import cp, profile
from course_utils.benchmarks.cases.pytorch_extensions import linear_cross_entropy as head
from course_utils.errors import LessonError
from tests import turns

KERNELS = "logit_pairs", "logit_gradients", "token_gradients", "word_gradients"


def test_eight_bytes_are_stored_for_a_token_and_256_words():
    tokens, words = 20, 300
    x, w, target = head.inputs_of((tokens, 16, words))
    call, _ = head.loss_calls(x, w, target, *(cp.empty(tokens, np.float32) for _ in range(2)))
    counts = profile(
        call.kernel, call.grid, call.block, call.args, shared_mem=call.shared_mem
    ).counts
    counted = int((target != head.IGNORED).sum())  # tokens whose target's logit is kept
    assert counts.global_store_bytes == 8 * 2 * tokens + 4 * counted
    assert counts.bulk_global_store_bytes == 0


def test_gradients_of_a_chunk_are_stored_once_and_its_logits_never():
    n = 20, 16, 304
    *before, call, _, _ = head.work_on(head.recomputed_calls, n, head.inputs_of(n)).launches
    assert call.kernel.name == "logit_gradients"
    for each in before:
        each()
    counts = profile(
        call.kernel, call.grid, call.block, call.args, shared_mem=call.shared_mem
    ).counts
    assert counts.bulk_global_store_bytes == 2 * n[0] * n[2]
    assert counts.global_store_bytes == counts.shared_store_conflicts == 0


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=turns.in_turn(place)) for place, x in enumerate(KERNELS)]
)
def test_no_register_is_spilled_and_no_product_waits_for_the_one_before(name):
    module = head.CHAPTER.kernel(name, "sm_90a").module
    log = module.compiled("sm_90a", "--ptxas-options=-v").log
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in log
    assert "serialized" not in log


def test_logits_in_memory_want_rows_of_whole_16_bytes():
    """Nine words are refused by the chunks of logits, and welcome where none are stored."""
    n = 4, 8, 9
    with pytest.raises(LessonError, match="16"):
        head.work_on(head.chunked_calls, n, head.inputs_of(n))
    assert head.work_on(head.recomputed_calls, n, head.inputs_of(n)).launches
