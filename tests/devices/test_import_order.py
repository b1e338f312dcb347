"""Each module of the devices can be the first that a process imports."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["checking", "devices.emulated_arrays", "devices.emulated_cuda"])
def test_a_fresh_process_imports_it_first(module):
    command = [sys.executable, "-c", f"import course_utils.{module}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
