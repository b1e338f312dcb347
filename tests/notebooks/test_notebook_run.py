"""`python -m course_utils run` executes, tells how each notebook fared and writes back."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbval.plugin import get_sanitize_patterns

from course_utils.notebooks import run
from course_utils.notebooks.canonical import violations
from course_utils.notebooks.cells import find
from course_utils.notebooks.execute import Failure, RunOutcome, execute, kernel_environment
from course_utils.paths import ROOT

H200 = {"kind": "cuda", "name": "NVIDIA H200", "cuda": "12.9"}

PASSING = """
import os, sys
import matplotlib.pyplot as plt  # before the course: its style must win all the same
from course_utils import figures
print("Skipped here: needs an sm_90 GPU.")
plt.plot([1, 2]);
print(os.environ["COURSE_DEVICE"], plt.rcParams["figure.dpi"], object(), figures.__file__)
"""
FAILING = """def half(x):
    return x / 0

half(1)  # here"""


def command(*words) -> int:
    """Run ``words`` as the command line would and return the exit status."""
    parser = argparse.ArgumentParser()
    run.add_parser(parser.add_subparsers())
    args = parser.parse_args(["run", *map(str, words)])
    return args.func(args)


def write(path, *cells):
    nb = new_notebook(cells=[new_markdown_cell("# Title"), *map(new_code_cell, cells)])
    nbformat.write(nb, path)
    return path


def test_a_run_reports_each_notebook_and_fails_if_one_does(tmp_path, capsys):
    write(tmp_path / "01_good.ipynb", "x = 1")
    write(tmp_path / "02_bad.ipynb", "x = 1", FAILING)
    before = (tmp_path / "02_bad.ipynb").read_text()
    assert command(tmp_path) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("[1/2] ") and "\n[2/2] " in printed
    assert "PASS" in printed.splitlines()[1] and "01_good.ipynb" in printed.splitlines()[1]
    assert "cell 3, line 4: half(1)  # here" in printed
    assert "ZeroDivisionError: division by zero" in printed
    assert printed.splitlines()[-1].startswith("1 PASS, 1 FAIL in ")
    assert (tmp_path / "02_bad.ipynb").read_text() == before


def test_update_writes_canonical_stamped_outputs_that_a_second_run_repeats(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(run, "describe", lambda env: H200)
    path = write(tmp_path / "01_good.ipynb", PASSING)
    assert command("--update", "--device", "emulator", path) == 0
    assert "(1 SKIPPED)" in capsys.readouterr().out
    first = path.read_text()
    assert violations(first) == []
    nb = nbformat.reads(first, as_version=4)
    assert nb.cells[1].metadata.course.device == "NVIDIA H200"
    text, figure = nb.cells[1].outputs
    assert text.text.splitlines()[1] == (
        "emulator 110.0 <object object at 0x…> course_utils/figures/__init__.py"
    )
    assert "image/png" in figure.data
    assert command("--update", "--device", "emulator", path) == 0
    assert path.read_text() == first


def test_only_a_run_that_updates_leaves_the_reader_s_answers_out(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "describe", lambda env: H200)
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path))
    used = []

    def note(nb, folder, env, *rest):
        used.append(Path(env["COURSE_PROGRESS"]))
        assert not [*used[-1].glob("progress.json")] or used[-1] == tmp_path
        return RunOutcome(0, 0, Failure(1, 1, "", ""))  # so nothing is written back

    (tmp_path / "progress.json").write_text("{}")
    monkeypatch.setattr("course_utils.notebooks.execute.execute", note)
    for name in ("01.ipynb", "02.ipynb"):
        write(tmp_path / name, "x = 1")
    command(tmp_path)
    assert used == [tmp_path, tmp_path]
    command("--update", tmp_path)
    assert len({tmp_path, *used}) == 3 and not any(p.exists() for p in used[2:])


def test_a_cell_that_takes_too_long_is_stopped(tmp_path, capsys):
    path = write(tmp_path / "01_slow.ipynb", "import time", "time.sleep(100)")
    assert command("--timeout", 1, path) == 1
    assert "cell 3: time.sleep(100)\n      it took longer than 1 s" in capsys.readouterr().out


def test_each_cell_that_is_done_is_heard_of_and_the_one_that_fails_is_named(tmp_path):
    heard = []
    cells = [new_markdown_cell("# Title"), *map(new_code_cell, ("x = 1", "", "x = 2", "1 / 0"))]
    nb = new_notebook(cells=[*cells, new_markdown_cell("Next"), new_code_cell("x = 3")])
    found = execute(nb, tmp_path, kernel_environment("emulator"), 60, heard.append)
    assert heard == [2, 4, 5]  # of code, not empty, up to the failure
    assert (found.failure.cell, found.failure.line, found.skipped) == (5, 1, 0)
    assert found.failure.source == "1 / 0" and found.seconds > 0


def test_a_kernel_that_dies_is_told_with_the_cell_it_died_in(tmp_path, capsys):
    path = write(tmp_path / "01_dies.ipynb", "import os", "os._exit(1)", "x = 1")
    assert command(path) == 1
    printed = capsys.readouterr().out
    assert "cell 3: os._exit(1)\n      the kernel died" in printed
    assert "0 PASS, 1 FAIL" in printed


def test_a_notebook_for_which_the_gpu_is_too_old_runs_on_the_emulator(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.delenv("COURSE_DEVICE", raising=False)
    write(
        tmp_path / "01.ipynb",
        "import os\nfrom course_utils.launching.older_gpus import GpuTooOld\n"
        "if os.environ.get('COURSE_DEVICE') != 'emulator':\n    raise GpuTooOld('Too much.')",
    )
    assert command(tmp_path) == 0
    assert "(on the emulator: the GPU is too old)" in capsys.readouterr().out


def test_the_emulator_is_described_by_its_kind_and_the_compiler_s_version():
    found = run.describe(kernel_environment("emulator"))
    assert found.pop("cuda").partition(".")[0] in ("12", "13")
    assert found == {"kind": "emulator", "name": "emulator"}


@pytest.mark.parametrize(
    ("program", "why"),
    [("raise OSError('no driver')", "OSError: no driver"), ("raise SystemExit(3)", "no message")],
)
def test_update_where_the_device_does_not_work_says_why_and_runs_nothing(
    program, why, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(run, "DESCRIBE", program)
    path = write(tmp_path / "01_good.ipynb", "x = 1")
    before = path.read_text()
    assert command("--update", path) == 2
    printed = capsys.readouterr()
    assert f"the device does not work: {why}\n" in printed.err and "doctor" in printed.err
    assert printed.out == "" and path.read_text() == before


def test_a_path_without_notebooks_is_an_error_in_words(tmp_path, capsys):
    assert command(tmp_path / "nowhere") == 2
    assert "No notebook or chapter is called" in capsys.readouterr().err


def test_format_writes_canonical_form_and_check_then_finds_no_fault_with_it(tmp_path, capsys):
    path = write(tmp_path / "01_x.ipynb", "x = 1")
    assert violations(path.read_text())
    assert command("--format", path) == 0
    assert violations(path.read_text()) == []
    assert command("--check", path) == 1  # no stamp, no next link
    printed = capsys.readouterr().out
    assert "run --format" not in printed and "no stamp" in printed


def test_notebooks_are_found_in_reading_order(tmp_path):
    for name in ("b/02_x.ipynb", "b/01_y.ipynb", "a/.ipynb_checkpoints/01_y.ipynb", "a/03_z.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        write(tmp_path / name)
    names = [path.relative_to(tmp_path.resolve()).as_posix() for path in find([tmp_path])]
    assert names == ["a/03_z.ipynb", "b/01_y.ipynb", "b/02_x.ipynb"]


def test_a_kernel_can_import_the_course_and_keeps_the_readers_own_path(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "mine")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    env = kernel_environment("cuda")
    assert env["PYTHONPATH"].startswith(str(ROOT)) and env["PYTHONPATH"].endswith("mine")
    assert env["COURSE_DEVICE"] == "cuda" and "inline" in env["MPLBACKEND"]


def test_paths_of_this_machine_are_made_relative():
    text = f"{ROOT}/kernels/a.cu, {ROOT} and {ROOT}-other"
    assert run.without_machine(text).startswith("kernels/a.cu, . and ")


def test_the_home_folder_and_the_environment_of_this_machine_get_names(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setattr(run.sys, "prefix", "/opt/env")
    assert run.without_machine("in /home/ann/x.cu, /home/ann") == "in ~/x.cu, ~"
    assert run.without_machine("/home/anna/x.cu") == "/home/anna/x.cu"
    assert run.without_machine("/opt/env/lib/a.py") == "<venv>/lib/a.py"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("took 3.25 ms at 812 GB/s", "took TIME at RATE"),
        ("<cupy at 0x7f0012ab>", "<cupy at ADDRESS>"),
        ("/home/ann/course/kernels/01/add.cu:3", "kernels/01/add.cu:3"),
        ("PASS: 1000 elements, shape (3, 5)", "PASS: 1000 elements, shape (3, 5)"),
        ("128 sectors of 32 bytes", "128 sectors of 32 bytes"),
    ],
)
def test_nbval_compares_text_without_what_differs_between_machines(before, after):
    patterns = get_sanitize_patterns((ROOT / "tests/nbval_sanitize.cfg").read_text("utf-8"))
    for pattern, replacement in patterns:
        before = re.sub(pattern, replacement, before)
    assert before == after
