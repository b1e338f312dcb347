"""Executing one notebook in its own kernel, from the first cell to the last."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from ..needs import SKIPPED
from ..paths import ROOT
from .canonical import ANSI
from .cells import numbered

CELL_LINE = re.compile(
    r"Cell In\s?\[\d+\], line (\d+)|^-+>\s*(\d+)|<ipython-input[^\n]*, line (\d+)", re.M
)


@dataclass(frozen=True)
class Failure:
    """Where and how a notebook failed: ``cell`` counts all cells from 1, ``line`` 0 is unknown."""

    cell: int
    line: int
    source: str
    error: str

    def __str__(self) -> str:
        at = f"cell {self.cell}" + (f", line {self.line}" if self.line else "")
        return f"{at}: {self.source}\n{self.error}"


@dataclass(frozen=True)
class RunOutcome:
    """The result of one run: the time in seconds, the cells skipped here, the failure if any."""

    seconds: float
    skipped: int
    failure: Failure | None = None


def kernel_environment(device: str | None, root: Path = ROOT) -> dict[str, str]:
    """The environment of a kernel: this one's, with the course importable and inline figures.

    ``device`` is "emulator", "cuda" or None to let the machine decide.
    """
    env = dict(os.environ)
    old = env.get("PYTHONPATH")
    env["PYTHONPATH"] = os.pathsep.join([str(root), old] if old else [str(root)])
    env["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    env["PYTHONHASHSEED"] = "0"
    if device:
        env["COURSE_DEVICE"] = device
    return env


def execute(
    nb: NotebookNode,
    folder: Path,
    env: dict[str, str],
    timeout: float,
    on_cell: Callable[[int], None] = lambda number: None,
) -> RunOutcome:
    """Run ``nb`` in place with ``folder`` as its working folder. ``timeout`` is in seconds per
    cell.

    ``on_cell`` hears the number of each code cell when it is done.
    """
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    class OwnPython(KernelSpecManager):
        """This very Python, whatever kernels the machine has registered as python3."""

        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            from ipykernel.kernelspec import RESOURCES, get_kernel_dict

            return self.kernel_spec_class(resource_dir=RESOURCES, **get_kernel_dict())

    running = 0

    def starts(cell: NotebookNode, cell_index: int) -> None:
        nonlocal running
        running = cell_index + 1

    def executed(cell: NotebookNode, cell_index: int, **_: object) -> None:
        on_cell(cell_index + 1)

    begin = time.perf_counter()
    failure = None
    with tempfile.TemporaryDirectory(prefix="course-") as profile:
        client = NotebookClient(
            nb,
            km=AsyncKernelManager(kernel_name="python3", kernel_spec_manager=OwnPython()),
            timeout=timeout,
            startup_timeout=60,
            resources={"metadata": {"path": str(folder)}},
            record_timing=False,
            shutdown_kernel="immediate",
            extra_arguments=["--log-level=40"],  # errors: newer kernels warn about TCP each time
            on_cell_start=starts,
            on_cell_executed=executed,
        )
        try:
            client.execute(env={**env, "IPYTHONDIR": profile}, cleanup_kc=True)
        except CellExecutionError:
            failure = _failure(running, nb.cells[running - 1])
        except CellTimeoutError:
            failure = _stopped(nb, running, f"it took longer than {timeout:g} s and was stopped")
        except DeadKernelError:
            failure = _stopped(nb, running, "the kernel died (a crash, or out of memory)")
        except RuntimeError as error:
            failure = Failure(running, 0, "", f"the kernel did not start: {error}")
    return RunOutcome(time.perf_counter() - begin, skipped_cells(nb), failure)


def skipped_cells(nb: NotebookNode) -> int:
    """How many cells printed that they are skipped here."""
    return sum(
        any(
            output.output_type == "stream" and output.text.startswith(SKIPPED)
            for output in cell.outputs
        )
        for _, cell in numbered(nb, "code")
    )


def _failure(number: int, cell: NotebookNode) -> Failure:
    error = next(output for output in cell.outputs if output.output_type == "error")
    trace = ANSI.sub("", "\n".join(error.traceback))
    match = CELL_LINE.search(trace)
    line = int(next(group for group in match.groups() if group)) if match else 0
    lines = cell.source.splitlines()
    source = lines[line - 1].strip() if 0 < line <= len(lines) else _first_line(cell)
    evalue = ANSI.sub("", error.evalue).strip()
    return Failure(number, line, source, f"{error.ename}: {evalue}" if evalue else error.ename)


def _stopped(nb: NotebookNode, number: int, why: str) -> Failure:
    return Failure(number, 0, _first_line(nb.cells[number - 1]), why)


def _first_line(cell: NotebookNode) -> str:
    return next((line.strip() for line in cell.source.splitlines() if line.strip()), "")
