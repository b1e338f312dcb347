"""``profile`` counts a launch in all, by line and by kind; closed forms say what it must find."""

from __future__ import annotations

import numpy as np
import pytest

from course_utils import cp, figures, load, profile
from course_utils.errors import LessonError

STYLES = r"""
extern "C" __global__ void styles(const float *x, float *y, int n)
{
    __shared__ float tile[32 * 32];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    float a = x[i];
    float b = x[8 * i];
    tile[t] = a;
    tile[32 * (t % 32)] = b;
    __syncthreads();
    if (t % 2)
        a = fmaf(tile[t ^ 1], b, a);
    __syncthreads();
    y[i] = a * b + 1.0f;
    if (t < n)
        atomicAdd(&y[0], a);
}
"""
COALESCED, STRIDED, STORE, CONFLICT, FMA, OUT, ATOMIC = 7, 8, 9, 10, 13, 15, 17
BLOCKS, THREADS = 4, 64
WARPS = BLOCKS * THREADS // 32


@pytest.fixture(scope="module")
def found():
    kernel = load(source=STYLES, filename="styles.cu")
    return profile(
        kernel, BLOCKS, THREADS, (cp.zeros(4096, cp.float32), cp.zeros(4096, cp.float32), 40)
    )


def test_a_line_that_loads_neighbours_costs_four_sectors_a_warp(found):
    line = found.lines[COALESCED]
    assert (line.global_load_requests, line.global_load_sectors) == (WARPS, 4 * WARPS)
    assert line.global_load_bytes == 128 * WARPS


def test_a_line_that_loads_every_eighth_element_costs_a_sector_a_lane(found):
    assert found.lines[STRIDED].global_load_sectors == 32 * WARPS


def test_a_line_whose_lanes_share_a_bank_costs_a_wavefront_a_lane(found):
    assert found.lines[STORE].shared_store_wavefronts == WARPS
    assert found.lines[CONFLICT].shared_store_wavefronts == 32 * WARPS
    assert found.lines[CONFLICT].shared_store_bytes == 128 * WARPS


def test_atomics_are_neither_loads_nor_stores(found):
    line = found.lines[ATOMIC]
    assert line.global_atomic_requests == BLOCKS * 2  # threads 0 to 39: both warps take part
    assert line.global_load_requests == line.global_store_requests == 0
    assert line.global_atomic_bytes == BLOCKS * 40 * 4


def test_flops_are_counted_by_line_by_type_and_by_name(found):
    threads = BLOCKS * THREADS
    assert found.lines[FMA].flops == 2 * threads // 2
    assert found.counts.operations == {"ffma": threads // 2 + threads}
    assert found.counts.flops_by_type == {"f32": 2 * (threads // 2 + threads)}


def test_barriers_are_counted_for_each_warp(found):
    assert found.counts.barriers == 2 * WARPS
    assert found.barriers_per_warp == 2


def test_only_warps_that_go_both_ways_diverge(found):
    """All warps part at t % 2; at t < 40 only the second of each block does."""
    assert found.counts.divergent_branches == WARPS + BLOCKS
    assert found.uniform_branches == 1 - (WARPS + BLOCKS) / found.counts.branches


def test_the_lines_add_up_to_the_totals(found):
    for name, total in vars(found.counts).items():
        if isinstance(total, int):
            assert sum(getattr(line, name) for line in found.lines) == total, name


def test_intensity_is_flops_over_bytes_of_sectors_or_over_bytes_asked_for(found):
    c = found.counts
    sectors = c.global_load_sectors + c.global_store_sectors + c.global_atomic_sectors
    asked = c.global_load_bytes + c.global_store_bytes + c.global_atomic_bytes
    assert found.intensity == c.flops / (32 * sectors)
    assert found.requested_intensity == c.flops / asked
    assert found.requested_intensity > found.intensity


def test_bytes_are_told_apart_by_memory_direction_and_type(found):
    bytes_ = found.bytes_by_type
    assert bytes_["global load f32"] == 2 * 4 * BLOCKS * THREADS
    assert bytes_["shared store f32"] == 2 * 4 * BLOCKS * THREADS


def test_numbers_are_told_apart_by_memory(found):
    threads = BLOCKS * THREADS
    memories = {memory: (loaded, stored) for memory, loaded, stored in found.numbers_by_memory}
    assert memories["global"] == (2 * threads, threads)
    assert memories["shared"] == (threads // 2, 2 * threads)
    assert found.numbers_by_memory["global"] == 2 * threads


def test_the_mix_counts_every_instruction_once(found):
    assert sum(row[1] for row in found.mix) == found.counts.warp_instructions
    assert found.mix["bar"] == found.counts.barriers
    assert sum(row[2] for row in found.mix) == pytest.approx(100)


def test_totals_stand_under_the_names_of_nsight_compute(found):
    ncu = found.ncu
    assert ncu["global load sectors"] == found.counts.global_load_sectors
    assert "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" in str(ncu)
    with pytest.raises(KeyError, match="no row 'made_up'"):
        ncu["made_up"]


def test_the_tables_are_text_with_the_source_beside_the_numbers(found):
    text = str(found.lines)
    row = next(line for line in text.splitlines() if line.startswith(str(STRIDED) + " "))
    assert row.endswith("float b = x[8 * i];") and str(32 * WARPS) in row
    assert "local sectors" not in text  # nothing to say of it
    assert "uniform branches" in str(found)


def test_an_access_has_the_addresses_of_a_warp(found):
    access = found.access(STRIDED, warp=1)
    assert (access.array, access.space, access.store) == ("x", "global", False)
    assert access.elements.tolist() == [8 * (32 + lane) for lane in range(32)]


def test_an_access_is_found_by_the_text_of_its_line_and_not_by_that_of_a_comment():
    source = """// y[i] = x[i]
extern "C" __global__ void copy(const float *x, float *y) // y[i] = x[i]
{
    int i = threadIdx.x;
    y[i] = x[i];
}
"""
    arrays = cp.zeros(32, cp.float32), cp.zeros(32, cp.float32)
    found = profile(load(source=source), 1, 32, arrays)
    assert found.access("y[i] = x[i]", store=True).array == "y"
    with pytest.raises(LessonError, match="No line of .* contains 'z\\["):
        found.access("z[")


def test_an_access_of_few_lanes_marks_the_others_idle(found):
    assert (found.access(ATOMIC, warp=1).addresses >= 0).sum() == 40 - 32


def test_accesses_that_cannot_be_told_apart_are_named():
    source = r"""
    extern "C" __global__ void add(const float *a, const float *b, float *c)
    {
        c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
    }
    """
    arrays = tuple(cp.zeros(32, cp.float32) for _ in range(3))
    found = profile(load(source=source, filename="add.cu"), 1, 32, arrays)
    with pytest.raises(LessonError, match=r"load from a.*store to c.*array= and store="):
        found.access(4)
    assert found.access(4, array="b").array == "b"
    assert found.access(4, store=True).array == "c"
    with pytest.raises(LessonError, match="no such access in line 3"):
        found.access(3)


def test_an_access_is_drawn_as_sectors_and_as_banks(found):
    figure = figures.warp_sectors(found.access(STRIDED))
    assert figure.axes[0].get_title(loc="left").startswith("loads from x: 32 sectors")
    figure = figures.shared_banks(found.access(CONFLICT))
    assert "stores to tile: 32-way bank conflict" in figure.axes[0].get_title(loc="left")


def test_the_picture_of_a_store_speaks_of_writing_and_not_of_fetching():
    source = """
    extern "C" __global__ void spread(float *y)
    {
        y[8 * threadIdx.x] = 1.0f;
    }
    """
    access = profile(load(source=source), 1, 32, (cp.zeros(256, cp.float32),)).access(4)
    figure = figures.warp_sectors(access)
    assert "128 of 1024 bytes written" in figure.axes[0].get_title(loc="left")
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["written, by lane", "touched, not written"]


def test_a_line_that_never_ran_is_refused_with_those_that_did(found):
    with pytest.raises(LessonError, match="No instruction comes from line 99; lines 2"):
        found.lines[99]


def test_code_of_an_included_helper_counts_for_the_line_that_calls_it(tmp_path):
    (tmp_path / "helper.cuh").write_text(
        "__device__ float tripled(float v) { return v * 3.0f; }\n", encoding="utf-8"
    )
    source = '#include "helper.cuh"\n' + (
        'extern "C" __global__ void call(float *x)\n{\n'
        "    x[threadIdx.x] = tripled(x[threadIdx.x]);\n}\n"
    )
    path = tmp_path / "call.cu"
    path.write_text(source, encoding="utf-8")
    found = profile(load(path), 1, 32, (cp.zeros(32, cp.float32),))
    assert found.lines[4].flops == 32
    assert all(line.number for line in found.lines)


def test_local_arrays_are_local_memory_and_each_word_of_a_warp_is_a_line():
    source = r"""
    extern "C" __global__ void local(float *x, int turns)
    {
        float kept[32];
        for (int k = 0; k < turns; k++)
            kept[(k * 7) & 31] = x[k];
        x[threadIdx.x] = kept[threadIdx.x & 15];
    }
    """
    kernel = load(source=source, filename="local.cu")
    found = profile(kernel, 1, 32, (cp.zeros(32, cp.float32), 5))
    assert found.lines[6].local_store_sectors == 5 * 4  # one word of all lanes: one line
    assert found.lines[7].local_load_sectors == 16 * 2  # words 0 to 15 of lanes n and n + 16


def test_a_guard_s_idle_lanes_compute_nothing():
    source = r"""
    extern "C" __global__ void guarded(float *x)
    {
        float v = x[threadIdx.x];
        asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 5; @p add.f32 %0, %0, %0; }"
                     : "+f"(v) : "r"(threadIdx.x));
        x[threadIdx.x] = v;
    }
    """
    kernel = load(source=source, filename="guarded.cu")
    assert profile(kernel, 1, 32, (cp.zeros(32, cp.float32),)).counts.operations == {"fadd": 5}


def test_a_bulk_copy_counts_its_bytes_as_global_traffic():
    source = r"""
    extern "C" __global__ void bulk(const float *x, float *y)
    {
        __shared__ alignas(128) float tile[64];
        __shared__ alignas(8) unsigned long long bar;
        unsigned to = __cvta_generic_to_shared(tile), b = __cvta_generic_to_shared(&bar);
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b));
            asm volatile("fence.mbarrier_init.release.cluster;");
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(b));
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                         "[%0], [%1], 256, [%2];" :: "r"(to), "l"(x), "r"(b) : "memory");
        }
        __syncthreads();
        asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;"
                     " @!p bra L; }" :: "r"(b) : "memory");
        y[threadIdx.x] = tile[threadIdx.x];
    }
    """
    arrays = cp.zeros(64, cp.float32), cp.zeros(64, cp.float32)
    found = profile(load(source=source, filename="bulk.cu"), 1, 32, arrays)
    assert found.counts.bulk_global_load_bytes == 256
    assert found.traffic_bytes == 256 + 128


# --- figures ---


def numbers(figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_source_heat_writes_each_line_s_share_beside_it(found):
    figure = figures.source_heat(found, by="sectors", lines=(COALESCED, STRIDED))
    assert numbers(figure)[0] == str(4 * WARPS) and str(32 * WARPS) in numbers(figure)
    assert "global sectors by line" in figure.axes[0].get_title(loc="left")


def test_source_heat_draws_the_same_bytes_each_time(found):
    draw = [figures.png(figures.source_heat(found, by=by)) for by in ("flops", "flops")]
    assert draw[0] == draw[1]


def test_source_heat_refuses_a_measure_that_does_not_exist(found):
    with pytest.raises(LessonError, match="no measure 'heat'; there are warp_instructions"):
        figures.source_heat(found, by="heat")


def test_counting_does_not_change_what_a_kernel_computes():
    kernel = load(source=STYLES, filename="styles.cu").emulated.styles
    from course_utils.devices import emulated_cupy
    from course_utils.emulator import Options

    x = emulated_cupy.asarray(np.random.default_rng(0).random(4096).astype(np.float32))
    plain, counted = (emulated_cupy.zeros(4096, np.float32) for _ in range(2))
    kernel.launch(BLOCKS, THREADS, (x, plain, 40))
    kernel.launch(BLOCKS, THREADS, (x, counted, 40), options=Options(counters=True))
    assert plain.tobytes() == counted.tobytes()
