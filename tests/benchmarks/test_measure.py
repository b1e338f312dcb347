"""Bursts and seconds: how runs are counted, put together and written down."""

import re
from itertools import count, cycle

import pytest

from course_utils import cp, load
from course_utils.benchmarks import CASES, Case, KernelCall, Workload, bench_command
from course_utils.benchmarks.cases.matmul import grid_for
from course_utils.benchmarks.harness import measure, nvml, sustained
from course_utils.devices.selection import ON_GPU
from course_utils.launching.older_gpus import GpuTooOld
from course_utils.observing.timing import Bench


def test_ours_and_theirs_take_turns_and_each_side_is_a_mean_of_its_turns():
    asked = []
    turns = iter([(2.0, (1700, 690)), (3.0, (1500, 700)), (4.0, None), (6.0, (1600, 698))])

    def run_for(work, seconds):
        asked.append((work, seconds))
        return sustained.Turn(*next(turns))

    found = sustained.sustained("ours", "theirs", run_for)
    assert [work for work, _ in asked] == ["ours", "theirs", "theirs", "ours"]
    assert {seconds for _, seconds in asked} == {3.0}
    assert (found["ours_ms"], found["library_ms"], found["ratio"]) == (4.0, 3.5, 0.875)
    assert (found["ours_mhz"], found["ours_watts"]) == (1650, 694)
    assert (found["library_mhz"], found["library_watts"]) == (1500, 700)


def test_work_goes_on_until_the_seconds_are_over(monkeypatch):
    clock = 0.0

    def work():
        nonlocal clock
        clock += 5.0

    monkeypatch.setattr(sustained, "_mark", lambda: clock)
    monkeypatch.setattr(sustained, "_elapsed", lambda start, end: end - start)
    monkeypatch.setattr(
        sustained.gpu, "readable_faults", lambda name: sustained.gpu.without_waiting()
    )
    monkeypatch.setattr(nvml, "_reader", lambda: None)
    turn = sustained.back_to_back(work, 1.0)
    assert turn == sustained.Turn(5.0, None)
    assert 1000 < clock < 1200


def test_clock_and_power_are_those_of_the_second_half():
    samples = nvml.Samples([(1980, 100.0), (1900, 400.0), (1700, 699.0), (1704, 701.0)])
    assert samples.settled() == (1702, 700)
    assert nvml.Samples().settled() is None


def test_a_thread_samples_while_the_block_runs(monkeypatch):
    monkeypatch.setattr(nvml, "INTERVAL_S", 0.001)
    numbers = count()
    with nvml.sampled(lambda: (next(numbers), 1.0)) as samples:
        while len(samples.pairs) < 3:
            pass
    taken = len(samples.pairs)
    assert [clock for clock, _ in samples.pairs] == list(range(taken))


@pytest.mark.parametrize(
    "milliseconds, burst, expected",
    [(1.0, False, (2, 4)), (1.0, True, (2, 10)), (21.0, False, (0, 1)), (21.0, True, (0, 1))],
)
def test_a_burst_has_more_runs_and_slow_work_fewer(monkeypatch, milliseconds, burst, expected):
    monkeypatch.setattr(measure, "bench", lambda run, **how: Bench((milliseconds,)))
    assert measure._runs(lambda: None, burst) == expected


@pytest.mark.parametrize("names", [["ours"], ["ours", "a"], ["ours", "a", "b"], list("abcde")])
def test_each_comes_first_and_last_about_equally_often(names):
    orders = [measure.order(names, turn) for turn in range(measure.TURNS)]
    assert all(sorted(each) == sorted(names) for each in orders)
    for at in (0, -1):
        found = [sum(each[at] == name for each in orders) for name in names]
        assert max(found) - min(found) <= 2


@pytest.fixture
def recorded(monkeypatch):
    """A function: the record of a case whose work is a stub, where ours takes 2 and 3 ms, from turn
    to turn, and the only library that does the same takes 4 ms."""

    def library():
        return cp.ones(1, cp.float32)

    out = cp.zeros(1, cp.float32)
    work = Workload((), out, lambda: cp.ones(1, cp.float64), libraries={"theirs": library})
    turns = cycle((2.0, 3.0))

    def bench(run, warmup, repeats):
        record.order.append("theirs" if run is library else "ours")
        if run is library:
            return Bench((4.0,) * repeats)
        run()
        return Bench((next(turns),) * repeats)

    monkeypatch.setattr(measure, "_fast", lambda work: lambda: out.fill(1))
    monkeypatch.setattr(measure, "_runs", lambda run, burst: (2, 5 if burst else 3))
    monkeypatch.setattr(measure, "bench", bench)
    monkeypatch.setattr(measure, "_resources", lambda work: {"registers": 32, "shared_bytes": 0})
    monkeypatch.setattr(measure, "device_name", lambda: "NVIDIA H200")
    monkeypatch.setattr(
        measure, "sustained", lambda ours, theirs, run_for: {"ratio": 1.1, "of": theirs}
    )

    def record(n):
        counts = (lambda n: 8 * n), (lambda n: 0)
        copy = "04_first_kernels/coalescing/copy.cu"
        case = Case("a", "a", (copy,), lambda n: work, *counts, (4, 5), sustained_sizes=(5,))
        return measure.measure(case, n, {"copy": 32.0})

    record.library, record.order = library, []
    return record


def test_work_that_is_a_graph_is_captured(monkeypatch):
    monkeypatch.setattr(measure, "graph_of", lambda run: ("graph of", run))
    out = cp.zeros(1, cp.float32)
    assert measure._fast(Workload((), out, lambda: out, as_a_graph=True))[0] == "graph of"
    assert callable(measure._fast(Workload((), out, lambda: out)))


def test_turns_are_taken_in_changing_order(recorded):
    recorded(4)
    assert recorded.order[:6] == ["ours", "theirs", "theirs", "ours", "theirs", "ours"]


def test_a_median_is_that_of_the_runs_of_all_turns(recorded):
    found = recorded(4)
    assert found["ours"] == {"median_ms": 2.5, "spread": 0.4, "runs": 3 * measure.TURNS}
    assert (found["libraries"], found["ratio"]) == ({"theirs": 4.0}, 1.6)
    assert found["roofline_fraction"] == 400 and found["sustained"] is None


def test_the_fastest_library_is_the_one_that_runs_for_seconds(recorded):
    found = recorded(5)
    assert found["ours"]["runs"] == 5 * measure.TURNS
    assert found["sustained"] == {"ratio": 1.1, "of": recorded.library}


def test_what_is_measured_for_seconds_is_also_measured_in_bursts():
    chosen = [case for case in CASES if case.sustained_sizes]
    told = re.compile(
        "^(grouped )?GEMM, |^convolution, (fp32|bf16)$|^(gradient of )?(causal )?attention on wgmma"
        "|^QR of many matrices|^a linear layer and its loss and gradients"
    )
    assert {case.what for case in chosen} == {case.what for case in CASES if told.search(case.what)}
    assert all(set(case.sustained_sizes) <= set(case.gpu_sizes) for case in chosen)


def test_the_emulator_s_copies_of_work_share_what_the_launches_share():
    kernel = load(source='extern "C" __global__ void add(int *x) { atomicAdd(x, 1); }').kernel
    out = cp.full(1, 7, cp.int32)
    launches = (KernelCall(kernel, 1, 32, (out,)),) * 2
    work = Workload(launches, out, lambda: cp.full(1, 64.0), cleared=(out,)).on_emulator()
    work()
    assert work.launches[0].args[0] is work.launches[1].args[0] is work.output is work.cleared[0]
    assert not work.wrong()


@pytest.mark.skipif(ON_GPU, reason="a GPU has its own number of multiprocessors")
def test_a_grid_has_no_block_without_a_step():
    assert [grid_for(tiles, steps) for tiles, steps in ((1, 1), (2, 1), (4, 32))] == [1, 2, 3]


@pytest.mark.gpu
def test_back_to_back_on_a_gpu_finds_a_time():
    x = cp.ones(1 << 20, cp.float32)
    turn = sustained.back_to_back(lambda: cp.add(x, x, out=x), 0.2)
    assert 1e-3 < turn.ms < 50  # others may keep the GPU busy too


def test_what_the_emulator_runs_in_place_of_a_gpu_is_not_timed():
    kernel = load("04_first_kernels/threads/vec_add.cu", device="emulator").kernel
    kernel.stands_in = True
    with pytest.raises(GpuTooOld, match="vec_add cannot be timed here"):
        KernelCall(kernel, 1, 32, ()).ready()


def test_the_oldest_records_are_measured_first_and_missing_ones_before_them(monkeypatch):
    sizes = [(case, size) for case in CASES for size in case.gpu_sizes if isinstance(size, tuple)]
    sizes = sizes[:4]
    missing, old, older, new = sizes
    records = [
        {"kernel": case.name, "size": list(size), "measured": measured}
        for (case, size), measured in (
            (new, "2026-11-28T17:11"),
            (older, "2026-11-22T08:00"),
            (old, "2026-11-23T09:30"),
        )
    ]
    monkeypatch.setattr(bench_command.kernel_records, "records_of", lambda gpu: records)
    assert bench_command.oldest_first(sizes) == [missing, older, old, new]
