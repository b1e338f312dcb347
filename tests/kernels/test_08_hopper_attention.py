"""Attention on wgmma: what the assembler makes of it, and the counter that hands out the work."""

import re

import numpy as np
import pytest

from course_utils import cp, load
from course_utils.benchmarks.case import normal
from course_utils.benchmarks.cases.hopper_attention import CHAPTER, attention_call
from course_utils.benchmarks.cases.matmul import to_bf16
from course_utils.paths import kernel_file

HELD = "Function properties|bytes stack|Used|Compil|gmem|^$"  # lines of ptxas that warn of nothing


@pytest.mark.parametrize("name", ["attention_overlap", "attention_hopper", "attention_backward"])
def test_the_assembler_spills_nothing_and_serialises_no_product(name):
    defines = {"CAUSAL": 1} if name != "attention_overlap" else {}
    module = load(kernel_file(name, CHAPTER), defines=defines, arch="sm_90a").kernel.module
    log = module.compiled("sm_90a", "--ptxas-options=-v").log
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in log
    assert [line for line in log.splitlines() if not re.search(HELD, line)] == []


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
