"""Set-up: makes ``.venv`` and installs into it what this machine needs. The Makefile calls it.

It runs before anything is installed, so it imports the standard library alone and nothing of
course_utils, and it runs in the root of the checkout, so its paths are relative::

    python3 -I course_utils/install.py                   set-up
    python3 -I course_utils/install.py torch             the CPU build of PyTorch, again
    python3 -I course_utils/install.py ecosystem         JAX, Keras, ONNX and ONNX Runtime
    python3 -I course_utils/install.py hosted            what a Colab or Kaggle machine lacks

Set-up that was interrupted leaves ``.venv/.unfinished``; the next one then starts from nothing.
Set-up that ended leaves ``.venv/.ready``, which make compares with pyproject.toml.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

PROJECT = Path("pyproject.toml")
VENV = Path(".venv")
PYTHON = VENV / "bin" / "python"
READY = VENV / ".ready"
UNFINISHED = VENV / ".unfinished"
ECOSYSTEM_READY = VENV / ".ecosystem"  # newer than pyproject.toml where that extra is installed

# For a machine with no GPU. The local version +cpu exists for this build alone, so no index can
# answer with a CUDA build: on the plain index that is gigabytes of another CUDA than the course's.
TORCH = "torch==2.13.0+cpu"
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
ONCE = ("--retries", "0", "--timeout", "5")

# What a notebook that is open in Colab or on Kaggle has no use for, or has from its host.
HOSTS_OWN = ("jupyterlab", "nbval", "cupy-cuda12x", "torch")

EXTRAS = {
    "cpu": "the compiler, the emulator and JupyterLab (about a minute, 1.1 GB)",
    "gpu": "CuPy, PyTorch and CUDA 12 for your GPU (a few minutes, about 8 GB)",
}


class SetupError(Exception):
    """Set-up cannot go on; the message says why and what to do."""


def set_up() -> None:
    """Make ``.venv``, or bring it up to date. Raises SetupError."""
    with only_one():
        if READY.exists() and works() and READY.stat().st_mtime >= PROJECT.stat().st_mtime:
            return  # the one that we waited for has done it
        start = time.monotonic()
        extra = "gpu" if has_gpu() else "cpu"
        prepare(EXTRAS[extra])
        if errors := pip("install", "--no-compile", "-e", f".[{extra},cute,dev]"):
            raise SetupError(f"{errors}\nSet-up failed: see above. It needs a connection.")
        without = extra == "cpu" and bool(add_torch(*ONCE))
        finish()
        print(f"Set-up done in {time.monotonic() - start:.0f} s.")
        if without:
            print(
                f"PyTorch's CPU build could not be fetched ({who_wants_torch()}; all else runs). "
                "`make torch` tries again."
            )


def set_up_torch() -> None:
    """Add the CPU build of PyTorch to a ``.venv`` that is ready. Raises SetupError."""
    if has_gpu():
        raise SetupError("This machine has a GPU: its build of PyTorch came with set-up.")
    with only_one():
        begin()
        errors = add_torch()
        finish()
    if errors:
        raise SetupError(f"{errors}\nPyTorch's CPU build could not be fetched: see above.")
    print("The CPU build of PyTorch is installed.")


def set_up_ecosystem() -> None:
    """Add what chapter 01 compares to a ``.venv`` that is ready, once. Raises SetupError."""
    with only_one():
        if ECOSYSTEM_READY.exists() and ECOSYSTEM_READY.stat().st_mtime >= PROJECT.stat().st_mtime:
            return
        print("JAX, Keras, ONNX and ONNX Runtime, once (a minute or two, 0.6 GB).", flush=True)
        begin()
        errors = pip("install", "--no-compile", "-e", ".[ecosystem]")
        finish()
        if errors:
            raise SetupError(
                f"{errors}\nThe packages of chapter 01 could not be fetched: see above."
            )
        ECOSYSTEM_READY.touch()


def set_up_hosted() -> None:
    """Add to the Python that runs this what it lacks, on a machine of Colab's or Kaggle's: no
    package that is there changes, of whatever version it is. Raises SetupError."""
    found = [each for each in metadata.distributions() if each.name]  # half removed, one has none
    there = {plain(each.name): each.version for each in found}
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["gpu" if has_gpu() else "cpu"], *extras["cute"]]
    known = {plain(name) for name in (*there, *HOSTS_OWN)}
    lacking = [each for each in wanted if plain(re.match(r"[\w.-]+", each)[0]) not in known]
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


def plain(name: str) -> str:
    """The one way to write a package's name: ``ml_dtypes`` and ``ml-dtypes`` are the same."""
    return re.sub(r"[-_.]+", "-", name).lower()


def begin() -> None:
    """Mark ``.venv`` as unfinished."""
    UNFINISHED.touch()
    READY.unlink(missing_ok=True)


def finish() -> None:
    """Mark ``.venv`` as ready."""
    READY.touch()
    UNFINISHED.unlink()


def prepare(what: str) -> None:
    """An environment with pip that nothing half-made is left in, marked as unfinished."""
    version = f"Python {sys.version.split()[0]}"
    if READY.exists() and works():
        print("Set-up again: pyproject.toml has changed, so .venv is brought up to date.")
    elif VENV.exists() and not UNFINISHED.exists() and works():
        print(f"Set-up, once: in the .venv that is here, with {what}.")
    else:
        if VENV.exists():
            print("The .venv that is here is half-made or broken: it is made afresh.")
        print(f"Set-up, once: {version} in .venv, with {what}.", flush=True)
        clear()
        make_venv()
    begin()


def works() -> bool:
    """Whether ``.venv`` has a Python that the course can use, with pip."""
    probe = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    try:
        done = subprocess.run([PYTHON, "-I", "-c", probe], stderr=subprocess.DEVNULL)
    except OSError:
        return False
    return done.returncode == 0


def clear() -> None:
    """Empty ``.venv``; the mark that it is unfinished goes in first and stays."""
    VENV.mkdir(exist_ok=True)
    UNFINISHED.touch()
    for entry in VENV.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry != UNFINISHED:
            entry.unlink()


def make_venv() -> None:
    """An empty environment with pip, of the Python that runs this. Raises SetupError."""
    command = [sys.executable, "-m", "venv", VENV]
    made = subprocess.run(command, env=variables(), capture_output=True, text=True)
    if made.returncode:
        said = made.stdout + made.stderr
        raise SetupError(f"{said}\nPython could not make .venv: see above.")


def add_torch(*patience: str) -> str:
    """Install the CPU build of PyTorch; what pip said where that failed, or "".

    First a wheel of this machine (``find-links`` of pip's own settings), then PyTorch's index;
    what PyTorch itself needs comes from the index that everything else comes from. ``patience``
    are pip's options for a server that does not answer.
    """
    alone = ("install", "--no-compile", "--no-deps", TORCH)
    if pip(*alone, "--no-index"):
        errors = pip(*alone, "--index-url", TORCH_INDEX, *patience)
        if errors:
            return errors
    errors = pip("install", "--no-compile", TORCH, *patience)
    if errors:
        pip("uninstall", "--yes", "torch")
    return errors


def who_wants_torch() -> str:
    """Which notebooks leave something out without PyTorch, by their own ``%%needs`` lines."""
    ask = "from course_utils.needs import wanting; print(wanting('torch'))"
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


def pip(*arguments: str, python: str | Path = PYTHON) -> str:
    """Run .venv's pip, or that of another ``python``, with a line for each large download; its
    errors where it failed, or ""."""
    command = [python, "-m", "pip", *arguments]
    piped = {"stdout": subprocess.PIPE, "text": True, "env": variables(), "close_fds": False}
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, stderr=errors, **piped) as running:
            for line in running.stdout:
                if re.match(r" *Downloading .*\d\d(\.\d+)? MB", line):
                    print("  fetching", line.split()[1], *line.split()[-2:], flush=True)
                elif line.startswith("Installing collected") and line.count(",") > 2:
                    print(f"  unpacking {line.count(',') + 1} packages", flush=True)
        errors.seek(0)
        said = errors.read().strip()
    return (said or f"pip ended with status {running.returncode}") if running.returncode else ""


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
    """Set-up, or the part that is named; the exit status."""
    parts = {"torch": set_up_torch, "ecosystem": set_up_ecosystem, "hosted": set_up_hosted}
    try:
        parts.get(" ".join(arguments), set_up)()
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"Set-up cannot go on: {error}. It needs a folder of your own, with some GB left: "
            "clone the course into one, and try again.",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        print("\nSet-up was interrupted: the same command starts it again.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
