"""Chapter 09's step in PyTorch: each way does the same step, and what fails is told."""

import time
from importlib.util import find_spec

import numpy as np
import pytest

from course_utils import digits, measurements
from course_utils.benchmarks.experiments import (
    mnist_measurer,
    mnist_race,
    mnist_step,
    mnist_ways,
)
from course_utils.benchmarks.experiments.mnist_ways import BATCHES, RACED, WAYS, StepPlan
from course_utils.devices.selection import ON_GPU
from course_utils.errors import LessonError
from course_utils.paths import KERNELS
from course_utils.records.measured_files import REFERENCE

needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="runs PyTorch")
no_gpu = pytest.mark.skipif(ON_GPU, reason="for machines with no GPU")


def training(precision="fp32", layout="NCHW", batch=16):
    import torch

    images, labels = digits()
    given = torch.from_numpy(images[:64]), torch.from_numpy(labels[:64].astype(np.int64))
    return mnist_ways.Training(StepPlan("", precision, layout, batch), *given, device="cpu")


def losses(step, steps=3):
    return [float(step()) for _ in range(steps)]


def test_every_source_exists():
    for name in {*mnist_step.SOURCES, *mnist_race.SOURCES}:
        assert (KERNELS / name).is_file()


@needs_torch
@pytest.mark.parametrize("precision, layout", [("fp32", "channels_last"), ("bf16", "NCHW")])
def test_every_precision_and_layout_makes_the_same_steps(precision, layout):
    expected = losses(mnist_ways.eager(training()))
    assert losses(mnist_ways.eager(training(precision, layout))) == pytest.approx(expected, 0.02)
    assert expected[-1] < expected[0]


@needs_torch
def test_a_step_as_one_function_is_the_step_of_the_loop():
    expected = losses(mnist_ways.eager(training()))
    assert losses(mnist_ways.one_function(training())) == pytest.approx(expected, 1e-4)


@needs_torch
def test_an_epoch_has_every_image_once():
    order = training().order
    assert sorted(order.flatten().tolist()) == list(range(64))


def test_the_plans_are_distinct_and_try_every_way_at_every_batch_of_the_race():
    plans = mnist_ways.plans()
    assert len(set(plans)) == len(plans)
    tried = {(plan.way, plan.precision, plan.batch) for plan in plans}
    assert {(way, p, batch) for way in WAYS for p in RACED for batch in BATCHES} <= tried


def test_the_fastest_of_each_precision_and_batch_is_found():
    times = [("fp32", 64, 9.0), ("fp32", 64, 3.0), ("TF32", 64, 1.0), ("bf16", 64, 2.0)]
    runs = [{**vars(StepPlan("eager", p, "NCHW", n)), "median_us": us} for p, n, us in times]
    assert mnist_step.fastest(runs) == {("fp32", 64): runs[1], ("bf16", 64): runs[3]}
    assert mnist_step.plan_of(runs[1]) == StepPlan("eager", "fp32", "NCHW", 64)


@needs_torch
@no_gpu
def test_a_worker_that_ends_says_why(tmp_path):
    worker = mnist_measurer.Measurer(StepPlan("eager", "fp32", "NCHW", 64), tmp_path)
    end = time.monotonic() + 60
    while not worker.ended() and time.monotonic() < end:
        time.sleep(0.1)
    assert not worker.ready()
    with pytest.raises(LessonError, match="has ended: .*needs PyTorch with CUDA"):
        worker.ask("figures")
    worker.stop()


@no_gpu
def test_without_a_gpu_they_say_what_they_need():
    for benchmark in (mnist_step, mnist_race):
        with pytest.raises(LessonError, match="needs PyTorch with CUDA"):
            benchmark.measure()


@pytest.mark.parametrize("precision", mnist_race.PRECISIONS)
def test_the_race_of_the_records_counts_since_both_networks_learn_alike(precision):
    rows = measurements("mnist_race", REFERENCE)["accuracies"][precision]
    assert [seed for seed, _, _ in rows] == list(mnist_race.SEEDS)
    ours, theirs = (sum(row[k] for row in rows) / len(rows) for k in (1, 2))
    assert abs(ours - theirs) <= 0.002  # the 0.2 points of notebook 07's rules
