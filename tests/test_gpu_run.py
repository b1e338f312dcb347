"""The record of the last run on a GPU: written from pytest's reports, read by ``doctor``."""

import subprocess

import pytest

from course_utils import gpu_run
from course_utils.devices import properties
from course_utils.errors import LessonError
from course_utils.paths import ROOT

REPORT = '<testsuites><testsuite tests="{}" failures="{}" errors="{}" skipped="{}"/></testsuites>'


@pytest.fixture
def report(tmp_path):
    def made(*numbers):
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.xml"
        file.write_text(REPORT.format(*numbers))
        return file

    return made


@pytest.fixture
def on_gpu(monkeypatch, tmp_path):
    monkeypatch.setattr(gpu_run, "need_gpu", lambda: None)
    monkeypatch.setattr(gpu_run, "description", lambda: {"device": "NVIDIA H200"})
    monkeypatch.setattr(gpu_run, "FILE", tmp_path / "gpu_run.json")
    monkeypatch.setattr(gpu_run, "_changed", lambda commit: [])


def test_a_run_is_written_down_with_its_counts(on_gpu, report, capsys):
    commit = "0" * 40
    gpu_run.write(commit, report(12, 0, 0, 2), report(5, 0, 0, 0))
    record = gpu_run.last()
    assert record["tests"] == {"passed": 10, "skipped": 2}
    assert (record["commit"], record["device"]) == (commit, "NVIDIA H200")
    assert "10 tests and 5 cells passed on one NVIDIA H200" in capsys.readouterr().out


@pytest.mark.parametrize("numbers", [(3, 1, 0, 0), (3, 0, 1, 0), (3, 0, 0, 3), (0, 0, 0, 0)])
def test_a_run_that_is_not_green_leaves_the_record_alone(on_gpu, report, numbers):
    with pytest.raises(LessonError, match="Nothing is recorded"):
        gpu_run.write("0" * 40, report(*numbers), report(1, 0, 0, 0))
    assert gpu_run.last() is None


def test_a_run_that_did_not_end_leaves_the_record_alone(on_gpu, report, tmp_path):
    with pytest.raises(LessonError, match="the run didn't end"):
        gpu_run.write("0" * 40, tmp_path / "missing.xml", report(1, 0, 0, 0))
    assert gpu_run.last() is None


def test_without_a_gpu_or_a_commit_nothing_is_written(on_gpu, report, monkeypatch):
    with pytest.raises(LessonError, match="COMMIT=HASH"):
        gpu_run.write("", *[report(1, 0, 0, 0)] * 2)
    monkeypatch.setattr(gpu_run, "need_gpu", properties.need_gpu)
    monkeypatch.setattr(properties, "ON_GPU", False)
    with pytest.raises(LessonError, match="this machine has none"):
        gpu_run.write("0" * 40, *[report(1, 0, 0, 0)] * 2)
    assert gpu_run.last() is None


def test_files_that_differ_from_the_commit_are_no_run_of_it(on_gpu, report, monkeypatch):
    monkeypatch.setattr(gpu_run, "_changed", lambda commit: ["course_utils/paths.py"])
    with pytest.raises(LessonError, match="course_utils/paths.py"):
        gpu_run.write("0" * 40, *[report(1, 0, 0, 0)] * 2)
    assert gpu_run.last() is None


def test_the_line_counts_the_commits_since(monkeypatch):
    record = {"commit": "HEAD~2", "date": "2026-01-02", "device": "NVIDIA H200"}
    record |= {"tests": {"passed": 1234}, "notebooks": {"passed": 5}}
    inside = subprocess.run(["git", "rev-parse", "HEAD~2"], cwd=ROOT, capture_output=True)
    if inside.returncode:
        pytest.skip("this checkout has no history")
    assert gpu_run.summary(record).endswith("commit HEAD~2, 2 commits ago)")
    assert "ago" not in gpu_run.summary(record | {"commit": "no such commit"})
