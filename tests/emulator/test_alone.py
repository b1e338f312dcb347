"""The emulator alone: the program and the tests that its README shows do run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from course_utils import emulator
from course_utils.compiling.nvrtc import compile_ptx

FOLDER = Path(emulator.__file__).parent
SCALE = """extern "C" __global__ void scale(float* x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}"""


@pytest.fixture
def snippets(tmp_path):
    """The README's two programs as files beside the PTX that they read."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    section = text[text.index("## Use it alone") : text.index("## What it does not do")]
    script, tests = re.findall(r"```python\n(.*?)```", section, re.S)
    (tmp_path / "scale.ptx").write_text(compile_ptx(SCALE, filename="scale.cu"))
    (tmp_path / "script.py").write_text(script)
    (tmp_path / "test_scale.py").write_text(tests)
    return tmp_path


def run(folder: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(FOLDER.parents[1])}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the tests need none
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_program_counts_and_finds_nothing_wrong(snippets):
    assert run(snippets, "script.py") == "[0. 2. 4. 6.] 125 sectors loaded\n"


def test_the_tests_pass(snippets):
    assert "5 passed" in run(
        snippets, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_scale.py"
    )
