"""The records of measurements: merged, looked up, and drawn as a table."""

import json

import numpy as np
import pytest

from course_utils import cp, load
from course_utils.benchmarks import CASES, stored
from course_utils.benchmarks.case import KernelCall, Work
from course_utils.devices.properties import description
from course_utils.errors import LessonError
from course_utils.records import readme_table as table
from course_utils.records.store import file_in, store


def record(kernel, size, milliseconds, measured="2026-01-01T00:00", what="sum"):
    return {
        "kernel": kernel,
        "what": what,
        "size": size,
        "bytes": 10**9,
        "flops": 10**6,
        "ours": {"median_ms": milliseconds, "spread": 0.0},
        "baseline": {"name": "library", "median_ms": 2.0},
        "ratio": 2.0 / milliseconds,
        "measured": measured,
    }


def test_merging_keeps_the_newer_record_of_a_kernel_and_size():
    old = [record("a", 1, 5.0, "2026-01-02T00:00"), record("b", 1, 5.0)]
    new = [record("a", 1, 4.0, "2026-01-01T00:00"), record("b", 1, 4.0, "2026-01-03T00:00")]
    assert [r["ours"]["median_ms"] for r in table.merged(old, new, "ab")] == [5.0, 4.0]


def test_merging_keeps_the_order_of_the_cases_and_drops_what_is_no_case_any_more():
    records = [record("gone", 1, 1.0), record("b", 1, 1.0), record("a", 1, 1.0)]
    assert [r["kernel"] for r in table.merged(records, [], ["a", "b"])] == ["a", "b"]


def test_the_table_has_one_row_for_a_task_with_the_fastest_of_our_kernels():
    content = {"device": "X", "records": [record("slow", [2, 3], 2.0), record("fast", [2, 3], 1.0)]}
    drawn = table.with_table("before" + "".join(table.MARKS) + "after", content)
    assert drawn.count("| sum | 2 × 3 | fast | 1 ms | library | 2 ms | 2.00× as fast |") == 1
    assert "slow" not in drawn


@pytest.fixture
def folder(tmp_path, monkeypatch):
    content = {"device": "X", "records": [record("a", [2, 3], 4.0)]}
    (tmp_path / "x.json").write_text(json.dumps(content))
    monkeypatch.setattr(table, "FOLDER", tmp_path)


@pytest.mark.parametrize("what, ours, theirs", [("bytes", 250.0, 500.0), ("flops", 0.25, 0.5)])
def test_stored_gives_rates_in_giga_a_second(folder, what, ours, theirs):
    assert stored(["a"], (2, 3), what) == ({"a": ours}, ("library", theirs), "X")


def test_what_was_not_measured_is_named(folder):
    with pytest.raises(LessonError, match="b at size 4 is not in x.json"):
        stored(["b"], 4)


def test_the_hash_of_a_source_is_that_of_its_file():
    hashes = {case.files: case.source_hash for case in CASES}
    assert len(set(hashes.values())) == len(hashes)


def test_a_wrong_element_is_named_with_what_it_should_be():
    out = cp.asarray(np.array([1.0, 5.0, 3.0], np.float32))
    work = Work((), out, lambda: cp.asarray(np.array([1.0, 2.0, 3.0])), rtol=1e-6)
    assert work.wrong() == "1 of 3 elements are wrong; element 1 is 5.0, expected 2.0"


def test_work_clears_what_its_kernel_adds_to():
    kernel = load(source='extern "C" __global__ void count(int *x) { atomicAdd(x, 1); }').kernel
    out = cp.full(1, 7, cp.int32)
    work = Work((KernelCall(kernel, 1, 32, (out,)),), out, lambda: cp.full(1, 32.0), cleared=(out,))
    work()
    work()
    assert not work.wrong()


@pytest.mark.parametrize("n", [1, 5, 4099])
def test_reading_everything_keeps_nothing_unless_it_is_no_number(n):
    words, never = cp.ones(4 * n, cp.float32), cp.zeros(1, cp.float32)
    read = load("04_first_kernels/coalescing/read_only.cu")
    read((2,), (256,), (words, never, n))
    assert never.get()[0] == 0
    words[-1] = cp.nan
    read((2,), (256,), (words, never, n))
    assert np.isnan(never.get()[0])


def test_measurements_go_to_a_file_named_after_their_device(tmp_path):
    content = {"device": "NVIDIA H200", "times": [1, 2]}
    file = store(tmp_path / "new", content)
    assert file == file_in(tmp_path / "new", "NVIDIA H200") and file.name == "nvidia_h200.json"
    assert json.loads(file.read_text(encoding="utf-8")) == content
    assert store(tmp_path, content, "{}\n").read_text(encoding="utf-8") == "{}\n"


def test_a_file_of_measurements_names_device_driver_and_cuda():
    assert list(description()) == ["device", "driver", "cuda"]
