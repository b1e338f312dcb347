"""``doctor``: one line a fact, a remedy where something is wanting, failure for mixed CUDAs."""

import os
import shlex
import subprocess
import sys
from importlib.util import find_spec

import pytest

from course_utils import doctor, environment
from course_utils.__main__ import main
from course_utils.devices.selection import ON_GPU
from course_utils.notebook_requirements import NotebookNeeds
from course_utils.paths import ROOT, notebook_files


def test_parts_of_one_cuda_are_well():
    line = environment.majors_line({"NVRTC": 12, "CuPy": 12})
    assert (line.status, line.found) == (environment.GOOD, "all CUDA 12")


def test_mixed_cuda_majors_are_broken_and_say_what_to_do():
    line = environment.majors_line({"NVRTC": 13, "CuPy": 12, "PyTorch": 12})
    assert line.status == environment.BAD
    assert "NVRTC 13, CuPy 12" in line.found
    assert "run `" in line.remedy


def test_every_line_is_one_line_with_what_was_found():
    for line in environment.examine():
        assert line.found and "\n" not in str(line)
        assert line.status == environment.GOOD or line.remedy


def test_pytorch_s_line_says_what_wants_it():
    (line,) = [line for line in environment.examine() if line.what == "PyTorch"]
    assert "wanted by" in line.found
    assert line.status == environment.GOOD or "make torch" in line.remedy


@pytest.mark.parametrize("there", [True, False])
def test_the_other_frameworks_are_one_line(monkeypatch, there):
    monkeypatch.setattr(environment, "find_spec", lambda name: name if there else None)
    monkeypatch.setattr(environment.remedies, "in_the_course_s_own", lambda: True)
    line = environment._ecosystem()
    assert "JAX" in line.found and "ONNX Runtime" in line.found
    assert line.status == environment.GOOD if there else "make ecosystem" in line.remedy


def test_this_machine_can_compile():
    status = {line.what: line.status for line in environment.examine()}
    assert status["compiler (NVRTC)"] == status["CUDA headers"] == environment.GOOD


def test_the_command_fails_where_something_is_broken(monkeypatch, capsys):
    monkeypatch.setattr(environment, "cuda_majors", lambda: {"NVRTC": 13, "CuPy": 12})
    assert main(["doctor"]) == 1
    assert "!!  CUDA versions" in capsys.readouterr().out


def test_the_command_succeeds_where_nothing_is(monkeypatch, capsys):
    monkeypatch.setattr(
        environment, "examine", lambda: [environment.ReportLine(environment.GOOD, "all", "here")]
    )
    assert main(["doctor"]) == 0
    assert "All is well." in capsys.readouterr().out


@pytest.mark.parametrize("wanted", ["cuda", "abacus"])
def test_a_device_that_cannot_be_had_is_a_line_of_the_report(wanted):
    if wanted == "cuda" and ON_GPU:
        pytest.skip("this machine has a GPU")
    environment = {**os.environ, "COURSE_DEVICE": wanted, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "course_utils", "doctor"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1 and done.stderr == ""
    assert "!!  kernels run on" in done.stdout and "unset COURSE_DEVICE" in done.stdout
    assert "compiler (NVRTC)" in done.stdout and "run here" not in done.stdout


def test_the_report_shows_no_path_of_this_machine(capsys):
    doctor()
    assert str(ROOT) not in capsys.readouterr().out


def test_a_reader_who_has_seen_enough_ends_a_command_without_a_word():
    command = f"{shlex.quote(sys.executable)} -m course_utils progress | true"
    for _ in range(2):  # whoever reads may be gone before the command begins to write, or after
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command], cwd=ROOT, capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_an_unknown_command_lists_the_known_ones(capsys):
    with pytest.raises(SystemExit):
        main(["no-such-command"])
    assert "doctor" in capsys.readouterr().err


def test_where_no_kernel_runs_nothing_is_said_to_run(monkeypatch, capsys):
    monkeypatch.setattr(environment, "PROBLEM", "no GPU was found.")
    monkeypatch.setattr(environment, "_output", lambda *command: "")
    for full in (False, True):
        assert not environment.doctor(full)
        said = capsys.readouterr().out
        assert "nothing: no GPU was found" in said
        assert "runs here" not in said and "run here" not in said
        assert "not needed" not in said.partition("compiler")[0]
        assert "--  NVIDIA driver" in said
        assert find_spec("cupy") or "--  CuPy" in said


def line(status, what, found, remedy="", for_gpus=False):
    return environment.ReportLine(status, what, found, remedy, for_gpus)


EXAMINED = [
    line("ok", "Python", "3.12.3"),
    line("ok", "kernels run on", "the emulator"),
    line("--", "NVIDIA driver", "none", "not needed", for_gpus=True),
    line("ok", "compiler (NVRTC)", "12.9"),
    line("ok", "C and C++ compiler", "cc, c++"),
    line("--", "PyTorch", "not installed", "run `make torch`"),
    line("!!", "CUDA headers", "no cuda_fp16.h", "run `make setup`"),
    line("ok", "CUDA versions", "all CUDA 12"),
    line("ok", environment.LAST_GPU_RUN, "9,000 tests and 100 cells passed"),
]


@pytest.mark.parametrize("on_gpu", [False, True])
def test_in_short_what_helps_no_one_here_is_one_line_and_a_remedy_stays(monkeypatch, on_gpu):
    monkeypatch.setattr(environment, "ON_GPU", on_gpu)
    monkeypatch.setattr(environment, "PROBLEM", "")
    short = [str(each) for each in environment.in_short(EXAMINED)]
    assert short[2].endswith("compiler (NVRTC) 12.9, C and C++ compiler, CUDA 12 for the kernels")
    assert ("NVIDIA driver: they are for GPUs" in short[3]) is not on_gpu
    assert ("  --  NVIDIA driver        none  -> not needed" in short) is on_gpu
    assert [each[2:4] for each in short[-3:]] == ["--", "!!", "ok"]
    assert short[-1].endswith("9,000 tests and 100 cells passed")  # nothing that is installed


@pytest.mark.parametrize("problem", ["", "no GPU was found."])
@pytest.mark.parametrize("on_gpu", [False, True])
def test_in_short_no_line_of_this_machine_is_lost(monkeypatch, on_gpu, problem):
    monkeypatch.setattr(environment, "ON_GPU", on_gpu)
    monkeypatch.setattr(environment, "PROBLEM", problem)
    lines = [*EXAMINED, line("ok", "CUDA", "all CUDA 12", "for 13, run `make setup`")]
    short = environment.in_short([*lines[2:], *lines[:2]])
    assert [each.what for each in short[:2]] == ["Python", "kernels run on"]
    whole = {line for line in short if line in lines}
    in_lists = [each for each in lines if each not in whole]
    lists = [name for line in short if line not in whole for name in line.found.split(", ")]
    lists = [name.removesuffix(": they are for GPUs") for name in lists]
    assert sorted(lists) == sorted(each.brief for each in in_lists)


def test_in_short_all_notebooks_are_one_line_but_those_that_cannot_be_read(monkeypatch):
    whole = NotebookNeeds(ROOT / "chapters/00_x/01_a.ipynb", ((), ()))
    bad = NotebookNeeds(ROOT / "chapters/00_x/02_b.ipynb", (), "02_b can't be read as a notebook")
    (all_of_them,) = environment.notebooks_in_short([whole, whole])
    assert all_of_them.found == "all 2 run here"
    monkeypatch.setattr(NotebookNeeds, "skipped", 1500)
    (many,) = environment.notebooks_in_short([whole])
    assert "1,500 of their 2 code cells" in many.found
    monkeypatch.undo()
    number, named = environment.notebooks_in_short([whole, bad])
    assert number.found == "1 run here"
    assert (named.status, named.what) == ("!!", "00_x/02_b")


def test_the_report_of_a_whole_machine_fits_on_a_screen(capsys):
    doctor()
    text = capsys.readouterr().out
    assert len(text.strip().splitlines()) <= 18  # of 24 lines
    doctor(full=True)
    assert len(capsys.readouterr().out.splitlines()) > len(notebook_files())
