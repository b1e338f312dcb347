"""A cell that needs the course says what to do where the notebook's first code cell hasn't run."""

from __future__ import annotations

import os
import runpy
import sys

import IPython
import pytest
from IPython.core.interactiveshell import InteractiveShell

from course_utils.install import IN_NEW_KERNELS
from course_utils.paths import CHAPTERS

ADVICE = "Run this notebook's first code cell"
FOLDER = CHAPTERS / "00_start_here"


@pytest.fixture
def shell(monkeypatch) -> InteractiveShell:
    """The shell of a new kernel, beside one of the course's notebooks."""
    found = InteractiveShell()
    found.kernel = object()
    monkeypatch.chdir(FOLDER)
    monkeypatch.delitem(sys.modules, "course_utils")
    monkeypatch.setattr(IPython, "get_ipython", lambda: found)
    return found


def start() -> dict:
    """What IPython does with the file; the names that it leaves."""
    return runpy.run_path(str(IN_NEW_KERNELS))


@pytest.mark.parametrize("magic", ["exercise 00.double_it", "needs gpu", "c", "cpp"])
def test_a_magic_of_the_course_names_the_first_code_cell(shell, magic, capsys):
    start()
    assert not shell.run_cell(f"%%{magic}\nint x;").success
    assert capsys.readouterr().out.strip().startswith(ADVICE)


def test_so_does_a_name_that_is_not_there_until_the_course_is(shell, capsys, monkeypatch):
    start()
    start()  # once by PYTHONSTARTUP, once in etc/ipython
    shell.run_cell("hint('00.double_it')")
    said = capsys.readouterr().out
    assert "NameError" in said and said.count(ADVICE) == 1
    monkeypatch.setitem(sys.modules, "course_utils", None)
    shell.run_cell("hint('00.double_it')")
    assert ADVICE not in capsys.readouterr().out


def test_other_errors_say_nothing_of_it(shell, capsys):
    start()
    shell.run_cell("1 / 0")
    assert ADVICE not in capsys.readouterr().out


def test_the_course_s_own_magic_takes_the_place(shell):
    start()
    shell.register_magic_function(lambda line, cell: cell, "cell", "exercise")
    assert shell.run_cell("%%exercise 00.double_it\nint x;").result == "int x;\n"


def test_nothing_is_left_in_the_namespace(shell):
    assert all(name.startswith("__") for name in start())


def test_nothing_happens_outside_of_the_course(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    start()
    assert shell.find_cell_magic("exercise") is None


def test_nothing_happens_in_a_terminal(shell):
    del shell.kernel
    start()
    assert shell.find_cell_magic("exercise") is None


def test_a_fault_does_not_stop_a_kernel(shell, monkeypatch):
    monkeypatch.setattr(os, "getcwd", lambda: 1 / 0)
    start()
    assert shell.run_cell("1 + 1").result == 2


def test_a_real_kernel_says_it(monkeypatch):
    from jupyter_client.manager import start_new_kernel

    said: list[str] = []

    def hear(message):
        content = message["content"]
        said.append(content.get("text") or "".join(content.get("traceback", ())))

    env = {**os.environ, "PYTHONSTARTUP": str(IN_NEW_KERNELS)}
    manager, client = start_new_kernel(cwd=str(FOLDER), env=env, startup_timeout=120)
    try:
        for cell in ("%%exercise 00.double_it\nint x;", "hint('00.double_it')"):
            said.clear()
            reply = client.execute_interactive(cell, output_hook=hear, timeout=120)
            assert reply["content"]["status"] == "error" and ADVICE in "".join(said)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
