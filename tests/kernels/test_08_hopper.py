"""The rungs of the Hopper product: what they count, and how long the emulator takes."""

import time
from dataclasses import replace

import numpy as np
import pytest
from launchers import run

from course_utils import cp, load, profile
from course_utils.benchmarks.cases.hopper import CHAPTER, RUNGS, hopper_call
from course_utils.benchmarks.cases.matmul import Bf16Work
from course_utils.benchmarks.harness.arrays import normal
from course_utils.benchmarks.harness.float_bits import from_bf16, to_bf16
from course_utils.benchmarks.harness.sass import listing
from course_utils.devices.selection import ON_GPU
from course_utils.errors import LessonError
from course_utils.paths import KERNELS, kernel_file
from tests.turns import in_turn


def product(rung, m, n, k, cluster=None):
    a, b, c = to_bf16(normal((m, k))), to_bf16(normal((n, k), 1)), cp.empty((m, n), np.uint16)
    call = hopper_call(rung, a, b, c, cluster=cluster or RUNGS[rung].cluster)

    def expected():
        return from_bf16(a).astype(np.float64) @ from_bf16(b).astype(np.float64).T

    return Bf16Work((call,), c, expected, rtol=2**-8, atol=k * 2**-20)


def counts_of(rung):
    """What the rung does for 256 x 256 results and K = 128: two tiles, or those of one cluster."""
    (call,) = product(rung, 256, 256, 128).launches
    return profile(call.kernel, call.grid, call.block, call.args, shared_mem=call.shared_mem).counts


def test_a_cluster_loads_the_tile_of_b_once():
    alone, shared = counts_of("gemm_persistent"), counts_of("gemm_multicast")
    tile_a, tile_b, steps = 128 * 64 * 2, 256 * 64 * 2, 2
    assert alone.bulk_global_load_bytes == steps * 2 * (tile_a + tile_b)
    assert shared.bulk_global_load_bytes == steps * (2 * tile_a + tile_b)


def test_sums_leave_through_shared_memory_without_bank_conflicts():
    counts, before = counts_of("gemm_hopper"), counts_of("gemm_multicast")
    assert before.global_store_sectors == 2 * before.global_store_bytes // 32
    assert counts.bulk_global_store_bytes == 256 * 256 * 2
    assert counts.global_store_bytes == counts.shared_store_conflicts == 0


@pytest.mark.parametrize(
    "cluster, k",
    [
        pytest.param(cluster, k, marks=in_turn(place + cluster))
        for place, k in enumerate([8, 72, 200])
        for cluster in (1, 2)
    ],
)
def test_a_block_stores_a_tile_while_it_has_the_next(cluster, k):
    """More tiles than the emulator's blocks, and fewer steps than there are to store in. It takes
    two seconds: each turn has both clusters, with another k each."""
    run(product("gemm_hopper", 500, 520, k, cluster))


@pytest.mark.parametrize("k, blocks", [(8, 1), (392, 3)])
def test_groups_have_their_tiles_in_turn(k, blocks):
    """A block with five tiles, blocks with one and with two; fewer steps than stages, and more."""
    work = product("gemm_ping_pong", 100, 600, k)
    run(replace(work, launches=(replace(work.launches[0], grid=blocks),)))


IN_TURN = "if (lane == 0) {\n            mbarrier_arrive(turn + (1 - group) * 8);\n        }\n"
OUT_OF_TURN = {
    "one turn early": ("(number - 1) / 2 % 2);", "number / 2 % 2);"),
    "passed on before the products": (IN_TURN, ""),
}


@pytest.mark.skipif(ON_GPU, reason="about what the emulator finds")
@pytest.mark.parametrize("how", OUT_OF_TURN)
def test_groups_out_of_turn_are_found(how):
    """A block with three tiles, and more steps than stages, so that a phase may be taken for the
    one after the next."""
    path = KERNELS / kernel_file("gemm_ping_pong", CHAPTER.folder)
    source = path.read_text(encoding="utf-8")
    old, new = OUT_OF_TURN[how]
    assert source.count(old) == 1
    source = source.replace(old, new)
    if not new:
        source = source.replace("        float sum[2]", f"        {IN_TURN}        float sum[2]")
    work = product("gemm_ping_pong", 100, 304, 392)
    kernel = load(source=source, filename=path.name, arch="sm_90a").kernel
    with pytest.raises(AssertionError, match="Data race"):
        run(replace(work, launches=(replace(work.launches[0], kernel=kernel, grid=1),)))


def test_the_assembler_leaves_the_stores_of_a_tile_under_the_products_of_the_next():
    """All of its 16 stores by stmatrix stand between products and the wait for them."""
    module = CHAPTER.kernel("gemm_hopper", "sm_90a").module
    compiled = module.compiled("sm_90a", "--ptxas-options=-v")
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in compiled.log
    assert "serialized" not in compiled.log
    try:
        lines = listing(compiled.cubin)
    except LessonError as error:
        pytest.skip(str(error))
    begin = next(i for i, line in enumerate(lines) if "HGMMA" in line)
    end = next(i for i in range(begin, len(lines)) if "WARPGROUP.DEPBAR" in lines[i])
    assert sum("STSM" in line for line in lines[begin:end]) == 16


@pytest.mark.skipif(ON_GPU, reason="about the emulator's time")
def test_the_last_rung_at_256_is_checked_in_less_than_five_seconds():
    work = product("gemm_hopper", 256, 256, 256)
    start = time.process_time()
    run(work)
    assert time.process_time() - start < 5
