"""``trace`` follows one warp: its lines, its lanes and its addresses."""

from __future__ import annotations

import pytest

from course_utils import cp, figures, load, tensor_map, trace
from course_utils.benchmarks.cases import blackwell
from course_utils.devices.limits import LaunchError

BRANCH = r"""
__device__ int tripled(int v) { return v * 3; }
extern "C" __global__ void branch(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (i % 2 == 0) {
        y[i] = x[i] / 7;
        atomicAdd(&y[0], 1);
    } else {
        for (int k = 0; k < 2; k++)
            atomicAdd(&y[i], tripled(x[i + k]));
    }
}
"""
EVEN, LOOP = 9, 13  # lines


@pytest.fixture(scope="module")
def kernel():
    return load(source=BRANCH, filename="branch.cu").branch


def arguments(n: int = 100):
    return cp.arange(n + 8, dtype=cp.int32), cp.zeros(n + 8, cp.int32), n


def test_the_lanes_of_each_side_of_an_if_step_through_their_own_lines(kernel):
    steps = trace(kernel, 4, 64, arguments())
    for line, mask in ((EVEN, 0x55555555), (LOOP, 0xAAAAAAAA)):
        assert {step.mask for step in steps.at(line) if step.access} == {mask}


def test_a_mask_has_the_bit_of_each_active_lane(kernel):
    steps = trace(kernel, 4, 64, arguments())
    assert steps[0].mask == 0xFFFFFFFF
    assert steps.at(EVEN)[-1].mask == 0x55555555


def test_the_warp_asked_for_is_the_one_that_is_followed(kernel):
    last = trace(kernel, 4, 64, arguments(), block_index=1, warp=1)  # elements 96 to 127 of 100
    assert last.at(EVEN)[-1].mask == 0b0101
    assert all(not step.active[4:].any() for step in last.at(LOOP))


def test_a_step_has_the_opcode_and_a_load_its_addresses(kernel):
    steps = trace(kernel, 4, 64, arguments(), block_index=1)
    load_ = next(step for step in steps.at(EVEN) if step.opcode.startswith("ld.global"))
    access = load_.access
    assert (access.array, access.space, access.store, access.bytes) == ("x", "global", False, 4)
    assert access.elements[:4].tolist() == [64, -1, 66, -1]
    assert steps[0].access is None


def test_a_repeated_line_is_a_step_each_time(kernel):
    steps = trace(kernel, 4, 64, arguments())
    adds = [s for s in steps.at(LOOP) if s.opcode.startswith(("atom", "red"))]
    assert len(adds) == 2


def test_shared_addresses_count_from_the_array_s_start():
    source = r"""
    extern "C" __global__ void turn(float *x)
    {
        __shared__ float other[7];
        __shared__ float tile[32][33];
        other[threadIdx.x % 7] = x[0];
        tile[threadIdx.x][1] = x[threadIdx.x];
        __syncthreads();
        x[threadIdx.x] = tile[1][threadIdx.x] + other[0];
    }
    """
    kernel = load(source=source, filename="turn.cu")
    steps = trace(kernel, 1, 32, (cp.zeros(32, cp.float32),))
    (store,) = [s.access for s in steps if s.opcode.startswith("st.shared") and s.line == 7]
    assert store.array == "tile"
    assert store.addresses.tolist() == [4 * (33 * lane + 1) for lane in range(32)]


def test_a_guarded_instruction_is_a_step_of_the_lanes_whose_guard_is_true():
    source = r"""
    extern "C" __global__ void guarded(int *x)
    {
        asm volatile("{ .reg .pred p; setp.lt.u32 p, %0, 5; @p st.global.u32 [%1], %0; }"
                     :: "r"(threadIdx.x), "l"(x + threadIdx.x) : "memory");
    }
    """
    kernel = load(source=source, filename="guarded.cu")
    steps = trace(kernel, 1, 32, (cp.zeros(32, cp.int32),))
    (store,) = [step for step in steps if step.opcode == "st.global.u32"]
    assert store.mask == 0b11111
    assert store.access.elements[4:6].tolist() == [4, -1]


def test_a_trace_stops_at_its_limit_and_says_so(kernel):
    x, y, n = arguments()
    steps = trace(kernel, 4, 64, (x, y, n), limit=10)
    assert len(steps) == 10 and not steps.complete
    assert "raise limit" in str(steps)
    assert trace(kernel, 4, 64, arguments()).complete


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"block_index": 4}, r"no block \(4, 0, 0\)"),
        ({"warp": 2}, "warps 0 to 1, not 2"),
    ],
)
def test_a_warp_that_does_not_exist_is_refused(kernel, where, message):
    with pytest.raises(LaunchError, match=message):
        trace(kernel, 4, 64, arguments(), **where)


def test_an_ordinary_launch_records_nothing(kernel):
    emulated = kernel.emulated
    x, y, n = (a.get() if hasattr(a, "get") else a for a in arguments())
    from course_utils.devices import emulated_cupy

    result = emulated.launch(4, 64, (emulated_cupy.asarray(x), emulated_cupy.asarray(y), n))
    assert result.trace is None


def rows(figure) -> list[str]:
    return [label.get_text().split()[-1] for label in figure.axes[0].get_yticklabels()]


def test_warp_steps_draws_a_row_for_each_run_of_one_line(kernel):
    steps = trace(kernel, 4, 64, arguments())
    runs = [step for step in steps if step.line in (EVEN, EVEN + 1)]
    expected = [
        str(step.line)
        for before, step in zip([None, *runs], runs, strict=False)
        if before is None or (before.line, before.mask) != (step.line, step.mask)
    ]
    assert rows(figures.warp_steps(steps, source_lines=(EVEN, EVEN + 1))) == expected


def test_warp_steps_says_how_many_rows_are_left_out(kernel):
    steps = trace(kernel, 4, 64, arguments())
    figure = figures.warp_steps(steps, rows=3)
    assert len(rows(figure)) == 3
    assert "the first 3 rows" in figure.axes[0].get_title(loc="left")


def test_warp_steps_draws_the_same_bytes_each_time(kernel):
    steps = trace(kernel, 4, 64, arguments())
    assert figures.png(figures.warp_steps(steps)) == figures.png(figures.warp_steps(steps))


def test_warp_steps_refuses_lines_that_never_ran(kernel):
    with pytest.raises(ValueError, match=r"no step to draw in the lines \[99\]"):
        figures.warp_steps(trace(kernel, 4, 64, arguments()), source_lines=[99])


@pytest.mark.parametrize("seed", (0, 1))
def test_the_spans_are_copies_and_phases_that_follow_each_other_and_waits_for_their_ends(seed):
    kernel = load("08_cute_tma_blackwell/tma/column_sums.cu").column_sums
    x, sums = cp.zeros((80, 32), cp.float32), cp.empty(32, cp.float32)
    spans = trace(kernel, 1, 64, (tensor_map(x, (16, 32)), sums, 80, 32), seed=seed).spans
    rows: dict[str, list] = {}
    for row, label, start, end in spans:
        assert start < end
        rows.setdefault(row, []).append((label, start, end))
    for stage, boxes in ((0, 3), (1, 2)):
        copies, phases = rows[f"copy for full[{stage}]"], rows[f"full[{stage}]"]
        assert [label for label, _, _ in copies] == ["2,048 B"] * boxes
        assert [label for label, _, _ in phases] == [f"phase {n}" for n in range(boxes)]
        # A phase ends with the landing of its copy, and the next one begins there.
        assert [end for _, _, end in phases] == [end for _, _, end in copies]
        assert [start for _, start, _ in phases][1:] == [end for _, _, end in phases][:-1]
    for label, _, end in rows["warp 0 waits"]:
        assert end >= min(done for _, _, done in rows[label])
    figures.timeline({"column_sums": spans}, unit="instructions")


def test_the_spans_of_tensor_cores_last_from_the_first_product_to_the_end_of_its_commit():
    (call,) = blackwell.product_work("umma_stages", (128, 32, 192), bn=32, stages=2).launches
    spans = trace(call.kernel, call.grid, call.block, call.args, shared_mem=call.shared_mem).spans
    busy = [span for span in spans if span[0] == "tensor cores"]
    assert [label for _, label, _, _ in busy] == ["4"] * 3  # products of each step of K
    read = sorted(end for row, _, _, end in spans if row.startswith("empty"))
    assert [end for *_, end in busy] == read  # a stage is empty when its products are done
    starts = [start for _, _, start, _ in busy]
    full = sorted(end for row, _, _, end in spans if row.startswith("full"))
    assert all(there <= start for there, start in zip(full, starts, strict=True))
