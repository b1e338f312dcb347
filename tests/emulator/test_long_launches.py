"""A launch that will take minutes says so after some seconds, once."""

import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import EmulatedModule, Options, spoken_time
from course_utils.emulator.launching import emulated_launch

BATCHES = 8 * emulated_launch.BATCH_LANES // 32  # blocks of one warp


@pytest.fixture(scope="module")
def launch():
    source = 'extern "C" __global__ void empty_kernel() {}'
    return EmulatedModule(compile_ptx(source, filename="x.cu")).entry("empty_kernel").launch


@pytest.mark.parametrize(
    "quiet_seconds, to_go, grid, options, lines",
    [
        (-1.0, 0.0, BATCHES, Options(), 1),
        (60.0, 0.0, BATCHES, Options(), 0),
        (-1.0, 60.0, BATCHES, Options(), 0),
        (-1.0, 0.0, 1, Options(), 0),
        (-1.0, 0.0, BATCHES, Options(quiet=True), 0),
    ],
    ids=["long", "some seconds only", "almost done", "no block is left", "told to be quiet"],
)
def test_it_says_how_long(launch, monkeypatch, capsys, quiet_seconds, to_go, grid, options, lines):
    monkeypatch.setattr(emulated_launch, "QUIET", quiet_seconds)
    monkeypatch.setattr(emulated_launch, "MUCH", to_go)
    launch(grid, 1, (), options=options)
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == lines
    assert not lines or f"of its {BATCHES:,} blocks in 0 seconds" in said.err
    assert not lines or "try a smaller n" in said.err


@pytest.mark.parametrize(
    "seconds, words",
    [
        (0.4, "0 seconds"),
        (119, "119 seconds"),
        (150, "2 minutes"),
        (9000, "2 hours"),
        (1e6, "12 days"),
    ],
)
def test_a_time_is_spoken_of_in_its_unit(seconds, words):
    assert spoken_time(seconds) == words
