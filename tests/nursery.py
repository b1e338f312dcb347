"""The program from which :mod:`tests.forked_kernels` forks its kernels.

It has imported the course and the packages that are named to it. The fork still has to import them:
until then ``sys.modules`` has neither, and then the course meets the notebook's shell as in any
kernel.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import signal
import sys
from types import ModuleType
from typing import Any

LAUNCHER = "ipykernel_launcher"
HIDDEN = ("course_utils", "torch")
ANEW = ("matplotlib_inline",)  # sets itself up in the shell that it finds


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
