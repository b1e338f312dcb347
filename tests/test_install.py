"""Set-up: what it installs where, what it says, and that it never loses a ``.venv`` that works."""

import ast
import fcntl
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from course_utils import install
from course_utils.exercises.authoring.registry import find
from course_utils.paths import CHAPTERS, ROOT

SCRIPT = Path(install.__file__)
PROBE = install.probe


PROJECT = """[project]
dependencies = ["numpy>=2.0"]
[project.optional-dependencies]
cpu = ["cuda-core[cu12]>=1.0"]
gpu = ["cupy-cuda12x>=14"]
gpu13 = ["cupy-cuda13x>=14"]
ecosystem = ["jax>=0.5"]
"""


MAKE_VENV = install.make_venv


class Checkout:
    """A folder with a pyproject.toml, and a pip that notes its calls instead of running."""

    def __init__(self):
        self.calls: list[str] = []
        self.failing: tuple[str, ...] = ()  # calls that hold one of these texts fail
        self.ready_during_pip: list[bool] = []
        self.made = 0
        self.python, self.has_pip = [3, 11], True  # what .venv says of itself
        self.packages = {"numpy": "2.4", "cuda_core": "1.2", "cuda-pathfinder": "1.9"}

    def pip(self, *arguments: str, **settings: str) -> str:
        call = " ".join(arguments)
        self.calls.append(call)
        self.ready_during_pip.append(install.READY.exists())
        return "note\nERROR: no\nnote" if any(text in call for text in self.failing) else ""

    def probe(self) -> tuple[list[int], bool, dict[str, str]]:
        return self.python, self.has_pip, self.packages

    def change(self, old: str = "numpy>=2.0", new: str = "numpy>=2.1") -> None:
        """Another version of pyproject.toml."""
        install.PROJECT.write_text(install.PROJECT.read_text().replace(old, new))
        self.calls.clear()

    def make_venv(self) -> None:
        self.made += 1
        install.PYTHON.parent.mkdir(parents=True, exist_ok=True)
        install.PYTHON.symlink_to(sys.executable)

    def torch_calls(self) -> list[str]:
        return [call for call in self.calls if "torch" in call]


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Checkout:
    monkeypatch.chdir(tmp_path)
    install.PROJECT.write_text(PROJECT)
    monkeypatch.delenv("COURSE_EXTRA", raising=False)
    found = Checkout()
    monkeypatch.setattr(install, "probe", found.probe)
    monkeypatch.setattr(install, "pip", found.pip)
    monkeypatch.setattr(install, "make_venv", found.make_venv)
    monkeypatch.setattr(install, "has_gpu", lambda: False)
    monkeypatch.setattr(install, "who_wants_torch", lambda: "wanted by 2 cells of 01_a/01_b")
    return found


def test_a_new_checkout_gets_the_cpu_extra_and_is_ready(checkout):
    assert install.main([]) == 0
    assert "install --no-compile -e .[cpu,cute,dev]" in checkout.calls
    assert install.READY.exists() and not install.HALF_MADE.exists()


def test_a_new_environment_gets_the_newest_pip_where_the_index_answers(checkout, monkeypatch):
    monkeypatch.setattr(install, "make_venv", MAKE_VENV)
    monkeypatch.setattr(install.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0))
    checkout.failing = ("--upgrade pip",)
    assert install.main([]) == 0
    assert checkout.calls[0].startswith("install --upgrade pip --retries 0")
    assert "install --no-compile -e .[cpu,cute,dev]" in checkout.calls


def test_new_kernels_of_the_environment_say_what_comes_first(checkout):
    install.main([])
    copied = install.VENV / "etc/ipython/startup/before_first_cell.py"
    assert copied.read_text() == install.IN_NEW_KERNELS.read_text()


def test_it_is_not_ready_while_pip_runs(checkout):
    install.main([])
    assert not any(checkout.ready_during_pip)


DRIVERS = {
    "580.65.06, 9.0": ("gpu13", "driver 580.65.06 runs CUDA 13"),
    "590.44.01, 12.0\n590.44.01, 7.5": ("gpu13", "driver 590.44.01 runs CUDA 13"),
    "575.57.08, 9.0": ("gpu", "driver 575.57.08 runs CUDA 12"),
    "580.65.06, 9.0\n580.65.06, 7.0": ("gpu", "capability 7.0 runs CUDA 12"),
    "580.65.06, [N/A]": ("gpu", "unknown"),
    "": ("gpu", "unknown"),
}


@pytest.mark.parametrize("said", DRIVERS)
def test_a_gpu_gets_the_extra_that_its_driver_runs_and_no_cpu_build(
    checkout, monkeypatch, capsys, said
):
    monkeypatch.setattr(install, "has_gpu", lambda: True)
    answer = subprocess.CompletedProcess("", 0, f"{said}\n" if said else "")
    monkeypatch.setattr(install.subprocess, "run", lambda *_, **__: answer)
    assert install.main([]) == 0
    extra, why = DRIVERS[said]
    assert checkout.calls == [f"install --no-compile -e .[{extra},cute,dev]"]
    first = capsys.readouterr().out.splitlines()[0]
    assert why in first and f"the extra {extra}." in first
    assert ("COURSE_EXTRA=gpu`" in first) == (extra == "gpu13")


@pytest.mark.parametrize(
    ("packages", "gpu", "extra"),
    [
        ({"cupy-cuda12x": "14.2.0", "nvidia-cuda-nvrtc-cu12": "12.8.93"}, True, "gpu"),
        ({"cupy-cuda12x": "14.2.0"}, False, "gpu"),
        ({"nvidia-cuda-nvrtc-cu12": "12.9.86"}, True, "gpu"),
        ({"nvidia-cuda-nvrtc-cu12": "12.9.86"}, False, "cpu"),
        ({"cupy-cuda13x": "14.2.0"}, True, "gpu13"),
        ({"nvidia-cuda-nvrtc": "13.0.88"}, False, "gpu13"),
    ],
)
def test_an_environment_keeps_the_cuda_that_it_has(checkout, monkeypatch, packages, gpu, extra):
    monkeypatch.setattr(install, "has_gpu", lambda: gpu)
    monkeypatch.setattr(install, "cuda_of_driver", lambda: (13, "The driver runs CUDA 13"))
    checkout.make_venv()
    checkout.packages = packages
    assert install.main([]) == 0
    assert f"install --no-compile -e .[{extra},cute,dev]" in checkout.calls


def test_an_update_keeps_the_extra_that_set_up_took(checkout, monkeypatch):
    monkeypatch.setenv("COURSE_EXTRA", "gpu")
    install.main([])
    monkeypatch.delenv("COURSE_EXTRA")
    checkout.change()
    install.main([])
    assert checkout.calls == ["install --no-compile -e .[gpu,cute,dev]"]


def test_another_cuda_than_that_of_the_environment_is_refused(checkout, monkeypatch, capsys):
    checkout.make_venv()
    checkout.packages = {"cupy-cuda12x": "14.2.0"}
    monkeypatch.setenv("COURSE_EXTRA", "gpu13")
    assert install.main([]) == 1
    said = capsys.readouterr().err
    assert "has CUDA 12" in said and "brings CUDA 13" in said and "mv .venv .venv-old" in said
    assert not checkout.calls


def test_an_extra_that_does_not_exist_is_named_with_those_that_do(checkout, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_EXTRA", "gpu14")
    assert install.main([]) == 1
    assert "'gpu14': say cpu, gpu, gpu13" in capsys.readouterr().err


def test_only_the_cpu_build_of_torch_is_ever_asked_for(checkout):
    checkout.failing = ("--no-index",)
    install.main([])
    assert len(checkout.torch_calls()) == 3
    assert all("torch==" in call and "+cpu" in call for call in checkout.torch_calls())


def test_a_local_wheel_of_torch_comes_first_and_alone(checkout):
    install.main([])
    assert "--no-index" in checkout.torch_calls()[0]
    assert not any("--index-url" in call for call in checkout.calls)


def test_set_up_asks_the_index_once_and_make_torch_is_patient(checkout):
    checkout.failing = ("--no-index",)
    install.main([])
    assert f"{install.TORCH_INDEX} --retries 0 --timeout" in checkout.torch_calls()[1]
    checkout.calls.clear()
    assert install.main(["torch"]) == 0
    assert checkout.torch_calls()[1].endswith(install.TORCH_INDEX)


def test_torch_is_unpacked_beside_the_rest_and_completed_afterwards(checkout, monkeypatch):
    together, pip = threading.Barrier(2), checkout.pip

    def both(*arguments: str, **settings: str) -> str:
        if {"-e", "--no-index"} & set(arguments):
            together.wait(20)
        return pip(*arguments, **settings)

    monkeypatch.setattr(install, "pip", both)
    assert install.main([]) == 0
    assert checkout.calls[-1] == f"install --no-compile {install.TORCH} {' '.join(install.ONCE)}"


def test_without_torch_set_up_goes_on_and_one_line_says_so(checkout, capsys):
    checkout.failing = ("--no-index", "--index-url")
    assert install.main([]) == 0 and install.READY.exists()
    said = capsys.readouterr().out.splitlines()[-1]
    assert "wanted by 2 cells of 01_a/01_b" in said and "`make torch`" in said


def test_torch_without_what_it_needs_is_taken_out_again(checkout):
    checkout.failing = (f"--no-compile {install.TORCH}",)
    assert install.main([]) == 0
    assert checkout.calls[-1] == "uninstall --yes torch"


def test_make_torch_says_why_it_failed_and_the_environment_stays_ready(checkout, capsys):
    install.main([])
    checkout.failing = ("--no-index", "--index-url")
    assert install.main(["torch"]) == 1
    said = capsys.readouterr().err
    assert "ERROR: no\n" in said and "could not be fetched: no. The same command" in said
    assert install.READY.exists() and not install.BEFORE.exists()


def test_make_ecosystem_adds_its_packages_once(checkout, capsys):
    install.main([])
    checkout.calls.clear()
    assert install.main(["ecosystem"]) == 0
    assert checkout.calls == ["install --no-compile numpy>=2.0 jax>=0.5"]
    assert install.READY.exists() and not install.BEFORE.exists()
    capsys.readouterr()
    assert install.main(["ecosystem"]) == 0
    assert len(checkout.calls) == 1 and capsys.readouterr().out == ""


def test_ecosystem_again_where_its_list_has_changed(checkout):
    install.main([])
    install.main(["ecosystem"])
    checkout.change("jax>=0.5", "jax>=0.6")
    assert install.main(["ecosystem"]) == 0
    assert checkout.calls == ["install --no-compile numpy>=2.0 jax>=0.6"]


def test_without_the_ecosystem_the_environment_stays_ready_and_it_is_tried_again(checkout, capsys):
    install.main([])
    checkout.failing = ("jax",)
    assert install.main(["ecosystem"]) == 1
    said = capsys.readouterr().err
    assert "ERROR: no\n" in said and "could not be fetched: no. The same command" in said
    assert install.READY.exists() and not install.ECOSYSTEM_READY.exists()


def test_a_failure_shows_what_pip_said_then_the_cause_and_is_not_ready(checkout, capsys):
    checkout.failing = ("-e",)
    assert install.main([]) == 1
    last = "Set-up failed: no. The same command tries again."
    assert f"ERROR: no\nnote\n{last}\n" in capsys.readouterr().err
    assert not install.READY.exists()


def interrupted(*_, **__):
    (install.VENV / "half").mkdir(exist_ok=True)
    raise KeyboardInterrupt


def test_a_first_set_up_that_was_interrupted_starts_from_nothing(checkout, monkeypatch, capsys):
    monkeypatch.setattr(install, "pip", interrupted)
    assert install.main([]) == 130
    assert "same command" in capsys.readouterr().err
    monkeypatch.setattr(install, "pip", checkout.pip)
    assert install.main([]) == 0
    assert checkout.made == 2 and not (install.VENV / "half").exists()


@pytest.mark.parametrize("part", ["", "again", "torch", "ecosystem"])
def test_a_change_that_was_interrupted_is_done_again_and_loses_nothing(
    checkout, monkeypatch, capsys, part
):
    install.main([])
    checkout.change()
    monkeypatch.setattr(install, "pip", interrupted)
    assert install.main([part] if part else []) == 130
    assert not install.READY.exists()  # so make calls set-up again
    monkeypatch.setattr(install, "pip", checkout.pip)
    checkout.failing = ("-e",)  # offline
    assert install.main([]) == 0
    assert "used as it was: no. " in capsys.readouterr().out
    checkout.failing = ()
    assert install.main([]) == 0
    assert install.READY.exists() and not install.BEFORE.exists()
    assert checkout.made == 1 and (install.VENV / "half").exists()


def test_a_package_that_a_killed_pip_left_half_installed_is_installed_again(checkout):
    install.main([])
    for version in ("3.11", "3.12"):
        for name, files in (("whole-1", ["METADATA", "INSTALLER"]), ("half-2", ["METADATA"])):
            info = install.VENV / f"lib/python{version}/site-packages/{name}.dist-info"
            info.mkdir(parents=True)
            for file in files:
                (info / file).touch()
    (info.parent / "~alf").mkdir()
    found = install.VENV.glob("lib/*/*/*.dist-info")
    install.main(["again"])
    assert len(list(found)) == 4  # nothing was interrupted
    assert not (info.parent / "~alf").exists()
    install.READY.replace(install.BEFORE)
    install.main([])
    found = install.VENV.glob("lib/*/*/*.dist-info")
    assert {path.name for path in found} == {"whole-1.dist-info"}


@pytest.mark.parametrize(
    "errors, expected",
    [
        ("ERROR: Could not find a version of x (from versions: none)", "did not answer"),
        ("WARNING: Retrying after ProxyError\nERROR: No matching x", "did not answer"),
        ("ERROR: No space left on device", "No space left on device"),
        (
            "error: Cannot update time stamp of 'x'\nERROR: pip subprocess to install failed.\n"
            "note: This error originates from a subprocess, and is likely not a problem with pip.",
            "Cannot update time stamp of 'x'",
        ),
        ("killed", "killed"),
    ],
)
def test_a_failed_update_says_why(errors, expected):
    assert install.cause(errors).endswith(expected)


def test_a_failed_update_goes_on_with_what_is_there(checkout, capsys):
    install.main([])
    checkout.change()
    checkout.failing = ("-e",)
    for _ in range(2):
        capsys.readouterr()
        before = install.READY.read_text()
        assert install.main([]) == 0
        said = capsys.readouterr()
        (line,) = said.out.splitlines()[1:]
        assert line.startswith("The update failed, and .venv is used as it was: no. `make setup`")
        assert said.err == ""
        assert install.READY.read_text() == before
    assert checkout.made == 1 and install.PYTHON.exists()


def test_an_update_that_left_a_package_out_says_which(checkout, capsys):
    install.main([])
    checkout.change()
    checkout.failing = ("-e",)
    del checkout.packages["numpy"]
    assert install.main([]) == 1
    assert "Set-up failed: no. The same command" in capsys.readouterr().err
    assert checkout.made == 1


def test_a_package_that_is_gone_is_fetched_again(checkout):
    install.main([])
    checkout.calls.clear()
    install.main([])
    assert not checkout.calls
    del checkout.packages["cuda_core"]
    install.main([])
    assert checkout.calls


def test_the_same_lists_need_no_pip_but_where_it_is_asked_for(checkout, capsys):
    install.main([])
    later = install.READY.stat().st_mtime + 5
    os.utime(install.PROJECT, (later, later))
    old = (later - 60, later - 60)
    os.utime(install.READY, old)
    checkout.calls.clear()
    capsys.readouterr()
    assert install.main([]) == 0
    assert not checkout.calls and capsys.readouterr().out == ""
    assert install.READY.stat().st_mtime > old[0]  # make asks no more
    assert install.main(["again"]) == 0
    assert checkout.calls


def test_a_folder_that_cannot_be_written_to_is_told_in_a_line(checkout, monkeypatch, capsys):
    def refused():
        raise PermissionError(13, "Permission denied", ".venv")

    monkeypatch.setattr(install, "make_venv", refused)
    assert install.main([]) == 1
    said = capsys.readouterr().err
    assert "Permission denied: '.venv'" in said and "folder of your own" in said


@pytest.mark.parametrize("marked", [True, False], ids=["set up", "a reader's own"])
@pytest.mark.parametrize("script", ["exit 1", None], ids=["does not start", "is gone"])
def test_an_environment_whose_python_does_not_work_is_left_alone(
    checkout, monkeypatch, capsys, script, marked
):
    monkeypatch.setattr(install, "probe", PROBE)
    install.PYTHON.parent.mkdir(parents=True)
    if script:
        install.PYTHON.write_text(f"#!/bin/sh\n{script}\n")
        install.PYTHON.chmod(0o755)
    else:
        install.PYTHON.symlink_to("/no/such/python")
    if marked:
        install.READY.touch()
    assert install.main([]) == 1
    said = capsys.readouterr().err
    assert "does not start" in said and "mv .venv .venv-old" in said
    assert os.path.lexists(install.PYTHON) and not checkout.made


def test_an_environment_of_the_readers_own_is_kept(checkout):
    checkout.make_venv()
    (install.VENV / "mine").touch()
    assert install.main([]) == 0
    assert checkout.made == 1 and (install.VENV / "mine").exists()


def test_an_environment_of_the_readers_own_is_kept_where_pip_fails(checkout, capsys):
    checkout.make_venv()
    (install.VENV / "mine").touch()
    checkout.failing = ("-e",)
    for _ in range(2):
        assert install.main([]) == 1
        assert "PYTHON=.venv/bin/python" in capsys.readouterr().err
    assert checkout.made == 1 and (install.VENV / "mine").exists()


@pytest.mark.parametrize("can", [True, False])
def test_an_environment_without_pip_gets_it_or_is_left_alone(checkout, monkeypatch, capsys, can):
    asked = []

    def run(command, **_):
        asked.append(command)
        return subprocess.CompletedProcess(
            command, 0 if can else 1, "", "No module named ensurepip"
        )

    monkeypatch.setattr(install.subprocess, "run", run)
    checkout.make_venv()
    checkout.has_pip = False
    assert install.main([]) == (0 if can else 1)
    assert asked == [[install.PYTHON, "-m", "ensurepip"]]
    assert bool(checkout.calls) == can and checkout.made == 1
    assert can or "uv pip install pip" in capsys.readouterr().err


def test_an_environment_with_an_old_python_is_left_alone(checkout, capsys):
    checkout.make_venv()
    checkout.python = [3, 9]
    assert install.main([]) == 1
    assert "has Python 3.9" in capsys.readouterr().err
    assert checkout.made == 1 and not checkout.calls


def test_an_environment_says_what_it_has(checkout, monkeypatch):
    checkout.make_venv()
    monkeypatch.setattr(install, "PYTHON", Path(sys.executable))
    version, has_pip, packages = PROBE()
    assert tuple(version) == sys.version_info[:2] and "pytest" in packages and has_pip


def test_one_of_an_older_version_of_the_course_is_brought_up_to_date(checkout, capsys):
    checkout.make_venv()
    install.READY.touch()  # it listed nothing
    assert install.main([]) == 0
    assert checkout.made == 1 and checkout.calls
    assert "up to date" in capsys.readouterr().out


def test_a_folder_of_another_user_is_used_as_it_is(checkout, monkeypatch):
    install.main([])

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", refused)
    monkeypatch.setattr(Path, "replace", refused)
    assert install.main([]) == 0
    checkout.change()
    checkout.failing = ("-e",)
    assert install.main([]) == 0


def test_a_second_set_up_waits_for_the_first_and_finds_it_done(checkout):
    checkout.make_venv()
    install.PROJECT.write_text("[project]\n")
    with install.PROJECT.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        second = subprocess.Popen([sys.executable, "-I", SCRIPT], stdout=subprocess.PIPE, text=True)
        assert second.stdout.readline().startswith("Another make")
        install.finish({"extra": "cpu", **install.lists("cpu")})
    said, _ = second.communicate(timeout=60)
    assert second.returncode == 0 and said == ""


def test_pip_sees_nothing_of_other_environments(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PIP_USER", "1")
    assert "PYTHONPATH" not in install.variables()
    assert install.variables()["PIP_USER"] == "0"


def test_the_script_needs_the_standard_library_alone():
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"))
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    names = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    names |= {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
    assert names and names <= sys.stdlib_module_names | {"collections.abc", "concurrent.futures"}


def test_the_question_for_notebooks_that_want_torch_is_answered(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(install, "PYTHON", Path(sys.executable))
    assert install.who_wants_torch().startswith("wanted by ")


def make(folder: Path, *programs: str) -> str:
    """What ``make doctor`` says in a new checkout on a machine with these programs alone."""
    shutil.copy(ROOT / "Makefile", folder)
    (folder / "course_utils").mkdir()
    for name in ("pyproject.toml", "course_utils/install.py"):
        (folder / name).touch()
    for name in ("bash", *programs):
        if not (folder / "bin" / name).exists():
            (folder / "bin" / name).symlink_to(shutil.which(name))
    done = subprocess.run(
        [shutil.which("make"), "doctor"],
        cwd=folder,
        env={"PATH": str(folder / "bin")},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and not (folder / ".venv").exists()
    return done.stdout


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_a_mac_is_told_at_once_that_it_has_no_nvrtc(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uname").write_text("#!/bin/sh\necho Darwin\n")
    (tmp_path / "bin" / "uname").chmod(0o755)
    said = make(tmp_path, "sh")
    assert "NVRTC, which does not exist for macOS" in said and ".devcontainer" in said


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_a_machine_without_python_is_told_what_to_install(tmp_path):
    (tmp_path / "bin").mkdir()
    assert "needs Python 3.11 or later" in make(tmp_path, "uname")


@pytest.mark.parametrize("package", ["torch", "jax", "keras", "onnxruntime"])
def test_cells_that_import_a_package_say_that_they_need_it(package):
    found = 0
    for path in sorted(CHAPTERS.glob("*/*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            lines = "".join(cell["source"]).splitlines() if cell["cell_type"] == "code" else []
            words = [line.replace(".", " ").split()[:2] for line in lines]
            if ["import", package] in words or ["from", package] in words:
                found += 1
                magic, *needed = lines[0].split()
                if magic == "%%exercise":
                    magic, needed = "%%needs", find(needed[0]).needs
                assert magic == "%%needs" and package in needed, f"{path.name}: {lines[0]}"
    assert found


class Installed:
    """A package that is there."""

    def __init__(self, name: str | None, version: str | None):
        self.name, self.version = name, version


@pytest.fixture
def host(checkout, monkeypatch):
    """A machine of Colab's: ``host(name=version, ...)`` says what is there; gives pip's words."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    install.PROJECT.write_text(project, encoding="utf-8")

    def made(**there: str) -> list[str]:
        packages = [Installed(name, version) for name, version in there.items()]
        packages.append(Installed(None, None))  # what is left of one that was half removed
        monkeypatch.setattr(install.metadata, "distributions", lambda: packages)
        called: list[str] = []

        def pip(*words: str, python: str) -> str:
            assert python == sys.executable
            called.extend([*words, Path(words[2]).read_text()])
            return "".join(checkout.failing)

        monkeypatch.setattr(install, "pip", pip)
        return called

    return made


def test_a_host_gets_what_it_lacks_and_keeps_what_it_has(host, capsys):
    called = host(NumPy="2.1.3", ml_dtypes="0.1", **{"cuda-core": "0.3.2", "torch": "2.11.0+cu128"})
    assert install.main(["hosted"]) == 0
    *words, fixed = called
    asked = " ".join(words[3:])
    assert words[:2] == ["install", "--constraint"] and "nvidia-cuda-nvrtc-cu12==" in asked
    for kept in ("numpy", "ml_dtypes", "cuda-core", "torch", "jupyterlab", "cupy"):
        assert kept not in asked
    assert "numpy==2.1.3\nml-dtypes==0.1\n" in fixed and "torch==2.11.0+cu128\n" in fixed
    assert "nvidia-cutlass" in capsys.readouterr().out


def test_a_host_with_a_gpu_gets_no_compiler_of_another_version(host, monkeypatch):
    monkeypatch.setattr(install, "has_gpu", lambda: True)
    called = host(numpy="2.1.3")
    assert install.main(["hosted"]) == 0
    asked = " ".join(called[3:-1])
    assert "nvidia-cuda-nvcc-cu12==12.8" in asked and "cupy" not in asked and "torch" not in asked


def test_a_host_that_has_everything_is_left_alone(host, capsys):
    project = install.tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    names = [*project["dependencies"], *extras["cpu"], *extras["cute"]]
    called = host(**{install.re.match(r"[\w.-]+", name)[0]: "1" for name in names})
    assert install.main(["hosted"]) == 0
    assert not called and capsys.readouterr().out == ""


def test_a_host_on_which_pip_fails_says_why(host, checkout, capsys):
    checkout.failing = ("ERROR: conflict",)
    host()
    assert install.main(["hosted"]) == 1
    assert "ERROR: conflict\nWhat the course lacks here" in capsys.readouterr().err
