"""The experiments that take one cause away: each changes what it means to, and nothing else."""

import numpy as np
import pytest

from course_utils import cp, load
from course_utils.benchmarks.cases.fft import roots
from course_utils.benchmarks.experiments import one_cause_away as causes
from course_utils.devices.selection import ON_GPU
from course_utils.errors import LessonError
from course_utils.observing.profiling import profile


def test_what_a_source_does_not_hold_is_not_exchanged():
    with pytest.raises(LessonError, match="does not hold 'colour'"):
        load(causes.TRANSPOSE).edited({"colour": "color"})


@pytest.mark.skipif(ON_GPU, reason="counts of the emulator")
def test_a_transpose_that_reads_down_a_column_is_right_and_so_is_one_past_l1():
    a = cp.arange(64 * 64, dtype=cp.float32).reshape(64, 64)
    for changes in (causes.PAST_L1, causes.READS_A_COLUMN, causes.READS_A_COLUMN | causes.PAST_L1):
        out = cp.zeros((64, 64), cp.float32)
        kernel = load(causes.TRANSPOSE).edited(changes).kernel
        found = profile(kernel, (2, 2), (32, 32), (a, out, 64, 64)).counts
        assert np.array_equal(out.get(), a.get().T)
        loads = found.global_load_sectors / found.global_load_requests
        assert loads == (32 if "threadIdx.x" in "".join(changes) else 4)


@pytest.mark.skipif(ON_GPU, reason="counts of the emulator")
def test_one_factor_needs_as_many_loads_and_a_sector_each():
    x = cp.zeros((1, 256, 2), cp.float32)
    sectors, requests = {}, {}
    for name, changes in (("table", {}), ("one", causes.ONE_FACTOR)):
        module = load(causes.TWIDDLES, defines={"POINTS": 256, "TWIDDLES": 2}).edited(changes)
        counts = profile(module.kernel, 1, 16, (x, cp.empty_like(x), roots(256))).counts
        sectors[name], requests[name] = counts.global_load_sectors, counts.global_load_requests
    assert requests["one"] == requests["table"]
    assert sectors["table"] - sectors["one"] > requests["one"]


@pytest.mark.skipif(ON_GPU, reason="counts of the emulator")
def test_a_cluster_sends_as_much_to_itself_and_nothing_if_it_keeps_its_points():
    module = load(causes.CLUSTER, defines={"N1": 128, "N2": 128, "BLOCKS": 8}, arch="sm_90a")
    x = cp.zeros((1, 128 * 128, 2), cp.float32)
    sent, instructions = [], []
    for changes in ({}, causes.TO_ITSELF, causes.OWN_STORES):
        kernel = module.edited(changes).kernel
        counts = profile(kernel, 8, 128, (x, cp.empty_like(x)), shared_mem=8 * 16 * 129).counts
        sent.append(sum(n for name, n in counts.opcodes.items() if "shared::cluster" in name))
        instructions.append(counts.warp_instructions)
    assert sent[0] == sent[1] > sent[2] == 0
    assert instructions[1] == pytest.approx(instructions[0], rel=0.02)
    assert instructions[2] < 0.95 * instructions[1]  # its arithmetic is gone, too
