"""Set-up: makes ``.venv`` and installs the packages for this machine. The Makefile calls it.

It runs before anything is installed, so it imports the standard library alone and nothing of
course_utils, and it runs in the root of the checkout, so its paths are relative::

    python3 -I course_utils/install.py                   set-up, or an update where one is due
    python3 -I course_utils/install.py again             the same, and pip looks in any case
    python3 -I course_utils/install.py torch             the CPU build of PyTorch, again
    python3 -I course_utils/install.py ecosystem         JAX, Keras, ONNX and ONNX Runtime
    python3 -I course_utils/install.py hosted            the packages that a Colab or Kaggle machine
    lacks

Set-up that ended leaves ``.venv/.ready``, which lists the packages asked for. While pip changes an
environment, that file is called ``.before``. Only a ``.venv`` that set-up made from nothing and
didn't finish, marked by ``.half_made``, is ever emptied. One of the reader's own, or one that was
ready, is brought up to date or left as it is.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import Any

PROJECT = Path("pyproject.toml")
VENV = Path(".venv")
PYTHON = VENV / "bin" / "python"
READY = VENV / ".ready"
BEFORE = VENV / ".before"
HALF_MADE = VENV / ".half_made"
IN_NEW_KERNELS = Path(__file__).with_name("before_first_cell.py")  # IPython runs it in each
STARTUP = VENV / "etc" / "ipython" / "startup"
ECOSYSTEM_READY = VENV / ".ecosystem"  # the list of that extra, where it is installed

# For a machine with no GPU. The local version +cpu exists for this build alone, so no index can
# answer with a CUDA build: on the plain index that is gigabytes of another CUDA than the course's.
TORCH = "torch==2.13.0+cpu"
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
ONCE = ("--retries", "0", "--timeout", "5")
SOON = {"PIP_RETRIES": "1", "PIP_TIMEOUT": "15"}  # an update can wait for a better connection

# Packages for which a notebook in Colab or on Kaggle has no use, or that its host has.
HOSTS_OWN = ("jupyterlab", "nbval", "cupy-cuda12x", "torch")

EXTRAS = {
    "cpu": "the compiler, the emulator and JupyterLab (a minute or two, 1.2 GB)",
    "gpu": "CuPy, PyTorch and CUDA 12 for your GPU (a few minutes, about 8 GB)",
    "gpu13": "CuPy, PyTorch and CUDA 13 for your GPU (a few minutes, about 8 GB)",
}
CUDA_OF = {"cpu": 12, "gpu": 12, "gpu13": 13}
DRIVER_13, CAPABILITY_13 = 580, 7.5  # the oldest on which CUDA 13 runs
MOVE = "move it away (`mv .venv .venv-old`), then run the same command again."
OWN = "\nYour .venv is as it was: PYTHON=.venv/bin/python after a make command uses it as it is."

# Run by an environment's own Python: its version, whether pip works there, and its packages.
PROBE = """
import json, sys
from importlib import metadata
try:
    import pip
except Exception:
    pip = None
packages = {each.name: each.version for each in metadata.distributions() if each.name}
print(json.dumps([sys.version_info[:2], bool(pip), packages]))
"""


class SetupError(Exception):
    """Set-up can't continue. The message says why, and the next step."""


def set_up(again: bool = False) -> None:
    """Make ``.venv``, or bring it up to date where the lists of packages have changed. ``again``
    lets pip look in any case. Raises SetupError."""
    with only_one():
        had, there = recorded(), packages_there()
        extra, why = choose_extra(had, there)
        wanted = {"extra": extra, **lists(extra)}
        if READY.exists() and had == wanted and not again and not absent(had, there):
            with suppress(OSError):  # another user's: each call compares the lists
                READY.touch()
            return
        start = time.monotonic()
        prepare(extra, why, had)
        with changing():
            patience = {} if had is None else SOON
            with ThreadPoolExecutor(1) as aside:  # one pip unpacks on one core
                torch = aside.submit(fetch_torch, *ONCE) if extra == "cpu" else None
                errors = pip("install", "--no-compile", "-e", f".[{extra},cute,dev]", **patience)
            without = False
            if torch and not errors:
                without = bool(torch.result() or complete_torch(*ONCE))
        if errors:
            if had is None or again or absent(had, packages_there()):
                own = "" if had is not None or HALF_MADE.exists() else OWN
                raise SetupError(
                    f"{errors}\nSet-up failed: {cause(errors)}. The same command tries again.{own}"
                )
            print(
                f"The update failed, and .venv is used as it was: {cause(errors)}. `make setup` "
                "tries again.",
                flush=True,
            )
            return
        finish(wanted)
        print(f"Set-up done in {time.monotonic() - start:.0f} s.")
        if without:
            print(
                f"PyTorch's CPU build could not be fetched ({who_wants_torch()}; all else runs). "
                "`make torch` tries again."
            )


def set_up_again() -> None:
    """Let pip look after a ``.venv``, even if the lists are the same. Raises SetupError."""
    set_up(again=True)


def set_up_torch() -> None:
    """Add the CPU build of PyTorch to a ``.venv`` that is ready. Raises SetupError."""
    if has_gpu():
        raise SetupError("This machine has a GPU: its build of PyTorch came with set-up.")
    with only_one(), changing():
        errors = add_torch()
    if errors:
        raise SetupError(
            f"{errors}\nPyTorch's CPU build could not be fetched: {cause(errors)}. The same "
            "command tries again."
        )
    print("The CPU build of PyTorch is installed.")


def set_up_ecosystem() -> None:
    """Add the packages of chapter 01's comparisons to a ready ``.venv``, once. Raises
    SetupError."""
    with only_one():
        wanted = json.dumps(extras().get("ecosystem", []))
        if ECOSYSTEM_READY.exists() and ECOSYSTEM_READY.read_text() == wanted:
            return
        print("JAX, Keras, ONNX and ONNX Runtime, once (a minute or two, 0.6 GB).", flush=True)
        # By their names: the course itself isn't built and installed again.
        names = [*project()["dependencies"], *extras().get("ecosystem", [])]
        with changing():
            errors = pip("install", "--no-compile", *names)
        if errors:
            raise SetupError(
                f"{errors}\nThe packages of chapter 01 could not be fetched: {cause(errors)}. The "
                "same command tries again."
            )
        ECOSYSTEM_READY.write_text(wanted)


def set_up_hosted() -> None:
    """Add the missing packages to the Python that runs this, on Colab's or Kaggle's machine. No
    package that is there changes, of whatever version it is. Raises SetupError."""
    found = [each for each in metadata.distributions() if each.name]  # half removed, one has none
    there = {plain(each.name): each.version for each in found}
    extra = "gpu" if has_gpu() else "cpu"
    wanted = [*project()["dependencies"], *extras()[extra], *extras()["cute"]]
    known = {plain(name) for name in (*there, *HOSTS_OWN)}
    lacking = [each for each in wanted if name_of(each) not in known]
    if not lacking:
        return
    start = time.monotonic()
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as fixed:
        fixed.write("".join(f"{name}=={version}\n" for name, version in there.items()))
        fixed.flush()
        errors = pip("install", "--constraint", fixed.name, *lacking, python=sys.executable)
    if errors:
        raise SetupError(f"{errors}\nWhat the course lacks here could not be fetched: see above.")
    print(f"Added in {time.monotonic() - start:.0f} s: {', '.join(lacking)}.")


# --- what is wanted ---


def project() -> dict[str, Any]:
    """The table ``[project]`` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    return table


def extras() -> dict[str, list[str]]:
    """The packages of each extra."""
    found: dict[str, list[str]] = project().get("optional-dependencies", {})
    return found


def lists(extra: str) -> dict[str, Any]:
    """All that set-up installs with an ``extra``: once it changes, an update is due."""
    packages = list(project().get("dependencies", []))
    for name in (extra, "cute", "dev"):
        packages += extras().get(name, [])
    return {
        "packages": packages,
        "torch": TORCH if extra == "cpu" else "",
        "entry points": project().get("entry-points", {}),
    }


def choose_extra(had: Mapping[str, Any] | None, there: Mapping[str, str]) -> tuple[str, str]:
    """The extra that the variable COURSE_EXTRA asks for, or the recorded one, or the one that fits;
    and a line that says why, or "". An environment keeps the CUDA that it has: SetupError where
    another is asked for."""
    asked, cuda = os.environ.get("COURSE_EXTRA", ""), cuda_major(there)
    if asked and asked not in EXTRAS:
        raise SetupError(f"COURSE_EXTRA is {asked!r}: say {', '.join(EXTRAS)}, or unset it.")
    if asked and cuda and CUDA_OF[asked] != cuda:
        raise SetupError(
            f"The .venv that is here has CUDA {cuda}, and the extra {asked} brings CUDA "
            f"{CUDA_OF[asked]}; one environment holds one CUDA. To change it, {MOVE}"
        )
    before = asked or (had or {}).get("extra")
    return (before, "") if before in EXTRAS else fitting_extra(there)


def fitting_extra(there: Mapping[str, str]) -> tuple[str, str]:
    """The extra for this machine and the packages that are there, and a line that says why, or ""
    where only the packages decide."""
    cuda = cuda_major(there)
    if cuda == 13:
        return "gpu13", ""
    if "cupy-cuda12x" in there:
        return "gpu", ""
    if not has_gpu():
        return "cpu", ""
    if cuda == 12:
        return "gpu", "The .venv that is here has CUDA 12: set-up takes the extra gpu."
    newest, why = cuda_of_driver()
    if newest != 13:
        return "gpu", f"{why}: set-up takes the extra gpu."
    other = "`make learn COURSE_EXTRA=gpu` takes CUDA 12."
    return "gpu13", f"{why}: set-up takes the extra gpu13. {other}"


def cuda_of_driver() -> tuple[int, str]:
    """The newest CUDA for this machine's driver and GPUs, 12 or 13, or 0 where that can't be known;
    and why."""
    ask = ["nvidia-smi", "--query-gpu=driver_version,compute_cap", "--format=csv,noheader"]
    try:
        said = subprocess.run(ask, capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        said = ""
    found = re.findall(r"^((\d+)[\d.]*), *(\d+\.\d+)$", said, re.M)
    if not found or len(found) < len(said.splitlines()):
        return 0, "It is unknown which CUDA the NVIDIA driver runs"
    version, major, _ = found[0]
    oldest = min((capability for *_, capability in found), key=float)
    if int(major) < DRIVER_13:
        return 12, f"The NVIDIA driver {version} runs CUDA 12; CUDA 13 needs {DRIVER_13}"
    if float(oldest) < CAPABILITY_13:
        return 12, f"A GPU of compute capability {oldest} runs CUDA 12; 13 needs {CAPABILITY_13}"
    return 13, f"The NVIDIA driver {version} runs CUDA 13"


def cuda_major(packages: Mapping[str, str]) -> int | None:
    """The CUDA that an environment's ``packages`` belong to, by CuPy first, None without any.

    The extra ``programs`` brings an nvcc that may be of another, and no NVRTC.
    """
    for name in sorted(packages):
        if found := re.fullmatch(r"(?:cupy-cuda(\d\d)x|nvidia-cuda-\w+-cu(\d\d))", name):
            return int(found[1] or found[2])
    version = packages.get("nvidia-cuda-nvrtc")
    return int(version.partition(".")[0]) if version else None


def plain(name: str) -> str:
    """The one way to write a package's name: ``ml_dtypes`` and ``ml-dtypes`` are the same."""
    return re.sub(r"[-_.]+", "-", name).lower()


def name_of(requirement: str) -> str:
    """The name of the package that a line such as ``numpy>=2.0`` asks for."""
    found = re.match(r"[\w.-]+", requirement)
    assert found, f"{requirement!r} names a package"
    return plain(found[0])


# --- the environment ---


def recorded() -> dict[str, Any] | None:
    """The packages installed when set-up last ended, empty where that isn't known, None where it
    never ended."""
    for path in (READY, BEFORE):
        with suppress(FileNotFoundError):
            text = path.read_text(encoding="utf-8")
            return json.loads(text) if text.startswith("{") else {}
    return None


def finish(wanted: Mapping[str, Any]) -> None:
    """Record that ``.venv`` is ready. The mark of a half-made one goes first, so that nothing can
    empty it from now on."""
    HALF_MADE.unlink(missing_ok=True)
    part = READY.with_name(".ready.part")
    part.write_text(json.dumps(wanted, indent=1), encoding="utf-8")
    part.replace(READY)
    BEFORE.unlink(missing_ok=True)
    with suppress(OSError):  # another user's. The course works without it
        STARTUP.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(IN_NEW_KERNELS, STARTUP / IN_NEW_KERNELS.name)
    for aside in VENV.glob("lib/python*/site-packages/~*"):  # a killed pip was replacing them
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def changing() -> Iterator[None]:
    """Around pip's changes of ``.venv``. If it is killed, the next set-up lets pip look again."""
    ready = False
    with suppress(OSError):  # there is none yet, or the folder is another user's
        READY.replace(BEFORE)
        ready = True
    yield
    if ready:
        BEFORE.replace(READY)


def from_nothing() -> bool:
    """Whether set-up begins from nothing: no .venv, or one that it made itself and never ended."""
    if not VENV.is_dir() or not any(VENV.iterdir()):
        return True
    return HALF_MADE.exists() and recorded() is None


def packages_there() -> dict[str, str]:
    """The packages of ``.venv`` and their versions, with pip, which is added where it is missing;
    none where set-up begins from nothing. Raises SetupError where the course can't use it."""
    if from_nothing():
        return {}
    version, has_pip, packages = probe()
    if tuple(version) < (3, 11):
        raise SetupError(
            f"The .venv that is here has Python {version[0]}.{version[1]}, and the course needs "
            f"3.11 or later: {MOVE}"
        )
    if not has_pip:
        command: list[str | Path] = [PYTHON, "-m", "ensurepip"]
        added = subprocess.run(command, env=variables(), capture_output=True, text=True)
        if added.returncode:
            raise SetupError(
                f"{added.stderr.strip()}\nThe .venv that is here has no pip, and Python could not "
                f"add it. Add it with the tool that made .venv (`uv pip install pip`), or {MOVE}"
            )
    return {plain(name): version for name, version in packages.items()}


def probe() -> tuple[list[int], bool, dict[str, str]]:
    """The version of ``.venv``'s Python, whether it has pip, and its packages. Raises SetupError
    where it doesn't start."""
    try:
        done = subprocess.run([PYTHON, "-I", "-c", PROBE], capture_output=True, text=True)
        said = done.stderr.strip()
        if not done.returncode:
            return tuple(json.loads(done.stdout))
    except (OSError, ValueError) as error:
        said = str(error)
    sentence = "The Python of the .venv that is here does not start"
    raise SetupError(f"{said}\n{sentence}: {MOVE}".lstrip())


def absent(had: Mapping[str, Any], there: Iterable[str]) -> list[str]:
    """The packages that were installed by a record and are gone."""
    return [name for each in had.get("packages", []) if (name := name_of(each)) not in there]


def prepare(extra: str, why: str, had: Mapping[str, Any] | None) -> None:
    """Print the next steps of set-up, and make ``.venv`` where there is none."""
    if why:
        print(why)
    if had is not None:
        print("Set-up again: .venv is brought up to date.", flush=True)
        if not READY.exists():
            forget_half_installed()
    elif not from_nothing():
        print(f"Set-up, once: in the .venv that is here, with {EXTRAS[extra]}.", flush=True)
    else:
        if HALF_MADE.exists():
            print("The .venv that is here was never finished: making a new one.")
        version = f"Python {sys.version.split()[0]}"
        print(f"Set-up, once: {version} in .venv, with {EXTRAS[extra]}.", flush=True)
        clear()
        make_venv()


def forget_half_installed() -> None:
    """Remove the records of packages that pip was killed before installing: pip
    writes INSTALLER last, and doesn't look at a package that it believes to be there."""
    for info in VENV.glob("lib/python*/site-packages/*.dist-info"):
        if not (info / "INSTALLER").exists():
            shutil.rmtree(info)


def clear() -> None:
    """Empty ``.venv``. The mark that it is half made goes in first and stays."""
    VENV.mkdir(exist_ok=True)
    HALF_MADE.touch()
    for entry in VENV.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry != HALF_MADE:
            entry.unlink()


def make_venv() -> None:
    """An empty environment with pip, of the Python that runs this. Raises SetupError."""
    command: list[str | Path] = [sys.executable, "-m", "venv", VENV]
    # It inherits the lock: one that outlives its make still writes into .venv.
    made = subprocess.run(command, env=variables(), capture_output=True, text=True, close_fds=False)
    if made.returncode:
        said = made.stdout + made.stderr
        raise SetupError(f"{said}\nPython could not make .venv: see above.")
    newer_pip()


def newer_pip() -> None:
    """The newest pip, if the index answers: the one that came with Python 3.11 takes 11 seconds
    longer to choose the course's packages."""
    pip("install", "--upgrade", "pip", *ONCE)


def add_torch() -> str:
    """Install the CPU build of PyTorch. Returns pip's errors if that failed, or ""."""
    return fetch_torch() or complete_torch()


def fetch_torch(*patience: str) -> str:
    """PyTorch alone, beside which pip may install anything else: a wheel of this machine
    (``find-links`` of pip's own settings), or one from PyTorch's index. Returns pip's errors if
    that failed, or "". ``patience`` are pip's options for a server that does not answer.
    """
    alone = ("install", "--no-compile", "--no-deps", TORCH)
    if not pip(*alone, "--no-index"):
        return ""
    return pip(*alone, "--index-url", TORCH_INDEX, *patience)


def complete_torch(*patience: str) -> str:
    """Install the packages that PyTorch needs, from the index that everything else comes from.
    Returns pip's errors and takes PyTorch out again if that failed, else returns ""."""
    errors = pip("install", "--no-compile", TORCH, *patience)
    if errors:
        pip("uninstall", "--yes", "torch")
    return errors


def who_wants_torch() -> str:
    """Which notebooks leave something out without PyTorch, by their own ``%%needs`` lines.
    Raises SetupError where the installed course cannot say."""
    ask = "from course_utils.notebook_requirements import wanting; print(wanting('torch'))"
    done = subprocess.run([PYTHON, "-c", ask], text=True, stdout=subprocess.PIPE)
    if done.returncode:
        raise SetupError("What set-up installed does not work: see above.")
    return done.stdout.strip()


def has_gpu() -> bool:
    """Whether an NVIDIA driver answers."""
    try:
        return not subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode
    except OSError:
        return False


def pip(*arguments: str, python: str | Path = PYTHON, **settings: str) -> str:
    """Run .venv's pip, or another ``python``'s, with a line for each large download. Returns its
    errors if it failed, or "". ``settings`` are further variables for it."""
    command = [python, "-m", "pip", *arguments]
    env = variables() | settings
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=env, close_fds=False
        ) as running:
            for line in running.stdout or ():
                if re.match(r" *Downloading .*\d\d(\.\d+)? MB", line):
                    print("  fetching", line.split()[1], *line.split()[-2:], flush=True)
                elif line.startswith("Installing collected") and line.count(",") > 2:
                    print(f"  unpacking {line.count(',') + 1} packages", flush=True)
        errors.seek(0)
        said = errors.read().strip()
    return (said or f"pip ended with status {running.returncode}") if running.returncode else ""


def cause(errors: str) -> str:
    """The cause of pip's ``errors``, in a line."""
    if re.search(r"from versions: none|Connection|Proxy|Name or service|timed out", errors):
        return "the package index did not answer"
    said = re.findall(r"^ *(?:ERROR|error): (.*)$", errors, re.M)
    own = [line for line in said if "subprocess" not in line and "exit code" not in line]
    return (own or said or errors.splitlines())[-1].strip().rstrip(".")


def variables() -> dict[str, str]:
    """Variables for pip and venv: nothing of other environments, no questions."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    return kept | {"PIP_USER": "0", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


@contextmanager
def only_one() -> Iterator[None]:
    """Keep every other set-up of this checkout waiting."""
    with PROJECT.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another make is setting up .venv: waiting for it.", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            pass  # a file system that has no locks
        # pip inherits the lock, which then lasts as long as a pip that outlives its make.
        os.set_inheritable(file.fileno(), True)
        yield


def main(arguments: list[str]) -> int:
    """Set-up, or the part that is named. Returns the exit status."""
    parts = {
        "again": set_up_again,
        "torch": set_up_torch,
        "ecosystem": set_up_ecosystem,
        "hosted": set_up_hosted,
    }
    try:
        parts.get(" ".join(arguments), set_up)()
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        remedy = "The same command starts it again."
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC):
            remedy = (
                "It needs a folder of your own, with some GB left: clone the course into one, and "
                "try again."
            )
        print(f"Set-up can't continue: {error}. {remedy}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nSet-up was interrupted: the same command starts it again.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
