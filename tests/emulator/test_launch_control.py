"""Cluster launch control: clusters that are cancelled before they start, and what is misuse."""

import numpy as np
import pytest
from blackwell import fault, module, run
from planted_bugs import _helpers

from course_utils.devices import emulated_cupy
from course_utils.emulator import (
    ALL_CHECKS,
    DATA_RACE,
    DEADLOCK,
    LAUNCH_CONTROL,
    MISALIGNED,
    Cause,
    EmulatedModule,
    KernelFault,
    Options,
    PtxError,
)
from course_utils.launching.modules import load
from course_utils.observing.sanitizing import sanitize

U32 = np.uint32
HELPERS = (
    _helpers()["launch_control"]
    + r"""
__device__ inline void ask_all(void* answer, u64* bar) {
    ASM(TRY ".multicast::cluster::all.b128 [%0], [%1];"
        :: "r"(smem(answer)), "r"(smem(bar)) : "memory"); }
__device__ inline void ask_generic(void* answer, u64* bar) {
    ASM("clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [%0], [%1];"
        :: "l"(answer), "l"(bar) : "memory"); }
__device__ inline uint3 index(const void* answer) {
    uint3 at;
    ASM("{.reg .b128 w; ld.shared.b128 w, [%3];"
        QUERY "get_first_ctaid.v4.b32.b128 {%0, %1, %2, _}, w;}"
        : "=r"(at.x), "=r"(at.y), "=r"(at.z) : "r"(smem(answer)) : "memory");
    return at; }
"""
)
# Each block adds one to its own element, and to that of each block that it cancels.
LOOP = """__shared__ alignas(16) u32 answer[4]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); made(); }
__syncthreads();
u32 mine = blockIdx.x, phase = 0;
for (;;) {
    if (threadIdx.x == 0) { expect(&bar, 16); ask(answer, &bar); }
    if (threadIdx.x == 0) { atomicAdd(&done[mine], 1); by[mine] = blockIdx.x; }
    wait(&bar, phase); phase ^= 1;
    if (!granted(answer)) break;
    mine = index_x(answer);
    fence(); __syncthreads();
}"""
MADE = """__shared__ alignas(16) u32 answer[8]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); made(); }
__syncthreads();
"""
ASK = "if (threadIdx.x == 0) { expect(&bar, 16); ask(answer, &bar); }\nwait(&bar, 0);\n"


def launch(body, grid, block, args, parameters="u32* done, u32* by", **options):
    return run(parameters, body, grid, block, args, before=HELPERS, **options)


def misuse(body, grid=1, block=32, **options):
    args = np.zeros(16, U32), np.zeros(16, U32)
    return fault("u32* done, u32* by", body, grid, block, args, before=HELPERS, **options)


@pytest.mark.parametrize("schedule", ["lockstep", "warps", "lanes"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_block_runs_or_is_cancelled_once(schedule, seed):
    done, by = np.zeros(9, U32), np.full(9, 99, U32)
    result = launch(LOOP, 9, 64, (done, by), checks=ALL_CHECKS, seed=seed, schedule=schedule)
    assert done.tolist() == [1] * 9 and result.findings == []
    started = 3 if schedule == "lockstep" else 4
    assert len(np.unique(by)) == started  # the others were cancelled, and never ran


def test_four_blocks_of_a_large_grid_run_and_take_over_the_others():
    done, by = np.zeros(80, U32), np.full(80, 99, U32)
    launch(LOOP, 80, 32, (done, by))
    assert done.tolist() == [1] * 80 and sorted(set(by.tolist())) == list(range(4))


def test_a_grid_of_one_block_has_none_to_cancel():
    done, by = np.zeros(1, U32), np.zeros(1, U32)
    launch(LOOP, 1, 32, (done, by))
    assert done.tolist() == [1]


def test_blocks_that_nobody_cancels_start():
    """A block that asks once leaves the others to start when it ends."""
    once = MADE + ASK + "atomicAdd(&done[blockIdx.x], 1);\n"
    once += "if (granted(answer) && threadIdx.x == 0) atomicAdd(&done[index_x(answer)], 100);"
    done, by = np.zeros(12, U32), np.zeros(12, U32)
    launch(once, 12, 32, (done, by))
    # 0 to 2 start and cancel 3 to 5; 6 to 8 start then, and cancel 9 to 11
    assert done.tolist() == [32] * 3 + [100] * 3 + [32] * 3 + [100] * 3


def test_the_index_is_that_of_the_grid_in_three_dimensions():
    body = (
        MADE + ASK + "uint3 at = index(answer); done[threadIdx.x] = (at.z * 10 + at.y) * 10 + at.x;"
    )
    body = f"if (blockIdx.x + blockIdx.y + blockIdx.z) return;\n{body}"
    done, by = np.zeros(32, U32), np.zeros(1, U32)
    launch(body, (1, 2, 4), 32, (done, by))
    assert set(done.tolist()) == {100}  # 2 of 8 blocks start, the third is (0, 0, 1)


CLUSTERS = """__shared__ alignas(16) u32 answer[4]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); made(); }
cluster_sync();
u32 mine = blockIdx.x, phase = 0;
for (;;) {
    if (threadIdx.x == 0) {
        expect(&bar, 16);
        if (rank() == 0) ask_all(answer, &bar);
        atomicAdd(&done[mine], 1); by[mine] = blockIdx.x;
    }
    wait(&bar, phase); phase ^= 1;
    if (!granted(answer)) break;
    mine = index_x(answer) + rank();
    fence(); cluster_sync();
}
cluster_sync();"""


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("size", [2, 4])
def test_a_cluster_is_cancelled_as_a_whole_and_all_its_blocks_get_the_answer(size, seed):
    done, by = np.zeros(6 * size, U32), np.zeros(6 * size, U32)
    prefix = f"__cluster_dims__({size}, 1, 1)"
    options = {"checks": ALL_CHECKS, "seed": seed, "prefix": prefix}
    result = launch(CLUSTERS, 6 * size, 64, (done, by), **options)
    assert done.tolist() == [1] * (6 * size) and result.findings == []
    assert (by % size == np.arange(6 * size) % size).all()
    assert len(np.unique(by)) == 2 * size


def test_addresses_may_be_generic():
    done, by = np.zeros(8, U32), np.zeros(8, U32)
    launch(LOOP.replace("ask(answer", "ask_generic(answer"), 8, 32, (done, by))
    assert done.tolist() == [1] * 8


# --- misuse ---


def test_a_request_after_a_refusal_that_was_seen():
    again = (
        MADE + ASK + "if (granted(answer)) return;\nif (threadIdx.x == 0) {\nask(answer, &bar); }"
    )
    found = misuse(again)
    assert (found.kind, found.cause) == (LAUNCH_CONTROL, Cause.CANCEL_AFTER_REFUSAL)
    assert found.location.line == 8 and "refused, at kernel.cu:6" in found.message


def test_two_requests_before_either_answer_is_looked_at_are_allowed():
    body = MADE + "__shared__ u64 two; if (threadIdx.x == 0) { init(&two, 1); made(); }\n"
    body += "__syncthreads();\nif (threadIdx.x == 0) { expect(&bar, 16); ask(answer, &bar);\n"
    body += "expect(&two, 16); ask(answer + 4, &two); }\nwait(&bar, 0); wait(&two, 0);\n"
    body += "done[threadIdx.x] = 1 + granted(answer) + granted(answer + 4);"
    done, by = np.zeros(32, U32), np.zeros(1, U32)
    assert launch(body, 1, 32, (done, by), checks=ALL_CHECKS).findings == []
    assert done.tolist() == [1] * 32


def test_the_index_of_a_refused_request():
    found = misuse(MADE + ASK + "done[0] = index_x(answer);")
    assert (found.cause, found.location.line) == (Cause.INDEX_OF_REFUSAL, 6)


def test_bytes_that_are_no_answer():
    body = MADE + "if (threadIdx.x < 8) answer[threadIdx.x] = 7;\n__syncthreads();\n"
    found = misuse(body + "done[0] = granted(answer);")
    assert (found.cause, found.location.line) == (Cause.QUERY_OF_NO_ANSWER, 6)


def test_an_answer_that_is_not_aligned():
    found = misuse(MADE + ASK.replace("ask(answer", "ask(answer + 1"))
    assert (found.kind, found.location.line) == (MISALIGNED, 4)


def test_an_answer_to_another_block():
    ask = ASK.replace("ask(answer,", "ask_at(map_rank(answer, 1),")
    found = misuse(MADE + "cluster_sync();\n" + ask, grid=2, prefix="__cluster_dims__(2, 1, 1)")
    assert (found.cause, found.location.line) == (Cause.ANSWER_TO_OTHER_BLOCK, 5)


def test_an_answer_read_before_the_wait_is_a_race():
    early = MADE + "if (threadIdx.x == 0) { expect(&bar, 16); ask(answer, &bar); }\n"
    early += "done[threadIdx.x] = answer[0];\nwait(&bar, 0);"
    done, by = np.zeros(32, U32), np.zeros(1, U32)
    found = launch(early, 1, 32, (done, by), checks=ALL_CHECKS).findings
    assert (DATA_RACE, 5) in [(f.kind, f.location.line) for f in found]


def test_an_answer_overwritten_while_others_read_it_is_a_race():
    wrong = LOOP.replace("fence(); __syncthreads();", "fence();")
    done, by = np.zeros(8, U32), np.zeros(8, U32)
    found = launch(wrong, 8, 64, (done, by), checks=ALL_CHECKS).findings
    assert [f.kind for f in found][:1] == [DATA_RACE]


def test_a_phase_that_nobody_turns_is_noticed():
    """The second wait passes at once, and the first answer is read a second time."""
    wrong = LOOP.replace("phase ^= 1;", "")
    args = np.zeros(8, U32), np.zeros(8, U32)
    kernel = module("u32* done, u32* by", wrong, before=HELPERS).entry("f")
    options = Options(checks=ALL_CHECKS, budget=100_000)
    try:
        found = kernel.launch(8, 64, args, 0, options=options).findings
    except KernelFault as error:
        found = [*error.earlier, error.finding]
    assert found[0].kind == DATA_RACE


def test_bytes_that_nobody_expects_are_a_deadlock():
    assert misuse(MADE + ASK.replace("expect(&bar, 16);", "")).kind == DEADLOCK


def test_the_odd_block_must_be_there_for_the_answer():
    body = MADE + "cluster_sync();\nif (rank() == 1) return;\n"
    body += "for (int i = 0; i < 999; ++i) __nanosleep(1);\n" + ASK.replace("ask(", "ask_all(")
    found = misuse(body, grid=2, prefix="__cluster_dims__(2, 1, 1)")
    assert (found.cause, found.location.line) == (Cause.BLOCK_HAS_ENDED, 7)


def test_only_sm_100_and_later_have_it():
    text = """.version 8.8
.target sm_90
.address_size 64
.visible .entry f() {
  .reg .b32 %r<3>;
  clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];
  ret;
}"""
    with pytest.raises(PtxError, match="needs a GPU of sm_100"):
        EmulatedModule(text).entry("f")


# --- CUDA's own wrappers ---

LIBRARY = r"""
#include <cuda/ptx>
namespace ptx = cuda::ptx;
extern "C" __global__ void f(unsigned* done)
{
    __shared__ alignas(16) uint4 answer;
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    unsigned block = blockIdx.x, phase = 0;
    for (;; phase ^= 1) {
        if (threadIdx.x == 0) {
            ptx::clusterlaunchcontrol_try_cancel(&answer, &bar);
            ptx::mbarrier_arrive_expect_tx(
                ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(uint4));
            atomicAdd(&done[block], 1);
        }
        while (!ptx::mbarrier_try_wait_parity(&bar, phase)) {}
        const uint4 got = answer;
        if (!ptx::clusterlaunchcontrol_query_cancel_is_canceled(got)) break;
        block = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<unsigned>(got);
        int at[4];
        ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid(at, got);
        if (at[0] != int(block) || at[1] || at[2]) done[block] = 99;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
    }
}
"""


def test_the_wrappers_of_cuda_ptx_run_unchanged():
    """The library writes the instructions in forms of its own, with registers of 128 bits."""
    done = emulated_cupy.zeros(9, U32)
    kernel = load(source=LIBRARY, arch="sm_100a", device="emulator").f
    result = sanitize(kernel, 9, 64, (done,))
    assert result.findings == () and done.get().tolist() == [1] * 9
