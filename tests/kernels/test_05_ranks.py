"""Several ranks as processes: collectives, one network three ways, and a rank that fails."""

import json
from importlib.util import find_spec

import pytest

from course_utils import measurements
from course_utils.benchmarks.experiments import several_gpus
from course_utils.benchmarks.experiments.several_gpus import start_ranks
from course_utils.devices.selection import ON_GPU
from course_utils.errors import LessonError

NAMES = "broadcast", "all_reduce", "reduce_scatter", "all_gather", "send_recv"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """What ranks said, and the file that they left; one run for all, since torch starts slowly."""
    if not find_spec("torch"):
        pytest.skip("starts PyTorch")
    into = tmp_path_factory.mktemp("ranks") / "found.json"
    parts = "collectives", "parallel_mlp", "collective_times", "data_is_missing"
    done = start_ranks(2, *parts, "--into", str(into), seconds=120)
    return done, into


def test_every_collective_leaves_on_each_rank_what_its_name_says(run):
    lines = [line for line in run[0].stdout.splitlines() if "->" in line]
    assert tuple(line.split()[0] for line in lines[::2]) == NAMES
    assert lines[2].endswith("rank 0: [0, 1, 2, 3] -> [10, 12, 14, 16]")
    assert lines[5].endswith("rank 1: [10, 11, 12, 13] -> [14, 16]")


def test_a_network_shared_out_three_ways_has_the_gradients_of_one_process(run):
    lines = [line for line in run[0].stdout.splitlines() if "gradients as of one process" in line]
    assert [line.split()[0] for line in lines] == ["data", "tensor", "pipeline"]
    assert ["[1024, 1024]" in line for line in lines] == [True, False, False]


def test_the_times_are_in_the_file_although_the_run_fails(run):
    times = json.loads(run[1].read_text())["times_us"]["all_reduce"]
    assert all(took > 0 for _, took in times)


def test_a_rank_that_fails_ends_the_run_with_its_message(run):
    """Whichever rank torchrun saw fail first: the other one loses its connection."""
    assert run[0].returncode
    assert "FileNotFoundError: rank 1 of 2 finds no part of the data" in run[0].stderr


@pytest.mark.skipif(ON_GPU, reason="there may be two GPUs")
@pytest.mark.parametrize("measure", [several_gpus.measure, several_gpus.measure_experts])
def test_without_two_gpus_nothing_is_measured(measure):
    with pytest.raises(LessonError, match="GPU"):
        measure()


def test_the_record_has_each_collective_at_each_size_and_both_steps_of_ddp():
    record = measurements("nccl")
    times = {name: dict(pairs) for name, pairs in record["times_us"].items()}
    sizes = list(times["all_reduce"])
    for name in (*NAMES, "all_reduce_push", "all_reduce_slices", "all_reduce from Python"):
        assert list(times[name]) == sizes
    assert set(times["all_reduce_flagged"]) <= set(sizes)
    panels = record["ddp"]["panels"]
    assert list(panels) == list(record["ddp"]["step_ms"])
    assert all({"computation", "all-reduce"} == {span[0] for span in panels[n]} for n in panels)
