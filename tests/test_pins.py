"""One list of pins: environment.yml repeats pyproject.toml's."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from course_utils import install

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def pip_section(text: str) -> list[str]:
    lines = text.partition("- pip:\n")[2].splitlines()
    return [line.strip().removeprefix("- ") for line in lines if line.strip().startswith("- ")]


def test_environment_yml_has_the_pins_of_the_gpu_and_cute_extras():
    extras = PROJECT["optional-dependencies"]
    wanted = PROJECT["dependencies"] + extras["gpu"] + extras["cute"]
    assert pip_section((ROOT / "environment.yml").read_text()) == wanted


def test_both_ask_for_the_same_python():
    python = f"- python{PROJECT['requires-python']}\n"
    assert python in (ROOT / "environment.yml").read_text()


def test_the_cpu_extra_brings_nothing_that_needs_a_driver_and_no_torch():
    names = " ".join(PROJECT["dependencies"] + PROJECT["optional-dependencies"]["cpu"])
    assert "cupy" not in names and "triton" not in names and "torch" not in names


@pytest.mark.parametrize("extra", install.EXTRAS, ids="extra {}".format)
def test_every_extra_stays_on_the_cuda_that_set_up_knows_it_by(extra):
    pins = " ".join(PROJECT["optional-dependencies"][extra])
    cuda = install.CUDA_OF[extra]
    majors = re.findall(r"cu(?:da)?(1\d)|cuda-(?:toolkit|python)\S*[=>]=(\d+)", pins)
    assert {max(pair) for pair in majors} == {str(cuda)}
    # PyTorch 2.11 is the first that the plain index has for CUDA 13.
    (torch,) = re.findall(r"torch(\S+)", pins) or [""]
    assert torch.startswith(">=2.11") == (cuda == 13) and ("<2.11" in torch) == (extra == "gpu")


def test_the_ecosystem_extra_brings_no_cuda_and_no_torch():
    pins = " ".join(PROJECT["optional-dependencies"]["ecosystem"])
    assert "cuda" not in pins and "torch" not in pins and "gpu" not in pins


def test_the_containers_differ_by_the_gpu_alone():
    plain, gpu = (
        json.loads((ROOT / ".devcontainer" / folder / "devcontainer.json").read_text())
        for folder in ("", "gpu")
    )
    assert gpu.pop("runArgs") == ["--gpus", "all"] and gpu.pop("containerEnv")
    for container, up in ((plain, ""), (gpu, "../")):
        del container["name"]
        assert container.pop("build") == {"dockerfile": f"{up}Dockerfile"}
    assert plain == gpu


def test_binder_installs_extras_that_exist_from_the_checkout_where_the_kernels_are():
    (line,) = (ROOT / ".binder/requirements.txt").read_text().splitlines()
    assert line.startswith("-e .[")
    assert set(line[5:-1].split(",")) <= set(PROJECT["optional-dependencies"])


def test_the_emulators_package_and_the_newest_entry_of_changes_have_the_version():
    emulator = tomllib.loads((ROOT / "course_utils/emulator/pyproject.toml").read_text())
    assert emulator["project"]["version"] == PROJECT["version"]
    entries = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert next(entry for entry in entries if entry != "Unreleased") == PROJECT["version"]


def test_the_citation_has_the_version_and_licence_of_the_package():
    cited = dict(
        line.split(": ", 1)
        for line in (ROOT / "CITATION.cff").read_text().splitlines()
        if ": " in line
    )
    assert cited["version"] == PROJECT["version"] and cited["license"] == PROJECT["license"]["text"]
    newest = f"## {cited['version']} ({cited['date-released']})"
    assert newest in (ROOT / "CHANGELOG.md").read_text().splitlines()
