"""A relaxed arrival says that a thread is here, and nothing about what it did before."""

import numpy as np
import pytest
from asynchrony import run

from course_utils.emulator import ALL_CHECKS

F32 = np.float32
TWO = "__cluster_dims__(2, 1, 1)"
WAIT = 'ASM("barrier.cluster.wait.acquire.aligned;" ::: "memory");'


def do(instruction):
    return f'ASM("{instruction};" ::: "memory");'


def arrive(how=""):
    return do(f"barrier.cluster.arrive{how}.aligned")


SENT = """__shared__ float s[32];
cluster_sync();
ASM("st.shared::cluster.f32 [%0], %1;"
    :: "r"(map_rank(&s[threadIdx.x], rank() ^ 1)), "f"(1.0f) : "memory");
BETWEEN
y[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];"""

IN_GLOBAL = """x[blockIdx.x * 32 + threadIdx.x] = 1;
BETWEEN
y[blockIdx.x * 32 + threadIdx.x] = x[(blockIdx.x ^ 1) * 32 + threadIdx.x];"""

READ_FIRST = """y[blockIdx.x * 32 + threadIdx.x] = x[(blockIdx.x ^ 1) * 32 + threadIdx.x];
BETWEEN
x[blockIdx.x * 32 + threadIdx.x] = 1;"""


def found(body, between, block=32, **options):
    x, y = np.zeros((2, 2 * block), F32)
    body = body.replace("BETWEEN", between.replace("\n", " "))
    result = run(
        "float* x, float* y", body, 2, block, (x, y), prefix=TWO, checks=ALL_CHECKS, **options
    )
    return [f.message for f in result.findings]


def test_what_was_sent_before_a_relaxed_arrival_may_not_be_there_after_the_wait():
    assert found(SENT, arrive(".relaxed") + WAIT)[0] == (
        "Data race (read after write) on s[0] in shared memory, block (0, 0, 0):\n"
        "  thread (0, 0, 0) of block (1, 0, 0) writes it at kernel.cu:4\n"
        "  thread (0, 0, 0) of block (0, 0, 0) reads it at kernel.cu:6\n"
        "  and the arrival between them is relaxed (kernel.cu:5): a wait for it doesn't order\n"
        "  the accesses before it. Use barrier.cluster.arrive.release, or put a "
        "fence.acq_rel.cluster before it."
    )


@pytest.mark.parametrize("body", [SENT, IN_GLOBAL, READ_FIRST], ids=["sent", "global", "read"])
@pytest.mark.parametrize(
    ("between", "clean"),
    [
        (arrive() + WAIT, True),
        (arrive(".release") + WAIT, True),
        (arrive(".relaxed") + WAIT, False),
        (do("fence.acq_rel.cluster") + arrive(".relaxed") + WAIT, True),
        (do("fence.sc.cluster") + arrive(".relaxed") + WAIT, True),
        ("__threadfence();" + arrive(".relaxed") + WAIT, True),
        (do("fence.acq_rel.cta") + arrive(".relaxed") + WAIT, False),
        (do("fence.mbarrier_init.release.cluster") + arrive(".relaxed") + WAIT, False),
        (arrive(".relaxed") + do("fence.acq_rel.cluster") + WAIT, False),
        (arrive(".relaxed") + WAIT + arrive(".release") + WAIT, True),
    ],
)
def test_a_fence_for_the_cluster_or_more_must_come_before_it(body, between, clean):
    messages = found(body, between)
    assert bool(messages) is not clean
    assert all("the arrival between them is relaxed" in m for m in messages)


@pytest.mark.parametrize(("relaxed", "clean"), [(0, True), (1, False)])
def test_the_writer_must_release_whatever_the_reader_does(relaxed, clean):
    body = SENT.replace("cluster_sync();\nASM", "cluster_sync();\nif (rank() == 1)\nASM").replace(
        "BETWEEN\n", "BETWEEN\nif (rank() == 0)\n"
    )
    how = f"if (rank() == {relaxed}) {{ {arrive('.relaxed')} }} else {{ {arrive('.release')} }}"
    assert (not found(body, how + WAIT)) is clean


def test_one_thread_may_fence_what_its_block_has_written_before_a_barrier():
    one = 'if (threadIdx.x == 0) { ASM("fence.acq_rel.cluster;" ::: "memory"); }'
    meet = "__syncthreads();"
    after = arrive(".relaxed") + WAIT
    assert found(IN_GLOBAL, meet + one + meet + after, block=64) == []
    assert found(IN_GLOBAL, one + meet + after, block=64)


def test_a_missing_wait_is_no_matter_of_a_relaxed_arrival():
    body = SENT.replace("BETWEEN", "BETWEEN\nfloat early = s[31 - threadIdx.x];").replace(
        "= s[threadIdx.x]", "= early"
    )
    for how in (".relaxed", ".release"):
        messages = found(body, arrive(how)) if how == "" else found(body + WAIT, arrive(how))
        assert messages
        assert "with no cluster.sync() in between" in messages[0]


def test_what_a_block_writes_after_its_arrival_is_not_told_by_it():
    body = """if (rank() == 0) { ARRIVE x[threadIdx.x] = 1; } else { ARRIVE }
WAIT
y[blockIdx.x * 32 + threadIdx.x] = x[threadIdx.x];"""
    for first in (0, 1):
        text = body.replace("ARRIVE", arrive()).replace("WAIT", WAIT)
        assert found(text.replace("rank() == 0", f"rank() == {first}"), "")


def test_a_block_may_end_too_early_after_a_relaxed_arrival():
    body = """__shared__ float s[32];
s[threadIdx.x] = 1;
cluster_sync();
y[blockIdx.x * 32 + threadIdx.x] = load_remote(map_rank(&s[threadIdx.x], rank() ^ 1));
BETWEEN"""
    assert found(body, arrive(".release") + WAIT) == []
    assert found(body, do("fence.acq_rel.cluster") + arrive(".relaxed") + WAIT) == []
    assert found(body, arrive(".relaxed") + WAIT) == [
        "Data race: block (0, 0, 0) may end, and its s with it, before thread (0, 0, 0) of block "
        "(1, 0, 0) reads it at kernel.cu:4,\n"
        "  and the arrival between them is relaxed (kernel.cu:5): a wait for it doesn't order\n"
        "  the accesses before it. Use barrier.cluster.arrive.release, or put a "
        "fence.acq_rel.cluster before it."
    ]


def test_new_mbarriers_are_there_after_a_relaxed_arrival():
    """They have a fence of their own."""
    body = """__shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 32); ASM("fence.mbarrier_init.release.cluster;" ::: "memory"); }
BETWEEN
arrive_remote(map_rank(&bar, rank() ^ 1));
wait(&bar, 0);
y[blockIdx.x * 32 + threadIdx.x] = 1;
cluster_sync();"""
    assert found(body, arrive(".relaxed") + WAIT) == []


MBARRIER = """__shared__ u64 bar; __shared__ float s[64];
if (threadIdx.x == 0) init(&bar, 32);
__syncthreads();
if (threadIdx.x < 32) {
    s[threadIdx.x] = 1;
    FENCE
    ASM("mbarrier.arrive.HOW.shared::cta.b64 _, [%0];" :: "r"(smem(&bar)) : "memory");
} else {
    wait(&bar, 0);
    y[threadIdx.x] = s[threadIdx.x - 32];
}"""


@pytest.mark.parametrize(
    ("fence", "how", "clean"),
    [
        ("", "release.cta", True),
        ("", "relaxed.cta", False),
        ("fence.acq_rel.cta", "relaxed.cta", True),
        ("fence.acq_rel.cluster", "relaxed.cluster", True),
    ],
)
def test_an_mbarrier_and_a_relaxed_arrival(fence, how, clean):
    body = MBARRIER.replace("FENCE", do(fence) if fence else "").replace("HOW", how)
    result = run("float* y", body, 1, 64, (np.zeros(64, F32),), checks=ALL_CHECKS)
    assert (not result.findings) is clean
    if not clean:
        assert result.findings[0].message.splitlines()[1:] == [
            "  thread (0, 0, 0) writes it at kernel.cu:5",
            "  thread (32, 0, 0) reads it at kernel.cu:10",
            "  and the arrival between them is relaxed (kernel.cu:7): a wait for it doesn't order",
            "  the accesses before it. Use mbarrier.arrive.release, or put a fence.acq_rel.cta "
            "before it.",
        ]


def test_a_fence_of_its_block_is_not_enough_for_the_mbarrier_of_another():
    body = """__shared__ u64 bar; __shared__ float s[32];
if (threadIdx.x == 0) init(&bar, 32);
cluster_sync();
if (rank() == 1) {
    ASM("st.shared::cluster.f32 [%0], %1;" :: "r"(map_rank(&s[threadIdx.x], 0)), "f"(1.0f)
        : "memory");
    ASM("fence.acq_rel.SCOPE;" ::: "memory");
    ASM("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];"
        :: "r"(map_rank(&bar, 0)) : "memory");
} else {
    wait(&bar, 0);
    y[threadIdx.x] = s[threadIdx.x];
}
cluster_sync();"""
    assert found(body.replace("SCOPE", "cluster"), "") == []
    messages = found(body.replace("SCOPE", "cta"), "")
    assert "put a fence.acq_rel.cluster before it" in messages[0]
