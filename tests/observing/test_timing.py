"""``bench`` measures on a GPU and counts on the emulator."""

import numpy as np
import pytest

from course_utils import bench, cp, load
from course_utils.devices.emulated_cuda import NoTimesError
from course_utils.observing.timing import Bench

N = 512


def work():
    kernel = load("04_first_kernels/threads/vec_add.cu")
    a, b, c = (cp.ones(N, np.float32) for _ in range(3))
    return lambda: kernel(2, 256, (a, b, c, N))


@pytest.mark.gpu
def test_on_a_gpu_every_run_has_a_time():
    found = bench(work(), repeats=7, bytes=12 * N, flops=N)
    assert len(found.times_ms) == 7 and found.median_ms > 0
    assert "TB/s" in repr(found) and "TFLOP/s" in repr(found)


@pytest.mark.emulator
def test_on_the_emulator_the_counts_of_one_run_are_summed():
    launch = work()
    one = bench(launch)
    two = bench(lambda: (launch(), launch()))
    assert (one.launches, two.launches) == (1, 2)
    assert two.counts.thread_instructions == 2 * one.counts.thread_instructions
    assert one.counts.opcodes["st.global.f32"] == N
    assert one.counts.global_load_bytes == 2 * 4 * N


@pytest.mark.emulator
def test_on_the_emulator_there_is_no_time():
    found = bench(work())
    with pytest.raises(NoTimesError, match="measured on a GPU only"):
        found.median_ms  # noqa: B018
    assert "ms" not in repr(found)


def test_median_and_spread_ignore_one_slow_run():
    found = Bench((1.0, 1.1, 1.2, 1.3, 50.0), bytes=12 * 10**9, flops=10**9)
    assert found.median_ms == 1.2
    assert found.spread_ms == pytest.approx(0.2)
    assert found.bytes_per_second == pytest.approx(1e13)
    assert repr(found) == "1.2 ms, spread 0.2 ms in 5 runs, 10 TB/s, 0.833 TFLOP/s"


def test_a_rate_without_an_amount_says_what_to_give():
    with pytest.raises(ValueError, match="bytes="):
        Bench((1.0,)).bytes_per_second  # noqa: B018


def test_at_least_one_run_is_measured():
    with pytest.raises(ValueError, match="at least 1"):
        bench(lambda: None, repeats=0)
