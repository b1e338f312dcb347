"""``python -m course_utils``: a command loads its own modules, an error is its message."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

import course_utils
from course_utils import __main__ as command_line
from course_utils.__main__ import COMMANDS, main
from course_utils.errors import LessonError
from course_utils.interrupts import Interrupted
from course_utils.paths import ROOT


@pytest.fixture
def work(monkeypatch):
    """What ``main(["doctor"])`` does, to be replaced; and the modules that were imported for it."""
    chosen = SimpleNamespace(do=lambda args: 0, imported=[])

    def add_parser(subparsers):
        subparsers.add_parser("doctor").set_defaults(func=lambda args: chosen.do(args))

    def import_module(name, package):
        chosen.imported.append(name)
        return SimpleNamespace(add_parser=add_parser)

    monkeypatch.setattr(command_line, "import_module", import_module)
    return chosen


def fail(error: BaseException) -> None:
    raise error


def test_only_the_module_of_the_command_is_imported(work):
    assert main(["doctor"]) == 0
    assert work.imported == [".environment"]


def test_help_names_every_command_and_imports_nothing(work, capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    printed = capsys.readouterr().out
    assert all(name in printed for name in COMMANDS) and not work.imported


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_it_does(name, capsys):
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    what = COMMANDS[name][0]
    assert end.value.code == 0 and what[1:] in " ".join(capsys.readouterr().out.split())


def test_an_error_for_the_reader_is_its_message_alone(work, capsys):
    work.do = lambda args: fail(LessonError("What to do."))
    assert main(["doctor"]) == 1
    assert capsys.readouterr() == ("", "What to do.\n")


def test_a_fault_of_the_course_keeps_its_traceback(work):
    work.do = lambda args: fail(KeyError("name"))
    with pytest.raises(KeyError):
        main(["doctor"])


def test_an_interrupt_is_one_line(work, capsys):
    work.do = lambda args: fail(KeyboardInterrupt())
    assert main(["doctor"]) == 130
    work.do = lambda args: fail(Interrupted("run it again."))
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == "\nInterrupted\n\nInterrupted: run it again.\n"


def test_a_device_that_there_is_not_is_said_without_a_traceback():
    command = [sys.executable, "-m", "course_utils", "exercises"]
    environment = {**os.environ, "COURSE_DEVICE": "abacus"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1 and done.stdout == ""
    assert (
        done.stderr.startswith("COURSE_DEVICE is 'abacus'") and len(done.stderr.splitlines()) == 2
    )


def test_every_public_name_is_loaded_when_it_is_asked_for():
    places = {**course_utils._MODULES, **course_utils._HOME_OF}
    assert sorted(places) == sorted(course_utils.__all__)
    assert all(hasattr(course_utils, name) for name in places)


def test_tab_completes_names_that_are_not_loaded_yet(monkeypatch):
    monkeypatch.delitem(vars(course_utils), "load", raising=False)
    assert {"load", "figures", "__name__"} <= set(dir(course_utils))


def test_a_magic_is_loaded_when_a_cell_first_uses_it(monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell

    late = "course_utils.host_programs.program_cells", "course_utils.exercises.student.magic"
    for name in late:
        monkeypatch.delitem(sys.modules, name, raising=False)
    shell = InteractiveShell()
    monkeypatch.setattr(course_utils, "running_shell", lambda: shell)
    course_utils._teach_ipython()
    assert {"exercise", "c", "cpp"} <= shell.magics_manager.magics["cell"].keys()
    assert not set(late) & sys.modules.keys()


def test_the_package_alone_loads_none_of_its_names():
    code = "import sys, course_utils; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert "course_utils.shell" in done.stdout.split()
    assert not {"numpy", "course_utils.devices"}.intersection(done.stdout.split())


def test_what_each_notebook_loads_parses_no_notebooks():
    """nbformat takes 1.5 seconds of a core, with the grammar of addresses that it builds."""
    code = "import sys, course_utils.exercises.student.magic; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert "course_utils.exercises.student.magic" in done.stdout.split()
    assert not {"nbformat", "jsonschema", "matplotlib.pyplot"}.intersection(done.stdout.split())
