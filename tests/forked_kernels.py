"""Plugin of pytest: the kernels that nbval starts are forks of one process.

A kernel takes 1.7 seconds of a core to start and to import the course, and 2.5 more for PyTorch.
One process has imported both and forks for each notebook. The fork still has to import them: until
then ``sys.modules`` has neither, and then the course meets the notebook's shell as in any kernel.

A fork can hide that a notebook uses a module which nothing in it imports, such as ``torch.fft``:
``notebooks/test_imported_modules.py`` looks for that. On a GPU, in ``make run`` and for a reader
every kernel starts from nothing.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
from types import ModuleType
from typing import Any

LAUNCHER = "ipykernel_launcher"
HIDDEN = ("course_utils", "torch")
ANEW = ("matplotlib_inline",)  # sets itself up in the shell that it finds


def pytest_configure(config):
    if os.environ.get("COURSE_DEVICE") == "cuda" or not hasattr(os, "pidfd_open"):
        return
    from jupyter_client.provisioning import local_provisioner

    from course_utils.devices.selection import ON_GPU

    if not ON_GPU:
        nursery = Nursery(local_provisioner.launch_kernel)
        local_provisioner.launch_kernel = nursery.launch
        config.add_cleanup(nursery.close)


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
        flags = command[1 : command.index("-m")]
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", *flags, __file__, *self._packages],
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


class Reimport(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Hides imported packages, and imports them again."""

    def __init__(self) -> None:
        self._hidden: dict[str, dict[str, ModuleType]] = {name: {} for name in HIDDEN}
        for name in list(sys.modules):
            package = name.partition(".")[0]
            if package in HIDDEN:
                self._hidden[package][name] = sys.modules.pop(name)
            elif package in ANEW:
                del sys.modules[name]

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not self._hidden.get(name):
            return None
        return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = self._hidden[spec.name][spec.name]
        self._first = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        name, module.__spec__ = module.__name__, self._first
        sys.modules.update(self._hidden.pop(name))
        if name == "course_utils":  # as its own import does where a shell runs
            module.figures._register()
            module._teach_ipython()


def serve() -> None:
    """Fork a kernel for each line of stdin."""
    os.environ.setdefault(
        "MPLBACKEND", "module://matplotlib_inline.backend_inline"
    )  # as kernels do
    import ipykernel.ipkernel
    import ipykernel.kernelapp
    import ipykernel.zmqshell  # noqa: F401
    import matplotlib.figure  # noqa: F401

    import course_utils.exercises.student.magic

    for name in course_utils.__all__:
        getattr(course_utils, name)
    for package in sys.argv[1:]:
        with contextlib.suppress(ImportError):
            importlib.import_module(package)
    gc.collect()
    gc.freeze()
    kernels = []
    for line in sys.stdin:
        kernels.append(os.fork())
        if kernels[-1] == 0:
            _become_a_kernel(**json.loads(line))
    for kernel in kernels:  # those that ended still have their numbers
        os.kill(kernel, signal.SIGKILL)
        os.waitpid(kernel, 0)


def _become_a_kernel(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    from ipykernel import kernelapp

    os.setsid()
    print(os.getpid(), flush=True)  # now that it leads its own group, which may be signalled
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.close(nothing)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    launcher = importlib.util.find_spec(LAUNCHER)
    sys.argv = [launcher.origin, *arguments, f"--IPKernelApp.parent_handle={os.getppid()}"]
    sys.meta_path.insert(0, Reimport())
    kernelapp.launch_new_instance()


if __name__ == "__main__":
    serve()
