"""Limits in seconds follow the machine's speed, and never fall below those of the reference."""

from types import SimpleNamespace

import pytest

from course_utils.paths import ROOT
from tests import machine_speed
from tests.machine_speed import REFERENCE, slowed, slowness


@pytest.mark.parametrize(
    "times, load, cores, slower",
    [(0.5, 0.0, 2, 1.0), (1.0, 0.0, 2, 1.0), (2.0, 0.0, 2, 2.0), (1.0, 6.0, 2, 4.0)],
    ids=["a fast machine", "the reference", "a slow machine", "a busy machine"],
)
def test_a_slow_or_busy_machine_gets_more_time(times, load, cores, slower):
    assert slowed(times * REFERENCE, load, cores) == pytest.approx(slower)


def test_this_machine_is_measured_once():
    assert 1.0 <= slowness() == slowness()


@pytest.mark.parametrize("times, seconds", [(1.0, 300.0), (2.5, 750.0), (100.0, 900.0)])
def test_nbval_s_limit_follows_it(monkeypatch, times, seconds):
    monkeypatch.setattr(machine_speed, "slowness", lambda: times)
    config = SimpleNamespace(option=SimpleNamespace())
    machine_speed.pytest_configure(config)
    assert config.option.nbval_cell_timeout == seconds


def test_the_makefile_gives_nbval_that_limit():
    (line,) = [x for x in (ROOT / "Makefile").read_text().splitlines() if x.startswith("NBVAL")]
    assert "-p tests.machine_speed" in line and "--nbval-cell-timeout" not in line
