"""Tests that forked workers run are reported as one process would, and a worker may die."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from course_utils.paths import ROOT

OUTCOMES = """
import os, warnings, pytest
COLLECTED_IN = os.getpid()

@pytest.fixture(scope="module")
def process():
    yield os.getpid()
    with open("ends", "a") as file:
        print(os.getpid(), file=file)

@pytest.mark.parametrize("n", range(3))
def test_together(n, process, tmp_path):
    (tmp_path / "own").touch()
    assert os.getpid() == process != COLLECTED_IN

def test_what_it_prints(capfd):
    os.write(1, b"seen")
    assert capfd.readouterr().out == "seen"

def test_fails():
    print("printed before")
    warnings.warn("of a worker")
    assert 1 == 2

def test_skips():
    pytest.skip("a reason")
"""
DEADLY = """
import os, pytest
import test_outcomes  # collected once, in the same process

@pytest.mark.parametrize("n", range(4))
def test_each(n):
    assert os.getppid() == test_outcomes.COLLECTED_IN
    if n == 1:
        os._exit(7)

def test_last():
    os._exit(8)
"""


INTERRUPTED = """
import pathlib, pytest, time
BEGUN = pathlib.Path("begun")

@pytest.fixture
def server():
    yield
    BEGUN.with_name("ended").touch()

def test_long(server):
    BEGUN.touch()
    time.sleep(60)
"""
FAILING = """
import time
from test_interrupted import BEGUN

def test_waits():  # then the other worker has the other file
    while not BEGUN.exists():
        time.sleep(0.01)

def test_fails():
    assert False
"""
STILLBORN = """
import os
os.register_at_fork(after_in_child=lambda: os._exit(0))

def test_never_run():
    pass
"""


def run_of(folder, *options, **modules):
    for name, text in modules.items():
        (folder / f"test_{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-ra", "-p", "tests.forked_workers"]
    others = ["no:cacheprovider", "no:nbval", "no:xdist", "no:hypothesispytest", "no:anyio"]
    for plugin in (*others, "no:cuda_kernel"):
        command += ["-p", plugin]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*command, "--forks=2", "--rootdir=.", *options, "."],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")
    done = run_of(folder, deadly=DEADLY, outcomes=OUTCOMES)
    assert done.returncode == 1, done.stdout + done.stderr
    ends = (folder / "ends").read_text().splitlines()
    return done.stdout, ends


def test_every_test_is_reported_once(said):
    assert "3 failed, 7 passed, 1 skipped, 1 warning" in said[0]
    assert "SKIPPED [1] test_outcomes.py" in said[0]


def test_a_failure_has_its_reason_and_what_was_printed(said):
    assert "assert 1 == 2" in said[0] and "printed before" in said[0]
    assert "UserWarning: of a worker" in said[0]


def test_the_test_of_a_worker_that_dies_has_failed_and_the_others_run(said):
    assert "FAILED test_deadly.py::test_each[1] - the worker ended with status 7" in said[0]
    assert "FAILED test_deadly.py::test_last - the worker ended with status 8" in said[0]


def test_what_a_module_s_tests_share_is_made_and_ended_once(said):
    assert len(said[1]) == 1


def test_the_first_failure_ends_the_others_and_what_they_have_set_up(tmp_path):
    done = run_of(tmp_path, "-x", interrupted=INTERRUPTED, failing=FAILING)
    assert done.returncode == 1 and "stopping after 1 failures" in done.stdout, done.stdout
    assert (tmp_path / "ended").exists()


def test_tests_that_no_worker_has_run_are_no_success(tmp_path):
    done = run_of(tmp_path, stillborn=STILLBORN)
    assert done.returncode == pytest.ExitCode.INTERNAL_ERROR
    assert "1 tests have not run" in done.stdout
