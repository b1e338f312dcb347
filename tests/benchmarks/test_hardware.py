"""Memories and peaks of a GPU: how they are measured, and the figures that are stored."""

import pytest

from course_utils import hardware, measurements
from course_utils.benchmarks.experiments import memories
from course_utils.devices.selection import ON_GPU
from course_utils.errors import LessonError


@pytest.mark.parametrize("places, stride", [(1, 1), (7, 1), (64, 32)])
def test_a_ring_visits_every_place_once(places, stride):
    chain, at, seen = hardware.ring(places, stride), 0, []
    for _ in range(places):
        seen.append(at)
        at = int(chain[at])
    assert at == 0
    assert sorted(seen) == list(range(0, places * stride, stride))


def test_everything_that_can_be_measured_comes_with_the_course():
    assert set(hardware.MEASURES) <= set(measurements("hardware"))


@pytest.mark.skipif(ON_GPU, reason="a GPU measures for itself")
def test_without_a_gpu_measured_gives_the_stored_figures_and_their_gpu():
    content = measurements("hardware")
    assert hardware.measured("delay") == (content["delay"], content["device"])


@pytest.mark.skipif(ON_GPU, reason="a GPU can measure")
def test_without_a_gpu_nothing_is_measured():
    with pytest.raises(LessonError, match="measurements"):
        memories.latency(4096)
