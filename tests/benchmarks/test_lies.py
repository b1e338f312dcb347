"""How a benchmark lies: what the H200's record holds is what the notebook says of it."""

import pytest

from course_utils.benchmarks.experiments import lies
from course_utils.devices.selection import ON_GPU
from course_utils.errors import LessonError
from course_utils.paths import KERNELS
from course_utils.records.measured_files import REFERENCE, measurements

PEAK_FP32, DATA_SHEET = 66.9e12, 4.8e12  # FLOP/s and bytes/s of an H200


@pytest.fixture(scope="module")
def record():
    return measurements("lies", REFERENCE)


def test_every_source_of_the_record_exists():
    assert all((KERNELS / name).is_file() for name in lies.SOURCES)


def test_a_launch_alone_takes_less_than_the_kernel_until_the_queue_is_full(record):
    queue = record["queue"]
    few, many = queue["launches"].index(256), -1
    for at, least, most in ((few, 0.0, 0.5), (many, 0.5, 1.0)):
        each = queue["not_waited_ms"][at] / queue["launches"][at]
        assert least < each / queue["idle_ms"] < most
    waited = queue["waited_ms"][many] / queue["launches"][many]
    assert waited == pytest.approx(queue["idle_ms"], rel=0.1)


def test_the_first_call_takes_many_times_as_long_as_the_others(record):
    first, *others = record["cold_start"]["ms"]
    assert first > 100 * sorted(others)[len(others) // 2] > 100 * record["cold_start"]["true_ms"]


def test_a_warm_cache_is_faster_than_memory_and_a_dirty_one_slower(record):
    caches = record["caches"]
    at = caches["bytes"].index(1 << 25)
    clean = caches["written_and_read"]
    assert caches["warm"][at] < 0.8 * clean[at] and caches["written"][at] > 1.2 * clean[at]
    assert caches["warm"][-1] == pytest.approx(clean[-1], rel=0.02)


def test_events_on_a_gpu_with_nothing_to_do_see_the_launch(record):
    caches, large = record["caches"], record["caches"]["bytes"].index(1 << 28)
    assert record["queue"]["idle_ms"] > 1.03 * caches["warm"][large]


def test_zeros_are_faster_than_random_numbers(record):
    zeros, noise = (record["inputs"][name] for name in ("zeros", "random"))
    assert zeros["burst_ms"] < noise["burst_ms"] and zeros["sustained_ms"] < noise["sustained_ms"]


def test_tf32_is_faster_than_fp32_can_be_and_less_precise(record):
    full, tf32 = (record["precision"][name] for name in ("fp32", "TF32 allowed"))
    assert full["ms"] > record["precision"]["flops"] / PEAK_FP32 * 1e3 > tf32["ms"]
    assert tf32["error"] > 10 * full["error"]


def test_a_view_is_faster_than_any_memory(record):
    moved = 8 * record["transposes"]["n"] ** 2
    assert moved / record["transposes"]["view_ms"] * 1e3 > 10 * DATA_SHEET
    assert moved / record["transposes"]["copy_ms"] * 1e3 < DATA_SHEET


@pytest.mark.skipif(ON_GPU, reason="for machines with no GPU")
def test_without_a_gpu_it_says_what_it_needs():
    with pytest.raises(LessonError, match="lies needs PyTorch with CUDA"):
        lies.measure()
