"""A forked kernel is a kernel like any other, and no process stays behind."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from jupyter_client.provisioning import local_provisioner

from course_utils.paths import CHAPTERS, ROOT
from tests.forked_kernels import Nursery
from tests.machine_speed import slowness

nbval_kernel = pytest.importorskip("nbval.kernel")

SEEN = """
import sys
print({"course_utils", "torch", "matplotlib.pyplot"} & {*sys.modules})
from course_utils import figures, load
import os, matplotlib.pyplot as plt
shell = get_ipython()
print(plt.rcParams["figure.dpi"], plt.rcParams["backend"])
print(sorted(shell.magics_manager.magics["cell"]))
print(shell.display_formatter.formatters["image/png"].type_printers.keys())
print(len(shell.input_transformers_cleanup), __name__, os.getcwd(), os.getpgid(0) == os.getpid())
print(sys.modules["course_utils"].__spec__.name, sys.argv[0].rpartition("/")[2])
"""


def printed(kernel: nbval_kernel.RunningKernel, code: str) -> str:
    """What a cell prints, and the name of its error."""
    request, text = kernel.execute_cell_input(code), ""
    while True:
        message = kernel.get_message("iopub", timeout=60 * slowness())
        if message["parent_header"].get("msg_id") == request:
            content = message["content"]
            if content.get("execution_state") == "idle":
                return text
            text += content.get("text", "") + content.get("ename", "")


def started() -> nbval_kernel.RunningKernel:
    return nbval_kernel.RunningKernel(
        nbval_kernel.CURRENT_ENV_KERNEL_NAME, cwd=str(CHAPTERS / "00_start_here")
    )


@pytest.fixture(scope="module")
def nursery():
    """PyTorch isn't imported ahead, which takes long."""
    nursery = Nursery(local_provisioner.launch_kernel, packages=())
    yield nursery
    nursery.close()


def test_a_fork_is_like_a_kernel_that_starts_from_nothing(nursery, monkeypatch):
    first = started()
    wanted = printed(first, SEEN)
    first.stop()
    monkeypatch.setattr(local_provisioner, "launch_kernel", nursery.launch)
    kernel = started()
    assert printed(kernel, SEEN) == wanted
    kernel.stop()
    assert wanted.startswith("set()")


def test_forks_know_nothing_of_each_other_and_end_with_the_process(nursery, monkeypatch):
    monkeypatch.setattr(local_provisioner, "launch_kernel", nursery.launch)
    first, second = started(), started()
    assert printed(first, "import course_utils; x = 1") == ""
    seen = printed(second, "import sys; 'course_utils' in sys.modules or x")
    assert seen.startswith("NameError")
    threading.Timer(1, first.interrupt).start()
    assert printed(first, "print(1)\nwhile True: pass") == "1\nKeyboardInterrupt"
    second.stop()
    assert printed(first, "print(x)") == "1\n"
    pid = int(printed(first, "import os; print(os.getpid())"))
    assert Path(f"/proc/{pid}").exists()
    nursery.close()
    assert not Path(f"/proc/{pid}").exists()


def test_make_starts_the_notebooks_kernels_so():
    line = next(x for x in (ROOT / "Makefile").read_text("utf-8").splitlines() if "NBVAL :=" in x)
    assert "-p tests.forked_kernels" in line
