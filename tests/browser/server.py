"""`make learn` on a copy of the course, as a student starts it, and the log that it writes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from course_utils.paths import ROOT
from tests.students_notebooks import committed, in_use

NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".progress", ".hypothesis", ".*_cache", ".virtual_documents", "__pycache__"
)
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\S+token=\w+")
# Tornado names a failed request by its status, and a traceback or an [E line is a fault of its own.
FAULT = re.compile(r"^\[E |^Traceback|\b[45]\d\d (?:GET|HEAD|POST|PUT|PATCH|DELETE) ", re.M)
# JupyterLab puts a picture into the page with the address that its Markdown has, and with one that
# the server knows an instant later: on a busy machine the first has been asked for by then. The
# second begins with `/files/`, and its failure counts.
GIVEN_UP = re.compile(r"\b404 (GET |http://127\.0\.0\.1:\d+)/assets/figures/")
START_SECONDS = 120


class Server:
    """JupyterLab started by ``make learn``; the student's files and settings stay untouched."""

    def __init__(self, folder: Path) -> None:
        """Copy the course into ``folder`` and start there. RuntimeError: it gave no address."""
        self.course = folder / "course"
        self._log = folder / "server.log"
        shutil.copytree(ROOT, self.course, ignore=NOT_COPIED)
        for path in in_use():
            (self.course / path.relative_to(ROOT)).write_bytes(committed(path))
        flags = "--no-browser --ServerApp.port=0 --expose-app-in-browser"
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                ["make", "learn", f"PYTHON={Path(sys.executable).name}", f"ARGS={flags}"],
                cwd=self.course,
                env=_environment(folder),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.address = self._wait_for_address()

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def faults(self) -> list[str]:
        """The lines of the log that report a failed request or an error."""
        return faults_in(self.log)

    def stop(self) -> None:
        """End the server; it ends its kernels."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait(timeout=60)

    def _wait_for_address(self) -> str:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            if found := ADDRESS.search(self.log):
                return found[0]
            time.sleep(0.1)
        self.stop()
        raise RuntimeError(f"make learn printed no address to open:\n{self.log}")


def faults_in(log: str) -> list[str]:
    """Its lines that report an error, or a failed request that JupyterLab didn't give up itself."""
    faults = [line for line in log.splitlines() if FAULT.search(line)]
    return [line for line in faults if not GIVEN_UP.search(line)]


def _environment(folder: Path) -> dict[str, str]:
    """This process's without a calling make's flags, and with Jupyter's own files in ``folder``."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "COURSE_PROGRESS", "MPLBACKEND")
    }
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
    }
    # By its name, as in `make learn PYTHON=python3`: its folder may have a space in its path.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {
        **kept,
        "PATH": path,
        **{name: str(folder / "jupyter" / part) for name, part in own.items()},
    }
