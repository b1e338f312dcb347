"""One list of pins: environment.yml repeats pyproject.toml's."""

import json
import tomllib
from pathlib import Path

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


def test_every_extra_stays_on_one_cuda_major_version():
    for extra in ("cpu", "gpu", "ecosystem", "cute"):
        pins = " ".join(PROJECT["optional-dependencies"][extra])
        assert "cu13" not in pins and "cuda13" not in pins


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
