"""Plugin of pytest: the kernels that nbval starts are forks of one process.

A kernel takes 1.7 seconds of a core to start and to import the course, and 2.5 more for PyTorch.
One process of each worker, :mod:`tests.nursery`, has imported both and forks for each notebook.

A fork can hide that a notebook uses a module which nothing in it imports, such as ``torch.fft``:
``notebooks/test_imported_modules.py`` looks for that. On a GPU, in ``make run`` and for a reader
every kernel starts from nothing.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.nursery import HIDDEN, LAUNCHER

PROGRAM = Path(__file__).with_name("nursery.py")


def pytest_configure(config):
    if os.environ.get("COURSE_DEVICE") == "cuda" or not hasattr(os, "pidfd_open"):
        return
    from course_utils.devices.selection import ON_GPU

    if not ON_GPU:
        config.pluginmanager.register(OfNotebooks(config))


class OfNotebooks:
    """Plugin of pytest: a notebook's kernel is a fork, and one that a test starts is not."""

    def __init__(self, config: pytest.Config) -> None:
        from jupyter_client.provisioning import local_provisioner
        from nbval.plugin import IPyNbFile

        self._notebook = IPyNbFile
        self._starts = local_provisioner
        self._nursery = Nursery(local_provisioner.launch_kernel)
        config.add_cleanup(self._nursery.close)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item):
        if not self._of_notebook(item):
            return (yield)
        before = self._starts.launch_kernel
        self._starts.launch_kernel = self._nursery.launch
        try:
            return (yield)
        finally:
            self._starts.launch_kernel = before

    def _of_notebook(self, item: pytest.Item) -> bool:
        return isinstance(item.parent, self._notebook)


class Nursery:
    """Launches kernels as ``other`` does, by a process that forks them. It has imported the course
    and the ``packages`` that are there."""

    def __init__(self, other: Any, packages: tuple[str, ...] = HIDDEN[1:]) -> None:
        self._other = other
        self._packages = packages
        self._process: subprocess.Popen[str] | None = None

    def launch(self, command: list[str], **options: Any) -> Any:
        if LAUNCHER not in command:
            return self._other(command, **options)
        if self._process is None:
            flags = command[1 : command.index("-m")]
            self._process = subprocess.Popen(
                [sys.executable, "-P", *flags, PROGRAM, *self._packages],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        arguments = command[command.index(LAUNCHER) + 1 :]
        environment = {**os.environ, **(options.get("env") or {})}
        wish = {"arguments": arguments, "folder": options.get("cwd"), "environment": environment}
        asked, told = self._process.stdin, self._process.stdout
        print(json.dumps(wish), file=asked, flush=True)
        return ForkedKernel(*map(int, told.readline().split()))

    def close(self) -> None:
        """End the process, and with it all kernels."""
        process, self._process = self._process, None
        if process:
            process.communicate()


class ForkedKernel:
    """A kernel as ``subprocess.Popen`` has it. It's a child of another process, and its
    status isn't known here."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ends = os.pidfd_open(pid)

    def poll(self) -> int | None:
        return self.wait(0)

    def wait(self, timeout: float | None = None) -> int | None:
        if self.returncode is None and select.select([self._ends], [], [], timeout)[0]:
            os.close(self._ends)
            self.returncode = 1
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            signal.pidfd_send_signal(self._ends, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)
