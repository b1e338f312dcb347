"""What all tests share."""

import gc
import os
import re
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
# Else JAX takes three quarters of a GPU that other workers and notebooks share.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import pytest

import tests.no_iri_grammar  # noqa: F401  (before anything imports nbformat)
import tests.plain_asserts  # noqa: F401  (before anything imports most of the course)
from course_utils.devices.selection import ON_GPU
from course_utils.paths import KERNELS
from tests import turns
from tests.students_notebooks import IN_USE, in_use

# The files whose tests take longest begin first, and notebooks follow, so that no worker is left
# alone with one.
FIRST = (
    "browser/test_make_learn.py",
    "compiling/test_compiler_process.py",
    "emulator/test_counters.py",
    "figures/test_figures.py",
)
# A worker takes the tests of a file together, of these ones those of an exercise, of a kernel. They
# come last, where it's best to have little at a time.
SPREAD = (
    "exercises/test_every_exercise.py",
    "kernels/test_every_kernel.py",
    "observing/test_occupancy.py",
    "emulator/test_tcgen05_cute.py",
)
# Both look at the reports of the planted bugs, which a process keeps.
SHARING = {"golden/test_verdicts.py": "emulator/test_planted_bugs.py"}
# The kernels of one training step run on what the others made, which takes seconds to make.
TOGETHER = {path.stem for path in (KERNELS / "09_mnist_cnn" / "fast").glob("*.cu")}


@pytest.fixture(scope="session")
def students_notebooks() -> set[Path]:
    """:func:`in_use` of this checkout."""
    return in_use()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    return Scheduling(config, log)


def group_of(test: str) -> str:
    """The name of the tests that one worker runs together with this one."""
    file, _, name = test.partition("::")
    for one, other in SHARING.items():
        if file.endswith(one):
            return file.removesuffix(one) + other
    if not file.endswith(SPREAD):
        return file
    name = re.split(r"[-\]]", name.partition("[")[2])[0]
    return file if name in TOGETHER else name


def pytest_configure(config):
    gc.disable()  # until all tests are collected: looking for garbage took a quarter of that
    config.option.loadscopereorder = False  # xdist's own order is by the number of tests
    config.addinivalue_line("markers", "gpu: needs a CUDA device")
    config.addinivalue_line("markers", "emulator: about the emulator as the machine's device")
    config.addinivalue_line("markers", "this_turn: of a third that runs, as turns.py says")
    config.addinivalue_line("markers", "another_turn: of a third that doesn't run this time")


def pytest_collection_modifyitems(config, items):
    kept, out = [], []
    for item in items:
        (out if _of_another_turn(item) else kept).append(item)
    if out:  # a thousand skips take seconds
        items[:] = kept
        config.hook.pytest_deselected(items=out)
    theirs = in_use()
    for item in items:
        given = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if any(isinstance(value, Path) and value in theirs for value in given):
            item.add_marker(pytest.mark.skip(reason=IN_USE))
        if "gpu" in item.keywords and not ON_GPU:
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))
        if item.get_closest_marker("emulator") and ON_GPU:
            item.add_marker(pytest.mark.skip(reason="the machine's device is a GPU"))
    items.sort(key=_turn)


def pytest_collection_finish():
    # The emulator makes many small objects, and what was collected here stays until the end.
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000)


def pytest_terminal_summary(terminalreporter):
    if told := turns.left_out():
        terminalreporter.write_line(told)


def _of_another_turn(item):
    if item.path.suffix == ".ipynb":
        return turns.of_another_turn(f"{item.path.parent.name}/{item.path.name}")
    return item.get_closest_marker("another_turn") is not None


def _turn(item):
    path = item.path.as_posix()
    if path.endswith(SPREAD):
        return len(FIRST) + (2 if group_of(item.nodeid) in TOGETHER else 3)
    if path.endswith(".ipynb"):
        return len(FIRST)
    return next((n for n, name in enumerate(FIRST) if path.endswith(name)), len(FIRST) + 1)
