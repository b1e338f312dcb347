"""``pytest --step-to FOLDER``: a failing test leaves a page of each launch that has a fault.

A launch is recorded as soon as the sanitizer finds something in it, from the same contents of
memory. Its page is written when pytest reports the test as failed, so a test that expects a fault
leaves none.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import pytest

from ..devices.emulated_arrays import plain
from ..devices.limits import LaunchError, dimensions
from ..emulator import GLOBAL
from ..errors import LessonError
from ..launching.arguments import bring_back, carry_over
from ..launching.kernels import Kernel
from ..observing.sanitizing import OTHER_SEEDS, Report, sanitize
from ..observing.unoptimised import MOST_BYTES
from ..stepping.stepped_launch import SteppedLaunch, check_size, step_kernel
from ..whole_files import write_whole

MOST_ELEMENTS = 50_000  # of all arrays on a page, which are half a megabyte
LONGEST_TEST, LONGEST_KERNEL = 140, 60  # characters in a file's name
# A node id that another's file can't be named after, even if capitals don't count.
PLAIN = re.compile(r"\w[\w/.]*(::\w+)+(\[[a-z0-9_.+=-]*\])?", re.ASCII)
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"optimised": True},
    *({"optimised": True, "seed": seed} for seed in OTHER_SEEDS),
)
TITLE = "steps"  # of the part of a test's report


@dataclass(frozen=True)
class FaultyLaunch:
    """A launch with a fault: its ``kernel``, its ``page`` as HTML, and a ``note`` for the report.
    Without a page the note says why."""

    kernel: str
    page: str
    note: str


@dataclass
class LaunchesOfTest:
    """The launches of a test that no report has named yet, and how often each name was used."""

    waiting: list[FaultyLaunch] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)


OF_TEST = pytest.StashKey[LaunchesOfTest]()


class StepPages:
    """The plugin that ``--step-to`` registers. ``folder`` receives the pages, and reports call it
    ``shown``."""

    def __init__(self, folder: Path, shown: Path) -> None:
        self.folder, self.shown = folder, shown

    def sanitized(
        self,
        item: pytest.Item,
        kernel: Kernel,
        grid: Any,
        block: Any,
        args: tuple[Any, ...],
        shared_mem: int,
    ) -> Report:
        """The report of :func:`~course_utils.sanitize`. A launch with a fault is kept for the
        report of the test ``item``. Raises LaunchError as ``sanitize`` does."""
        values, copies = carry_over(args)
        shape = dimensions(grid, "grid"), dimensions(block, "block")
        arrays = [plain(value) for value in kernel.check(*shape, values, shared_mem)]
        before, why = None, ""
        try:
            check_size(kernel.name, *shape)
            _check_elements(kernel.name, (a.size for a in arrays if isinstance(a, np.ndarray)))
            before = _memory(arrays)
        except LaunchError as error:
            why = _no_page(error)
        report = sanitize(kernel, grid, block, values, shared_mem=shared_mem)
        if not report.clean:
            launch = FaultyLaunch(kernel.name, "", why)
            if before is not None:
                after = GLOBAL.contents()
                try:
                    launch = _recorded(kernel, shape, values, shared_mem, report, before)
                finally:
                    GLOBAL.put_back(after)
            item.stash.setdefault(OF_TEST, LaunchesOfTest()).waiting.append(launch)
        bring_back(copies)
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # after it is known whether a failure is expected
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Write the pages of a test that failed, and add their paths to its report."""
        report = yield
        launches = item.stash.get(OF_TEST, None)
        if launches is None:
            return report
        if report.failed and launches.waiting:
            lines = [self._written(item, each, launches.names) for each in launches.waiting]
            launches.waiting.clear()
            _add(report, "\n".join(lines))
        if report.when == "teardown":
            del item.stash[OF_TEST]
        return report

    def _written(self, item: pytest.Item, launch: FaultyLaunch, names: Counter[str]) -> str:
        """The line of the report for a launch, whose page is written if it has one."""
        if not launch.page:
            return launch.note
        stem = page_stem(item.nodeid, launch.kernel)
        names[stem] += 1
        name = f"{stem}-{names[stem]}.html" if names[stem] > 1 else f"{stem}.html"
        try:
            write_whole(self.folder / name, launch.page)
        except OSError as error:
            return f"No page: {self.shown / name} can't be written ({error.strerror})."
        return f"Open {self.shown / name} in a browser.{launch.note}"


def step_pages(config: pytest.Config, given: str) -> StepPages:
    """The plugin for the folder that ``--step-to`` names. It is made if there is none. Raises
    UsageError where no file can be written to it."""
    if not given:
        raise pytest.UsageError("--step-to has no folder. Name one: --step-to steps")
    shown = Path(given).expanduser()
    folder = config.invocation_params.dir / shown
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        why = "it's a file" if folder.is_file() else error.strerror
        raise pytest.UsageError(
            f"--step-to: no page can be written to {given} ({why}). Name a folder that you may "
            "write to. It needn't exist."
        ) from None
    return StepPages(folder, shown)


def page_stem(test: str, kernel: str) -> str:
    """The file's name, without its ending, for a ``kernel`` in the ``test`` of that node id. No two
    tests have the same: a part of the id's hash is added if characters had to go."""
    words = [_plain(test, LONGEST_TEST), _plain(kernel, LONGEST_KERNEL)]
    if len(test) > LONGEST_TEST or not PLAIN.fullmatch(test):
        words.insert(1, hashlib.sha256(test.encode("utf-8", "surrogatepass")).hexdigest()[:6])
    return "-".join(words)


def _plain(text: str, longest: int) -> str:
    text = text.replace(".py::", "::").replace("::", "-").removesuffix("]").removesuffix(">")
    return re.sub(r"[^\w.+=-]", "-", text, flags=re.ASCII).lstrip("-.")[:longest]


def _recorded(
    kernel: Kernel,
    shape: tuple[tuple[int, int, int], tuple[int, int, int]],
    values: Any,
    shared_mem: int,
    report: Report,
    before: Any,
) -> FaultyLaunch:
    """The launch recorded from memory as it was ``before``. Never raises: the test has a failure
    already, which matters more."""
    kinds = {finding.kind for finding in report.findings}
    found: SteppedLaunch | None = None
    note = ""
    try:
        for settings in SETTINGS:
            GLOBAL.put_back(before)
            try:
                with redirect_stdout(StringIO()):
                    steps = step_kernel(kernel, *shape, values, shared_mem=shared_mem, **settings)
            except LessonError:
                if found is None:
                    raise
                continue
            found = found or steps
            if any(finding.kind in kinds for finding in steps.findings):
                found = steps
                break
        else:
            note = " The fault of the report didn't happen again while it was recorded."
        assert found is not None
        _check_elements(kernel.name, (len(array.first) for array in found.arrays))
        return FaultyLaunch(kernel.name, found.page(), note)
    except Exception as error:
        return FaultyLaunch(kernel.name, "", _no_page(error))


def _no_page(error: Exception) -> str:
    first = next(iter(str(error).splitlines()), "")
    return f"No page: {first if isinstance(error, LessonError) else f'{error!r}'}"


def _check_elements(kernel: str, sizes: Iterable[int]) -> None:
    elements = sum(sizes)
    if elements > MOST_ELEMENTS:
        raise LaunchError(
            f"{kernel}: its arrays have {elements:,} elements, too many to look at. A page takes "
            f"at most {MOST_ELEMENTS:,}: make the arrays smaller."
        )


def _memory(arrays: list[Any]) -> Any:
    """A copy of all memory that a kernel may write to, ``arrays`` included."""
    size = sum(region.storage.nbytes for region in GLOBAL.regions)
    if size > MOST_BYTES:
        raise LaunchError(
            f"The emulator holds {size:,} bytes of arrays, too many to copy for a page. It takes "
            f"at most {MOST_BYTES:,}: make the arrays smaller that fixtures and tests keep."
        )
    return GLOBAL.contents(arrays)


def _add(report: pytest.TestReport, text: str) -> None:
    """``text`` below the failure: with it, as JUnit's XML and ``--show-capture=no`` need it."""
    below = getattr(report.longrepr, "addsection", None)
    if below is not None:
        below(TITLE, text)
    else:
        report.sections.append((TITLE, text))
