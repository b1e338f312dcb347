"""One softmax in six ways: what runs without a GPU is right, and a wrong one is named."""

import numpy as np
import pytest

from course_utils.benchmarks.experiments import six_ways
from course_utils.benchmarks.harness.arrays import softmax_of
from course_utils.devices.selection import ON_GPU
from course_utils.errors import LessonError
from course_utils.paths import KERNELS
from course_utils.records.measured_files import REFERENCE, measurements

X = np.random.default_rng(3).standard_normal((70, 33), dtype=np.float32) * 30


def test_every_source_of_the_record_exists():
    assert all((KERNELS / name).is_file() for name in six_ways.SOURCES)


def test_the_ways_on_the_cpu_are_right_and_timed():
    taken = six_ways.on_the_cpu(X)
    assert list(taken) == ["Python loop", "NumPy"] and all(ms >= 0 for ms in taken.values())


def test_a_way_that_is_wrong_is_named(monkeypatch):
    real = six_ways.way
    monkeypatch.setattr(
        six_ways, "way", lambda name: np.zeros_like if name == "with_numpy" else real(name)
    )
    with pytest.raises(LessonError, match="NumPy"):
        six_ways.on_the_cpu(X)


def test_pytorchs_way_is_right():
    torch = pytest.importorskip("torch")
    result = six_ways.way("with_pytorch")(torch.from_numpy(X)).numpy()
    # On a CPU PyTorch was 7e-5 off in one run of many.
    np.testing.assert_allclose(result, softmax_of(X), rtol=2e-4, atol=1e-7)


def test_the_time_of_several_runs_is_their_median(monkeypatch):
    clock = iter([0, 5, 10, 11, 20, 22])
    monkeypatch.setattr(six_ways.time, "perf_counter", lambda: next(clock))
    assert six_ways.seconds(lambda: "last", runs=3) == (2, "last")


def test_the_h200s_record_holds_what_the_notebook_says_of_it():
    record = measurements("six_ways", REFERENCE)
    times, three_reads = record["median_ms"], record["three_reads_ms"]
    assert max(times["Triton"], times["CUDA C++"]) < times["torch.softmax"]
    assert times["torch.softmax"] < times["torch.compile"] < three_reads["a warp a row"]
    assert record["loads_of_compile"] == 2
    assert three_reads["a block a row"] / three_reads["a warp a row"] == pytest.approx(0.5, abs=0.1)


@pytest.mark.skipif(ON_GPU, reason="for machines with no GPU")
def test_without_a_gpu_it_says_what_it_needs():
    with pytest.raises(LessonError, match="needs PyTorch with CUDA, and Triton"):
        six_ways.measure()
