"""The simulated GPU misleads careless benchmarks as a real one does, and no careful ones."""

from statistics import median

import pytest

from course_utils import SimulatedGPU
from course_utils.benchmarks.harness.simulated_gpu import DIRTY, LAUNCH_MS, QUEUE, WARM


def timed(gpu, run):
    """Milliseconds of one run between two events."""
    start = gpu.event()
    run()
    end = gpu.event()
    gpu.synchronize()
    return gpu.elapsed_ms(start, end)


def clean(gpu):
    gpu.write_256_mb()
    gpu.read_256_mb()


def settled(gpu, kernel, count=1000):
    """The mean time of the last half of many runs back to back."""
    times = [timed(gpu, kernel) for _ in range(count)][count // 2 :]
    return sum(times) / len(times)


def test_the_host_is_back_before_the_gpu_has_ended():
    gpu = SimulatedGPU()
    kernel = gpu.kernel(ms=5)
    start = gpu.time()
    kernel()
    launched = gpu.time()
    gpu.synchronize()
    assert 1e3 * (launched - start) < 2 * LAUNCH_MS
    assert 1e3 * (gpu.time() - start) == pytest.approx(5, rel=0.02)


def test_a_full_queue_lets_the_host_wait_for_its_first_launch():
    gpu = SimulatedGPU()
    kernel = gpu.kernel(ms=1)
    start = gpu.time()
    for _ in range(QUEUE + 100):
        kernel()
    assert 1e3 * (gpu.time() - start) == pytest.approx(100, rel=0.1)


def test_an_event_that_the_gpu_has_not_reached_has_no_time():
    gpu = SimulatedGPU()
    start = gpu.event()
    gpu.kernel(ms=5)()
    with pytest.raises(RuntimeError, match="synchronize"):
        gpu.elapsed_ms(start, gpu.event())


def test_only_the_first_call_compiles():
    gpu = SimulatedGPU()
    kernel = gpu.kernel(ms=1, compile_ms=200)
    assert timed(gpu, kernel) == pytest.approx(201, rel=0.02)
    assert timed(gpu, kernel) == pytest.approx(1, rel=0.05)


@pytest.mark.parametrize(
    ("prepare", "expected"),
    [
        (lambda gpu: None, 0.5),
        (SimulatedGPU.write_256_mb, 1.2),
        (SimulatedGPU.read_256_mb, 1.0),
        (clean, 1.0),
    ],
)
def test_a_run_takes_what_it_finds_in_l2(prepare, expected):
    gpu = SimulatedGPU()
    kernel = gpu.kernel(ms=1, from_cache=0.5, beside_writes=1.2)
    kernel()
    prepare(gpu)
    assert timed(gpu, kernel) == pytest.approx(expected, rel=0.03)


def test_another_kernel_leaves_nothing_of_a_kernel_s_input():
    gpu = SimulatedGPU()
    one, other = (gpu.kernel(1, name, from_cache=0.5) for name in ("one", "other"))
    one()
    other()
    assert timed(gpu, one) == pytest.approx(1, rel=0.03)


def test_clock_and_power_settle_while_it_works_and_recover_in_a_rest():
    gpu = SimulatedGPU()
    kernel = gpu.kernel(ms=2, at_limit=1.2)
    assert timed(gpu, kernel) == pytest.approx(2, rel=0.03)
    assert settled(gpu, kernel) == pytest.approx(2.4, rel=0.02)
    long_rest = gpu.kernel(0, compile_ms=3000)
    long_rest()
    assert timed(gpu, kernel) == pytest.approx(2, rel=0.03)


def test_some_runs_take_much_longer_and_the_median_does_not_mind():
    gpu = SimulatedGPU(spikes=0.2)
    kernel = gpu.kernel(ms=1)
    times = [timed(gpu, kernel) for _ in range(200)]
    assert median(times) == pytest.approx(1, rel=0.02)
    assert sum(times) / len(times) > 1.03 and max(times) > 1.2


def test_the_clock_wanders_around_its_mean():
    gpu = SimulatedGPU(wander=0.05)
    kernel = gpu.kernel(ms=5)
    times = [timed(gpu, kernel) for _ in range(700)]
    assert sum(times) / len(times) == pytest.approx(5, rel=0.01)
    parts = [sum(times[k : k + 10]) / 10 for k in range(0, 700, 10)]
    assert max(parts) > 5.15 and min(parts) < 4.85


def test_a_seed_makes_the_same_noise_again():
    first, again, other = (SimulatedGPU(seed, spikes=0.2) for seed in (1, 1, 2))
    a, b, c = ([timed(gpu, gpu.kernel(1)) for _ in range(9)] for gpu in (first, again, other))
    assert a == b != c


def test_a_kernel_computes_with_the_arguments_of_its_launch_and_may_take_less():
    gpu, seen = SimulatedGPU(), []

    def computes(x):
        seen.append(x)
        return 0.5 if x == 0 else None

    kernel = gpu.kernel(ms=1, computes=computes)
    assert timed(gpu, lambda: kernel(0)) == pytest.approx(0.5, rel=0.05)
    assert timed(gpu, lambda: kernel(7)) == pytest.approx(1, rel=0.05)
    assert seen == [0, 7]


def test_it_keeps_what_happened():
    gpu = SimulatedGPU()
    kernel = gpu.kernel(ms=1, compile_ms=9)
    gpu.time()
    kernel()
    gpu.event()
    kernel()
    gpu.write_256_mb()
    kernel()
    assert [run.cache for run in gpu.runs] == ["clean", WARM, DIRTY]
    before, after = gpu.readings
    assert not before.is_event and after.is_event
    assert (before.compiled, after.compiled) == (0, 1)
    assert after.busy_until_ms > after.host_ms
