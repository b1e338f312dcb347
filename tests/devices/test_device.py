"""The device is picked once, and a wrong wish is explained."""

import subprocess
import sys
from importlib import import_module

import pytest

from course_utils import cp, device, size

module = import_module("course_utils.devices.selection")


def test_the_device_and_its_arrays_agree():
    assert device() == ("cuda" if module.ON_GPU else "emulator")
    assert (cp.__name__ == "cupy") == module.ON_GPU


def test_size_gives_the_one_for_this_device():
    assert size(gpu=4096, emulator=128) == (4096 if module.ON_GPU else 128)


def test_without_a_gpu_the_emulator_is_picked(monkeypatch):
    monkeypatch.setattr(module, "_cuda_problem", lambda: "no GPU")
    assert module._pick(None) == module._pick("") == "emulator"


def test_with_a_gpu_cuda_is_picked_unless_the_emulator_is_asked_for(monkeypatch):
    monkeypatch.setattr(module, "_cuda_problem", lambda: None)
    assert module._pick(None) == "cuda"
    assert module._pick("emulator") == "emulator"


def test_an_unknown_device_is_refused():
    with pytest.raises(module.DeviceError, match="'emulator' or 'cuda'"):
        module._pick("gpu")


def test_asking_for_a_gpu_that_is_not_there_says_what_to_do(monkeypatch):
    monkeypatch.setattr(module, "_cuda_problem", lambda: "CuPy is not installed")
    with pytest.raises(module.DeviceError, match="(?s)not installed.*doctor"):
        module._pick("cuda")


def test_importing_the_course_does_not_import_torch():
    code = "import sys, course_utils; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("words", "borne"),
    [
        ("-m course_utils doctor", True),
        ("-P -m course_utils progress --json", True),
        ("-m course_utils run", False),
        ("-m pytest progress", False),
    ],
)
def test_only_commands_without_kernels_bear_a_device_that_cannot_be_had(monkeypatch, words, borne):
    monkeypatch.setenv("COURSE_DEVICE", "abacus")
    monkeypatch.setattr(module.sys, "orig_argv", ["python", *words.split()])
    if not borne:
        with pytest.raises(module.DeviceError, match="abacus"):
            module._chosen()
        return
    device, problem = module._chosen()
    assert device == module.EMULATOR and "abacus" in problem
