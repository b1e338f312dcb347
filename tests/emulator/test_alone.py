"""The emulator installed alone: its package, its command, and the programs in its README."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
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
LAUNCH = "--grid", "4", "--block", "256", "--args", "arange(1000)", "2"
DECLARED = "numpy", "numpy.libs", "ml_dtypes"  # what the package needs, as folders


# `make` puts the course into PYTHONPATH, and the emulator's own Python must not find it there.
ALONE = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def ran(*command: object, status: int = 0, env: dict[str, str] = ALONE, **options) -> str:
    words = [str(part) for part in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=env, **options)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python that has the emulator's wheel, NumPy and ml_dtypes, and no course."""
    place = tmp_path_factory.mktemp("alone")
    source = place / "course/course_utils/emulator"
    shutil.copytree(FOLDER, source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    pip = sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"
    ran(*pip, "wheel", "--no-build-isolation", "--no-deps", "-w", place, source)
    assert not (source / "build").exists(), "a copy of every module beside the modules"
    ran(sys.executable, "-m", "venv", "--without-pip", place / "new")
    new = place / "new/bin/python"
    site = Path(ran(new, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (wheel,) = place.glob("cuda_emulator-*.whl")
    shutil.unpack_archive(wheel, site, "zip")
    for name in DECLARED:
        for paths in map(Path, {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}):
            if (paths / name).exists() and not (site / name).exists():
                (site / name).symlink_to(paths / name)
    return new


@pytest.fixture
def snippets(tmp_path):
    """The README's two programs as files beside the PTX that they read."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    section = text[text.index("## Use it alone") : text.index("## Run a whole program")]
    script, tests = re.findall(r"```python\n(.*?)```", section, re.S)
    (tmp_path / "scale.cu").write_text(SCALE)
    (tmp_path / "scale.ptx").write_text(compile_ptx(SCALE, filename="scale.cu"))
    (tmp_path / "script.py").write_text(script)
    (tmp_path / "test_scale.py").write_text(tests)
    return tmp_path


def test_the_package_lists_each_of_its_folders():
    listed = tomllib.loads((FOLDER / "pyproject.toml").read_text())["tool"]["setuptools"][
        "packages"
    ]
    folders = (path.parent.relative_to(FOLDER).parts for path in FOLDER.rglob("__init__.py"))
    assert listed == sorted(".".join(("cuda_emulator", *folder)) for folder in folders)


def test_it_installs_without_the_course(python, tmp_path):
    ran(python, "-c", "import course_utils", status=1, cwd=tmp_path)
    ran(python, "-c", "import cuda_emulator as e; [getattr(e, n) for n in e.__all__]", cwd=tmp_path)


def test_it_brings_what_whole_programs_are_linked_with(python, tmp_path):
    code = (
        "from cuda_emulator.programs.program_building import STAND_IN as s; list(s.glob('*.c'))[0]"
    )
    ran(python, "-c", code, cwd=tmp_path)


def test_the_readmes_program_counts_and_finds_nothing_wrong(python, snippets):
    said = ran(python, "script.py", cwd=snippets)
    assert said == "[0. 2. 4. 6.] 125 sectors loaded\n"


def test_the_readmes_tests_pass(python, snippets):
    (site,) = python.parents[1].glob("lib/python*/site-packages")
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_scale.py"
    assert "5 passed" in ran(*command, cwd=snippets, env=environment)


def test_its_command_runs_ptx(python, snippets):
    said = ran(python, "-m", "cuda_emulator", "scale.ptx", *LAUNCH, "1000", cwd=snippets)
    assert said.startswith("No findings.\n\nargument 1 = [   0.    2.    4.")
    said = ran(python, "-m", "cuda_emulator", "scale.ptx", *LAUNCH, "1001", cwd=snippets, status=1)
    assert "scale.cu:4, 1 element past its end" in said


def test_a_cu_file_without_the_compiler_says_what_to_install(python, snippets):
    said = ran(python, "-m", "cuda_emulator", "scale.cu", *LAUNCH, "9", cwd=snippets, status=2)
    assert "pip install 'cuda-emulator[nvrtc]'" in said


def test_a_cu_file_is_compiled(snippets, capsys):
    from course_utils.emulator.command_line import main

    assert main([str(snippets / "scale.cu"), *LAUNCH, "1000"]) == 0
    assert "No findings." in capsys.readouterr().out


def test_a_file_with_a_main_is_sent_to_the_command_that_runs_it_whole(tmp_path, capsys):
    from course_utils.emulator.command_line import main

    file = tmp_path / "whole.cu"
    file.write_text("__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
    assert main([str(file)]) == 2
    assert f"cuda-emulator run {file}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--args", "1"], "scale takes 3 arguments, not 1"),
        (["--args", "zeros(x)", "1", "1"], "'x' is no dtype"),
        (["--args", "zeros()", "1", "1"], "write its extents"),
        (["--args", "zeros(4)", "much", "1"], "'much' is no value for scale_param_1 (.f32)"),
        (["--grid", "0", "--args", "zeros(4)", "1", "1"], "one to three positive integers"),
        (["--kernel", "scales"], "Its kernels: scale."),
    ],
)
def test_what_cannot_be_launched_is_said(snippets, capsys, words, said):
    from course_utils.emulator.command_line import main

    assert main([str(snippets / "scale.ptx"), *words]) == 2
    assert said in capsys.readouterr().err
