"""Remedies: the command is right for the environment that it is said in."""

from pathlib import Path

import pytest

from course_utils import environment, install, needs, remedies
from course_utils.compiling import bindings, diagnostics
from course_utils.compiling.missing_compiler import CompilerMissing
from course_utils.errors import LessonError
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging import runner
from course_utils.paths import ROOT

CUDA_12 = {"nvidia-cuda-nvrtc-cu12": "12.9.86"}
CUDA_13 = {"nvidia-cuda-nvrtc": "13.0.88"}


@pytest.fixture
def machine(monkeypatch):
    """One with these packages and no GPU, in the course's own .venv or in any other environment."""

    def pretend(own: bool, packages: dict[str, str], gpu: bool = False) -> None:
        prefix = ROOT / ".venv" if own else Path("/opt/conda/envs/cuda")
        monkeypatch.setattr(remedies.sys, "prefix", str(prefix))
        monkeypatch.setattr(remedies, "installed", lambda: packages)
        monkeypatch.setattr(install, "has_gpu", lambda: gpu)
        monkeypatch.setattr(install, "cuda_of_driver", lambda: (13, "The driver runs CUDA 13"))

    return pretend


@pytest.mark.parametrize(
    ("own", "packages", "gpu", "command"),
    [
        (True, CUDA_12, False, "make setup"),
        (False, {}, False, "pip install -e '.[cpu,cute]'"),
        (False, {}, True, "pip install -e '.[gpu13,cute]'"),
        (False, CUDA_12, True, "pip install -e '.[gpu,cute]'"),
        (False, CUDA_13, False, "pip install -e '.[gpu13,cute]'"),
    ],
)
def test_the_command_is_that_of_the_environment(machine, own, packages, gpu, command):
    machine(own, packages, gpu)
    assert remedies.set_up_command() == command


@pytest.mark.parametrize("own", [True, False])
def test_only_the_course_s_own_environment_is_made_by_make(machine, own):
    machine(own, {})
    commands = [
        remedies.torch_command(),
        remedies.ecosystem_command(),
        remedies.pip_command("ninja"),
        remedies.afresh("gpu13").partition("run ")[2],
    ]
    for command in commands:
        assert ("make " in command or ".venv" in command) == own, command
        assert own or "pip install" in command


@pytest.fixture
def no_nvrtc(monkeypatch):
    """A machine on which NVRTC can't be loaded, as after ``pip install -e .`` without extras."""
    monkeypatch.setitem(bindings.sys.modules, "cuda.bindings", None)
    bindings.nvrtc_version.cache_clear()
    yield
    bindings.nvrtc_version.cache_clear()


def test_without_the_compiler_an_error_says_how_to_get_it(machine, no_nvrtc):
    machine(False, {})
    with pytest.raises(CompilerMissing, match="pip install -e '.\\[cpu,cute\\]'") as caught:
        bindings.nvrtc_version()
    assert isinstance(caught.value, LessonError)


def test_without_the_compiler_no_answer_is_judged(machine, no_nvrtc, monkeypatch):
    machine(False, {})
    exercise = find("00.double_it")

    def load(*_):
        raise CompilerMissing("no module")

    monkeypatch.setattr(runner.kernel_answer.emulated_runs, "load_answer", load)
    outcome = runner.check_source(exercise, "__global__ void f() {}")
    assert outcome.kind == kinds.NO_COMPILER
    assert "pip install -e '.[cpu,cute]'" in str(outcome) and "Traceback" not in str(outcome)


def test_doctor_says_it_too(machine, no_nvrtc):
    machine(False, {})
    for line in (environment._nvrtc(), environment._headers()):
        assert line.status == environment.BAD
        assert "run `pip install -e '.[cpu,cute]'`" in line.remedy


@pytest.mark.parametrize(
    ("version", "wheel"),
    [((12, 9), "nvidia-cuda-cccl-cu12"), ((13, 0), "nvidia-cuda-cccl and nvidia-cuda-crt")],
)
def test_wheels_of_headers_have_the_names_of_their_cuda(machine, monkeypatch, version, wheel):
    machine(True, {})
    monkeypatch.setattr(environment, "cuda_header_paths", lambda: ())
    monkeypatch.setattr(environment, "nvrtc_version", lambda: version)
    assert wheel in environment._headers().remedy


@pytest.mark.parametrize(
    ("version", "wheel"), [((12, 9), "nvidia-curand-cu12`"), ((13, 0), "nvidia-curand`")]
)
def test_a_library_s_wheel_has_the_name_of_its_cuda(machine, monkeypatch, version, wheel):
    machine(True, {})
    monkeypatch.setattr(needs, "nvrtc_version", lambda: version)
    monkeypatch.setattr(needs, "lacking", lambda token: "cuRAND")
    said = needs.how_to_get(["curand"])
    assert said == f"In a terminal, `.venv/bin/pip install {wheel} fetches it."


@pytest.mark.parametrize("header", ["cute/tensor.hpp", "cutlass/cutlass.h"])
@pytest.mark.parametrize("there", [True, False])
def test_a_missing_header_of_cute_names_its_package(machine, monkeypatch, header, there):
    machine(False, CUDA_12)
    monkeypatch.setattr(diagnostics, "cute_header_paths", lambda: ("include",) if there else ())
    log = f'kernels/x.cu(1): catastrophic error: cannot open source file "{header}"'
    said = str(diagnostics.CompileError(log))
    assert ("nvidia-cutlass" in said and "pip install -e" in said) != there
    assert ("check the name's spelling" in said) == there


@pytest.mark.parametrize("there", [True, False])
def test_doctor_has_a_line_for_cute_s_headers(machine, monkeypatch, there):
    machine(True, CUDA_12)
    monkeypatch.setattr(environment, "cute_header_paths", lambda: ("include",) if there else ())
    line = environment._cute_headers()
    assert line.status == (environment.GOOD if there else environment.ABSENT)
    assert there or "`make setup`: nvidia-cutlass" in line.remedy


def test_doctor_says_that_a_driver_runs_the_cuda_of_the_stored_outputs(machine):
    machine(True, CUDA_12, True)
    line = environment.majors_line({"NVRTC": 12}, 13, "The NVIDIA driver 580.65 runs CUDA 13")
    assert line.status == environment.GOOD and "stored outputs" in line.found
    assert "`make setup COURSE_EXTRA=gpu13`" in line.remedy and "mv .venv" in line.remedy


def test_doctor_says_that_a_driver_is_too_old_for_the_cuda_that_is_installed(machine):
    machine(True, CUDA_13, True)
    line = environment.majors_line({"NVRTC": 13}, 12, "The NVIDIA driver 570.86 runs CUDA 12")
    assert line.status == environment.BAD and "570.86" in line.found
    assert "`make setup COURSE_EXTRA=gpu`" in line.remedy


@pytest.mark.parametrize(("major", "newest"), [(12, 12), (13, 13), (12, 0), (13, 0)])
def test_doctor_says_no_more_where_the_driver_and_the_packages_agree(major, newest):
    line = environment.majors_line({"NVRTC": major}, newest, "why")
    assert (line.status, line.found) == (environment.GOOD, f"all CUDA {major}")
    assert not line.remedy
