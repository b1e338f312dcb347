"""``occupancy`` needs no GPU, and answers what the driver of one would."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from course_utils import figures, load, occupancy
from course_utils.compiling.bindings import nvrtc_version
from course_utils.devices.limits import LaunchError
from course_utils.devices.multiprocessors import MULTIPROCESSORS
from course_utils.errors import LessonError
from course_utils.observing import occupancy_calculator
from course_utils.observing.occupancy_calculator import (
    Occupancy,
    Resources,
    compiled_with_report,
    parse_report,
    resources,
)
from course_utils.paths import KERNELS, NO_KERNELS, ROOT
from tests.turns import in_turn

DRIVER = json.loads((ROOT / "tests/emulator/occupancy_h200.json").read_text())

COURSE_KERNELS = sorted(
    p.relative_to(KERNELS).as_posix()
    for p in KERNELS.rglob("*.cu")
    if p.parent.name not in NO_KERNELS
)

HEAVY = r"""
extern "C" __global__ void __launch_bounds__(BOUND) heavy(const float *a, float *b, int n)
{
    float v[100];
    for (int k = 0; k < 100; k++) v[k] = a[k * blockDim.x + threadIdx.x];
    for (int r = 0; r < n; r++)
        #pragma unroll
        for (int k = 0; k < 99; k++) v[k] = v[k] * v[k + 1] + 1.5f;
    for (int k = 0; k < 100; k++) b[k * blockDim.x + threadIdx.x] = v[k];
}
"""
TILE = r"""
extern "C" __global__ void tile(float *a)
{
    __shared__ float s[1000];
    s[threadIdx.x] = a[0];
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x ^ 1];
}
"""


def heavy(bound: int):
    return load(source=HEAVY, filename="heavy.cu", defines={"BOUND": bound})


def of(threads: int, registers: int = 32, shared: int = 0, arch: str = "sm_90a", **more):
    return Occupancy("k", arch, threads, shared, Resources(registers, **more))


@pytest.mark.parametrize("row", DRIVER["rows"], ids=str)
def test_the_arithmetic_gives_the_driver_s_answer(row):
    registers, static, dynamic, threads, blocks = row
    found = Occupancy("k", "sm_90a", threads, dynamic, Resources(registers, static))
    assert found.blocks_per_sm == blocks


@pytest.mark.parametrize(
    ("found", "blocks", "limiter"),
    [
        (of(1024), 2, "warps and registers"),
        (of(1024, 33), 1, "registers"),
        (of(1024, 65), 0, "registers"),
        (of(32), 32, "blocks"),
        (of(128, 16, 100 * 1024), 2, "shared memory"),
        (of(128, 16, 227 * 1024), 1, "shared memory"),
        (of(64, 16, 101 * 128 - 1024), 18, "shared memory"),  # 17 in units of 256 bytes
        (of(64, 16, 101 * 128 - 1023), 17, "shared memory"),
        (of(128, 16, 227 * 1024 + 1), 0, "shared memory"),
        (of(128, 16, barriers=16), 4, "barriers"),
        (of(256, arch="sm_75"), 4, "warps"),
        (of(32, arch="sm_86"), 16, "blocks"),
        (of(32, arch="sm_120a"), 24, "blocks"),
        (of(256, 16, 60 * 1024, arch="sm_89"), 1, "shared memory"),
    ],
)
def test_the_scarcest_resource_sets_the_limit(found, blocks, limiter):
    assert (found.blocks_per_sm, found.limiter) == (blocks, limiter)


def test_part_of_a_warp_takes_the_place_of_a_whole_one():
    assert of(33).blocks_per_sm == of(64).blocks_per_sm
    assert of(33).warps_per_sm == 64


def test_the_compiler_says_what_a_kernel_takes():
    needs = resources(load(source=TILE, filename="tile.cu").tile)
    assert 4000 <= needs.static_shared < 4096
    assert (needs.local_bytes, needs.spill_stores, needs.barriers) == (0, 0, 1)
    assert 4 <= needs.registers <= 32


def test_launch_bounds_trade_registers_for_spills():
    free, tight = (resources(heavy(bound).heavy) for bound in (256, 1024))
    assert free.registers > 64 and free.spill_stores == 0
    assert tight.registers <= 64
    assert tight.spill_stores > 0 and tight.local_bytes > 0


def test_a_block_larger_than_the_launch_bounds_cannot_run():
    found = occupancy(heavy(256), 512)
    assert (found.blocks_per_sm, found.limiter) == (0, "threads per block")


@pytest.mark.parametrize(
    "arch", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120a"]
)
def test_every_known_gpu_can_be_asked_about(arch):
    found = occupancy(load(source=TILE, filename="tile.cu"), 256, arch=arch)
    assert 0 < found.occupancy <= 1


def test_an_unknown_gpu_is_refused_with_those_that_are_known():
    with pytest.raises(LessonError, match="'sm_42' are not known; there are sm_75"):
        occupancy(load(source=TILE, filename="tile.cu"), 256, arch="sm_42")


def test_a_block_that_is_too_large_is_refused():
    tile = load(source=TILE, filename="tile.cu")
    with pytest.raises(LaunchError, match="at most 1024 threads, not 2,048"):
        occupancy(tile, (64, 32))
    assert occupancy(tile, (64, 16)).threads == 1024


def test_shared_memory_counts_from_nothing_on():
    tile = load(source=TILE, filename="tile.cu")
    assert occupancy(tile, 32).shared_mem == occupancy(tile, 32, shared_mem=0).shared_mem == 0
    with pytest.raises(LaunchError, match="shared_mem is -1. It counts bytes"):
        occupancy(tile, 32, shared_mem=-1)


@pytest.mark.parametrize(("arch", "blocks"), [("sm_75", 64), ("sm_86", 50), ("sm_90a", 114)])
def test_a_block_s_shared_memory_and_what_is_reserved_for_it_come_out_of_that_of_the_sm(
    arch, blocks
):
    assert of(32, shared=1024, arch=arch).limits["shared memory"] == blocks


def test_an_instance_of_a_template_is_found_by_its_expression():
    source = "template <int N> __global__ void add(float *x) { x[threadIdx.x] += N; }"
    kernel = load(source=source, filename="add.cu", names=["add<3>"]).add
    assert occupancy(kernel, 128).resources.registers > 0


def test_a_report_without_the_kernel_is_an_error():
    with pytest.raises(ValueError, match="does not mention other"):
        parse_report("ptxas info : Compiling entry function 'some' for 'sm_90a'", "other")


HEAD = "ptxas info : Compiling entry function 'some' for 'sm_90a'\n"


def test_what_a_report_does_not_mention_is_none():
    assert parse_report(f"{HEAD}Used 8 registers", "some") == Resources(8, 0, 0, 0, 0, 0)
    assert parse_report(HEAD, "some") == Resources(0)


def test_each_number_of_a_report_has_its_place():
    report = """48 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
        Used 40 registers, used 3 barriers, 1024 bytes smem"""
    assert parse_report(HEAD + report, "some") == Resources(40, 1024, 48, 12, 20, 3)


def test_occupancy_reads_as_a_table():
    text = str(of(256, 40))
    assert "warps per SM" in text and "48 of 64" in text and "limited by" in text
    assert [line.split()[-2:] for line in text.splitlines() if line.startswith("occupancy")] == [
        ["75", "%"]
    ]


def test_the_figure_has_a_bar_for_each_block_size_that_can_be_launched():
    figure = figures.occupancy_steps(of(256, 64))
    assert len(figure.axes[0].patches) == 32
    figure = figures.occupancy_steps(
        Occupancy("k", "sm_90a", 128, 0, Resources(64), max_threads=256)
    )
    assert len(figure.axes[0].patches) == 8


@pytest.mark.gpu
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=in_turn(place)) for place, path in enumerate(COURSE_KERNELS)],
)
def test_a_course_kernel_s_resources_and_occupancy_are_the_driver_s(path):
    import cupy

    major, minor = cupy.cuda.Device().compute_capability
    arch = f"sm_{major}{minor}" + ("a" if major >= "9" else "")
    if arch.rstrip("a") not in MULTIPROCESSORS:
        pytest.skip(f"the limits of {arch} are not known")
    try:
        module = load(path)
    except LessonError as error:
        pytest.skip(f"needs more than its file: {error}")
    if any(kernel.stands_in for kernel in module):
        pytest.skip("needs another GPU")
    for kernel in module:
        compiled = compiled_with_report(kernel, arch)  # the very code that the report is of
        raw = cupy.cuda.function.Module()
        raw.load(compiled.code)
        function = raw.get_function(compiled.mangled.get(kernel.name, kernel.name))
        attribute = cupy.cuda.driver.funcGetAttribute
        found = occupancy(kernel, 32, arch=arch)
        needs = found.resources
        # CUfunction_attribute: 1 shared, 3 local, 4 registers
        assert [attribute(n, function.ptr) for n in (4, 3, 1)] == [
            needs.registers,
            needs.local_bytes,
            needs.static_shared,
        ]
        for threads in (32, 96, 256, 640, 1024):
            if threads <= found.max_threads:
                count = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
                assert found.at(threads).blocks_per_sm == count(function.ptr, threads, 0), threads


@pytest.mark.skipif(nvrtc_version() < (12, 9), reason="this NVRTC has no cache to keep out of")
def test_the_compiler_is_asked_for_its_report_and_not_for_what_it_has_cached(monkeypatch):
    asked = []
    module = load("04_first_kernels/threads/vec_add.cu")
    compiled = module.compiled
    monkeypatch.setattr(
        module, "compiled", lambda arch, *options: asked.extend(options) or compiled(arch, *options)
    )
    assert occupancy(module, 256).resources.registers > 0
    assert "--no-cache" in asked


@pytest.mark.parametrize(("version", "fresh"), [((12, 8), False), ((12, 9), True), ((13, 0), True)])
def test_only_a_compiler_that_has_a_cache_is_told_not_to_use_it(version, fresh, monkeypatch):
    monkeypatch.setattr(occupancy_calculator, "nvrtc_version", lambda: version)
    module = SimpleNamespace(compiled=lambda arch, *options: options)
    assert ("--no-cache" in compiled_with_report(SimpleNamespace(module=module), "sm_90")) == fresh
