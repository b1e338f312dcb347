"""The emulator's command line, as a user of nothing else of the course calls it."""

import os
import subprocess
import sys

import numpy as np
import pytest

from course_utils.emulator import CAUSE_STEPS, Cause
from course_utils.errors import LessonError
from course_utils.kernel_tool.command import kernel_in, main
from course_utils.kernel_tool.launch_values import arguments
from course_utils.paths import ROOT

SOURCE = """
__global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i LIMIT n) y[i] += a * x[i];
}
template <typename T> __global__ void scale(T *y, T a) { y[threadIdx.x] *= a; }
struct Pair { int a, b; };
__global__ void of_a_struct(Pair p, int *y) { y[0] = p.b; }
"""
LAUNCH = ("--kernel", "saxpy", "--grid", "4", "--block", "256")
RIGHT = ("--args", "2", "n=1000", "x=arange(1000)", "y=ones(1000)")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "saxpy.cu"
    path.write_text(SOURCE)
    return str(path)


def test_a_right_launch_is_shown_with_what_it_wrote(file, capsys, tmp_path):
    saved = tmp_path / "after.npz"
    assert main([file, *LAUNCH, "--define", "LIMIT=<", "--save", str(saved), *RIGHT]) == 0
    told = capsys.readouterr().out
    assert "no fault found" in told and "y = [1.000e+00" in told and "x = " not in told
    assert (np.load(saved)["y"] == 2 * np.arange(1000) + 1).all()


def test_a_fault_is_named_with_its_line_and_told_by_the_status(file, capsys):
    assert main([file, *LAUNCH, "--define", "LIMIT=<=", *RIGHT]) == 1
    told = capsys.readouterr().out
    assert "x[1000]" in told and "if (i LIMIT n) y[i] += a * x[i];" in told
    assert f"\nnext: {CAUSE_STEPS[Cause.OUTSIDE_ARRAY_GUARDED]}\n" in told


def test_a_small_launch_is_recorded_as_a_page(file, capsys, tmp_path):
    page = tmp_path / "steps.html"
    small = "--kernel", "saxpy", "--block", "8", "--args", "2", "n=8", "x=arange(8)", "y=ones(8)"
    assert main([file, "--define", "LIMIT=<", *small, "--step", str(page)]) == 0
    assert f"open {page}" in capsys.readouterr().out
    assert "y[i] += a * x[i]" in page.read_text(encoding="utf-8")


WHOLE_GRID = """
#include <cooperative_groups.h>
extern "C" __global__ void meet(float *x, int n)
{
    if (n = 3) x[32 * threadIdx.x] = 1;
    cooperative_groups::this_grid().sync();
}
"""


def test_a_kernel_that_waits_for_its_grid_is_launched_cooperatively(tmp_path, capsys):
    path = tmp_path / "meet.cu"
    path.write_text(WHOLE_GRID)
    asked = str(path), "--block", "32", "--args", "zeros(1024)", "5", "--optimised-only"
    assert main([*asked]) == 1
    capsys.readouterr()
    assert main([*asked, "--cooperative", "--profile"]) == 0
    told = capsys.readouterr().out
    assert "meet.cu(5): warning #187-D" in told
    assert "\nline 5: 32 sectors per store request" in told


def test_counts_are_of_the_launch_from_the_same_contents(file, capsys):
    asked = "--kernel", "scale<double>", "--define", "LIMIT=<", "--profile"
    assert main([file, *asked, "--args", "arange(32)", "3"]) == 0
    assert "global load requests" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words, told",
    [
        ((*LAUNCH, "--args", "1", "2"), "nothing is given for y, n"),
        ((*LAUNCH, *RIGHT, "9"), "no parameter left for '9'"),
        ((*LAUNCH, *RIGHT, "m=9"), "no parameter 'm'"),
        ((*LAUNCH, *RIGHT, "n=9"), "n is given twice"),
        ((*LAUNCH, *RIGHT[:-1], "y=many(9)"), "'many' makes no array"),
        ((*LAUNCH, *RIGHT[:-1], "y=zeros(x)"), "has no shape"),
        ((*LAUNCH, *RIGHT[:-1], "y=zeros(9, float7)"), "no dtype that is known"),
        ((*LAUNCH, *RIGHT[:-1], "y=zeros(9999999999, 9999999999)"), "y: zeros(9999999999, 9999"),
        ((*LAUNCH, "--seed", "-1", *RIGHT), "--seed is a whole number"),
        ((*LAUNCH, "--save", "no/such/folder/x.npz", *RIGHT), "there is no folder"),
        ((*LAUNCH, "--step", "no/such/folder/x.html", *RIGHT), "there is no folder"),
        (("--kernel", "of_a_struct", "--args", "1", "ones(3)"), "p is a Pair"),
        (RIGHT, "has the kernels saxpy, of_a_struct: say which"),
        ((*LAUNCH, *RIGHT[:-1], "y=nothing.npy"), "could not be read"),
        ((*LAUNCH, *RIGHT[:-1], "y=word"), "is none of a number"),
        ((*LAUNCH, *RIGHT[:-1], "y=zeros(1000, int32)"), "wants elements of float32"),
        (("--kernel", "none", *RIGHT), "no kernel 'none'"),
        ((*LAUNCH[:2], "--grid", "two", *RIGHT), "one to three whole numbers"),
        ((*LAUNCH[:2], "--block", "2048", *RIGHT), "1,024"),
    ],
)
def test_what_cannot_be_meant_is_said_and_nothing_runs(file, capsys, words, told):
    assert main([file, "--define", "LIMIT=<", *words]) == 2
    assert told in capsys.readouterr().err


def test_a_file_that_is_not_there_is_not_looked_for_in_the_course():
    with pytest.raises(LessonError, match="There is no file"):
        kernel_in("04_first_kernels/threads/vec_add.cu")


@pytest.mark.parametrize("content, told", [(b"\xff\xfe", "is UTF-16"), (b"", "has no kernel")])
def test_a_file_that_holds_no_kernel_is_said_to(tmp_path, content, told):
    (tmp_path / "x.cu").write_bytes(content)
    with pytest.raises(LessonError, match=told):
        kernel_in(tmp_path / "x.cu")


def test_what_is_no_array_of_numpy_s_is_said_to_be_none(file, capsys, tmp_path):
    (tmp_path / "y.npy").write_text("x")
    words = "--args", "1", "null", f"{tmp_path}/y.npy", "0"
    assert main([file, *LAUNCH, "--define", "LIMIT=<", *words]) == 2
    assert "no file in which NumPy saved" in capsys.readouterr().err


def test_a_launch_that_takes_too_long_is_stopped_without_a_traceback(file, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("course_utils.kernel_tool.command.sanitize", interrupted)
    assert main([file, *LAUNCH, "--define", "LIMIT=<", *RIGHT]) == 130
    assert "Stopped" in capsys.readouterr().err


def test_random_numbers_are_those_of_the_seed(file):
    signature = kernel_in(file, "saxpy", {"LIMIT": "<"}).signature
    words = "1", "random(9)", "random(2, 3, float64)", "null"
    first, again, other = (arguments(words, signature, seed) for seed in (1, 1, 2))
    assert (first["x"] == again["x"]).all() and not (first["x"] == other["x"]).any()
    assert first["y"].shape == (2, 3) and first["y"].dtype == np.float64 and first["n"] is None


def test_it_is_started_by_the_name_of_the_emulator(file):
    command = sys.executable, "-m", "course_utils.emulator", file, *LAUNCH, "--define", "LIMIT=<"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*command, *RIGHT], capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and "no fault found" in done.stdout, done.stderr
