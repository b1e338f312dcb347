"""Attention on wgmma: what the assembler makes of it, and the counter that hands out the work."""

import itertools
import re

import numpy as np
import pytest

from course_utils import cp
from course_utils.benchmarks.cases.hopper_attention import (
    CHAPTER,
    attention_call,
    backward_calls,
    dq_sums,
)
from course_utils.benchmarks.cases.pytorch_extensions.attention import attention
from course_utils.benchmarks.harness.arrays import double, normal
from course_utils.benchmarks.harness.float_bits import from_bf16, to_bf16
from course_utils.benchmarks.harness.sass import listing
from course_utils.errors import LessonError

HELD = "Function properties|bytes stack|Used|Compil|gmem|^$"  # lines of ptxas that warn of nothing


@pytest.mark.parametrize(
    ("name", "defines"),
    [
        ("attention_overlap", {}),
        ("attention_hopper", {"CAUSAL": 1}),
        ("attention_backward", {"CAUSAL": 0}),
        ("attention_backward", {"CAUSAL": 1}),
    ],
)
def test_the_assembler_spills_nothing_and_serialises_no_product(name, defines):
    module = CHAPTER.kernel(name, "sm_90a", **defines).module
    log = module.compiled("sm_90a", "--ptxas-options=-v").log
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in log
    assert [line for line in log.splitlines() if not re.search(HELD, line)] == []


def instructions(name, **defines):
    module = CHAPTER.kernel(name, "sm_90a", **defines).module
    try:
        return listing(module.compiled("sm_90a", "--ptxas-options=-v").cubin)
    except LessonError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("causal", [0, 1])
def test_descriptors_come_from_uniform_registers(causal):
    """Nothing is moved there between one product and the next, but perhaps at the very first."""
    lines = instructions("attention_hopper", CAUSAL=causal)
    products = [i for i, line in enumerate(lines) if "HGMMA.64x128x16" in line]
    between = [lines[i:j] for i, j in itertools.pairwise(products) if j - i < 30]
    assert len(between) > 40
    assert sum("R2UR" in line for part in between[1:] for line in part) == 0


def test_the_assembler_leaves_the_exponentials_under_the_second_product():
    """Between the wait for the scores and that for the output stand those of 64 scores a thread."""
    lines = instructions("attention_overlap")
    begin = next(i for i, line in enumerate(lines) if "DEPBAR.LE gsb0, 0x1" in line)
    end = next(i for i in range(begin, len(lines)) if "DEPBAR.LE gsb0, 0x0" in lines[i])
    assert sum("MUFU.EX2" in line for line in lines[begin:end]) >= 64


def test_the_counter_of_works_is_0_again_after_a_launch():
    """Three blocks take fourteen works, and so does the next launch."""
    q, k, v = (to_bf16(normal((1, 130, 7, 64), seed)) for seed in range(3))
    found = []
    o, lse = cp.empty_like(q), cp.empty((1, 7, 130), cp.float32)
    call = attention_call("attention_hopper", q, k, v, o, lse, BN=64)
    (taken,) = (x for x in call.args if getattr(x, "shape", None) == (1,) and x.dtype == np.int32)
    for _ in range(2):
        o.fill(0xFFFF)
        call()
        found.append(cp.asnumpy(o).copy())
        assert int(taken[0]) == 0
    assert np.array_equal(*found) and not (found[0] == 0xFFFF).any()


def test_the_backward_pass_can_run_again_as_it_left_its_sums_and_counter():
    """Three blocks take four works. The sums of dQ need not be zeros, the counter is 0 again."""
    shape = 1, 3, 4, 64
    q, k, v, do = (to_bf16(normal(shape, seed)) for seed in range(4))
    o, lse = cp.empty_like(q), cp.empty((1, 4, 3), cp.float32)
    attention_call("attention_hopper", q, k, v, o, lse, BN=64)()
    gradients, found = cp.empty((3, *shape), np.uint16), []
    calls = backward_calls((q, k, v, o, do, lse), dq_sums(shape), tuple(gradients))
    (taken,) = (x for x in calls[1].args if getattr(x, "dtype", None) == np.int32 and x.shape)
    for _ in range(2):
        gradients.fill(0xFFFF)
        for call in calls:
            call()
        found.append(cp.asnumpy(from_bf16(gradients)).astype(np.float64))
        assert int(taken[0]) == 0
    assert np.allclose(*found, rtol=2**-7, atol=2**-10)


@pytest.mark.parametrize("causal", [False, True])
def test_scores_that_outgrow_their_room_are_right(causal):
    """Each tile of keys has larger scores than those met before it, by more than 2^8."""
    growth = cp.asarray(np.linspace(60, 1, 150, dtype=np.float32)[:, None, None])
    q, k, v = (to_bf16(normal((150, 1, 64), seed) * x) for seed, x in enumerate((1, growth, 1)))
    o, lse = cp.empty_like(q), cp.empty((1, 1, 150), cp.float32)
    parts = (x.reshape(1, 150, 1, 64) for x in (q, k, v, o))
    attention_call("attention_hopper", *parts, lse, causal, BN=32)()
    exact, exact_lse = map(
        cp.asnumpy, attention(*(double(from_bf16(x))[:, 0] for x in (q, k, v)), causal)
    )
    assert np.allclose(cp.asnumpy(from_bf16(o))[:, 0], exact, rtol=2**-7, atol=2**-6)
    assert np.allclose(cp.asnumpy(lse)[0, 0], exact_lse, rtol=1e-5)


def test_very_small_sums_of_exponentials_leave_no_nan_past_the_last_key():
    """133 keys, and scores of about -100: the weight of a key past the end would be exp(100)."""
    shape = 1, 133, 1, 64
    q, k, v, do = (
        to_bf16(normal(shape, seed) * 0.3 + shift) for seed, shift in enumerate((3.5, -3.5, 0, 0))
    )
    o, lse = cp.empty_like(q), cp.empty((1, 1, 133), cp.float32)
    attention_call("attention_hopper", q, k, v, o, lse, BN=64)()
    gradients = cp.full((3, *shape), 0xFFFF, np.uint16)
    for call in backward_calls((q, k, v, o, do, lse), dq_sums(shape), tuple(gradients)):
        call()
    assert np.isfinite(cp.asnumpy(from_bf16(gradients))).all()
