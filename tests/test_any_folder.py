"""The course works wherever a student keeps it: here, below a folder called José Müller."""

import os
import shutil
import subprocess
import sys

from course_utils.paths import ROOT

PARTS = ("assets", "chapters", "course_utils", "kernels", "tests")
GO_BY_SOURCE_LINES = (
    "tests/observing/test_trace.py",
    "tests/exercises/test_runner.py::test_a_fault_shows_the_line_of_the_cell_with_its_neighbours",
)


def test_traces_and_verdicts_go_by_source_lines_in_a_folder_outside_ascii(tmp_path):
    course = tmp_path / "José Müller" / "course"
    for part in PARTS:
        shutil.copytree(ROOT / part, course / part)
    shutil.copy(ROOT / "pyproject.toml", course)
    environment = {**os.environ, "PYTHONPATH": str(course), "COURSE_DEVICE": "emulator"}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they need none
    command = [sys.executable, "-m", "pytest", "-q", "-k", "not draws", *GO_BY_SOURCE_LINES]
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
