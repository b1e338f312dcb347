"""A plugin of pytest: the kernels of any CUDA project, tested on a machine with no GPU.

With the package installed, pytest finds the fixture by itself::

    def test_saxpy(cuda_kernel):
        saxpy = cuda_kernel("saxpy.cu", "saxpy")
        x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
        saxpy((4,), (256,), 2.0, x, y, 1000)      # fails the test if the sanitizer finds anything
        np.testing.assert_allclose(y, 2 * x + 1)

``pytest --step-to FOLDER`` leaves a page of each launch with a fault, if the test fails.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:  # a run of pytest that has no such test pays for none of it
    import numpy as np

    from ..launching.kernels import Kernel
    from ..observing.profile_report import Profile
    from ..observing.sanitizing import Report
    from .step_pages import StepPages

PAGES = "pages of steps"  # the name of the plugin that is registered with --step-to


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--step-to`` to pytest's options."""
    parser.getgroup("CUDA kernels").addoption(
        "--step-to",
        metavar="FOLDER",
        help="if a test fails, write a page for each launch with a fault, which shows it line by "
        "line in a browser (small launches only)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the folder of ``--step-to``. Raises UsageError where it can't be written."""
    given = config.getoption("step_to", None)
    if given is not None:
        from .step_pages import step_pages

        config.pluginmanager.register(step_pages(config, given), PAGES)


class CompilerWarning(UserWarning):
    """The compiler accepts a kernel and warns of something in it."""


class CheckedKernel:
    """A kernel on the emulator; each launch is watched by the sanitizer.

    ``kernel`` is the course's own :class:`~course_utils.launching.kernels.Kernel`, ``test`` the
    test that launches it. ``pages`` keep the launches with a fault, with ``--step-to``.
    """

    def __init__(self, kernel: Kernel, test: pytest.Item, pages: StepPages | None = None):
        self.kernel, self._test, self._pages = kernel, test, pages

    def __call__(self, grid: Any, block: Any, *args: Any, shared_mem: int = 0) -> None:
        """Launch it. NumPy arrays among ``args`` receive what the kernel wrote; numbers become what
        the parameters want. The test fails where the sanitizer finds anything."""
        __tracebackhide__ = True
        report = self.report(grid, block, *args, shared_mem=shared_mem)
        if not report.clean:
            pytest.fail(str(report), pytrace=False)

    def report(self, grid: Any, block: Any, *args: Any, shared_mem: int = 0) -> Report:
        """Launch it and return what was found, for a test that expects a fault."""
        from ..observing.sanitizing import sanitize

        values, arrays = _on_the_emulator(args)
        if self._pages is None:
            report = sanitize(self.kernel, grid, block, values, shared_mem=shared_mem)
        else:
            report = self._pages.sanitized(self._test, self.kernel, grid, block, values, shared_mem)
        for array, copy in arrays:
            if array.flags.writeable:
                array[...] = copy.get()
        return report

    def profile(self, grid: Any, block: Any, *args: Any, shared_mem: int = 0) -> Profile:
        """What a launch does, counted by :func:`course_utils.profile`. No array is changed."""
        from ..observing.profiling import profile

        values, _ = _on_the_emulator(args)
        return profile(self.kernel, grid, block, values, shared_mem=shared_mem)


@pytest.fixture
def cuda_kernel(request: pytest.FixtureRequest) -> Callable[..., CheckedKernel]:
    """``cuda_kernel(path, name=None, *, defines=None, arch=None, cooperative=False)`` compiles a
    kernel.

    ``path`` is relative to the test's own folder, or to pytest's root. ``name`` may be left out
    where the file has one kernel, and may be a template's instance, ``"scale<float>"``. A
    ``cooperative`` kernel may wait for its whole grid. pytest lists the compiler's warnings as
    :class:`CompilerWarning`. Raises LessonError where there is no such file or kernel, CompileError
    where NVRTC refuses the source.
    """
    from ..compiling.own_warnings import own_warnings
    from .command import kernel_in

    def compiled(
        path: str | Path,
        name: str | None = None,
        *,
        defines: dict[str, Any] | None = None,
        arch: str | None = None,
        cooperative: bool = False,
    ) -> CheckedKernel:
        places = request.path.parent / path, request.config.rootpath / path
        file = next((place for place in places if place.is_file()), places[0])
        kernel = kernel_in(file, name, defines, arch, cooperative)
        for warning in own_warnings(getattr(kernel.module, "warnings", "")):
            warnings.warn(warning, CompilerWarning, stacklevel=2)
        pages = request.config.pluginmanager.get_plugin(PAGES)
        return CheckedKernel(kernel, request.node, pages)

    return compiled


def _on_the_emulator(args: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[tuple[np.ndarray, Any]]]:
    """``args`` with a copy for each NumPy array, one for an array that is named twice; and the
    arrays beside their copies."""
    import numpy as np

    from ..devices import emulated_cupy

    copies: dict[int, tuple[np.ndarray, Any]] = {}
    values = []
    for value in args:
        if isinstance(value, np.ndarray):
            if id(value) not in copies:
                copies[id(value)] = value, emulated_cupy.asarray(value)
            value = copies[id(value)][1]
        values.append(value)
    return tuple(values), list(copies.values())
