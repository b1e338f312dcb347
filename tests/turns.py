"""Which third of the dearest tests runs: another one at another commit, and under another Python.

A test can be shared out if its answer doesn't depend on the version of Python. Continuous
integration tests each commit under three Pythons whose minor versions follow one another: each of
them has a third, and together they have all. ``COURSE_TURN=all`` runs everything, and
``COURSE_TURN=2`` the turn that a report names.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import pytest

from course_utils.paths import ROOT

THIRDS = 3
SELDOM = 1000  # turns after which other tests come up of those that have one of nine
ALL = "all"
# The notebooks that keep a core busy for 6 to 50 seconds, where most take 3, and kernels whose CuTe
# takes the compiler 4 to 20, each with the notebook that compiles it too: three groups that take
# equally long. Each turn has one of them if tests and notebooks run together, as `make test` does.
# One that the last commit changed, or that has changed since, runs in every turn, and `make nbval`
# and `make test-gpu` run every notebook.
DEAREST = (
    (
        "06_matmul_and_fft/05_pipelines_and_stream_k.ipynb",
        "07_pytorch_extensions/04_flash_attention.ipynb",
        "08_cute_tma_blackwell/02_slicing.ipynb",
        "08_cute_tma_blackwell/08_tma.ipynb",
        "08_cute_tma_blackwell/14_cute_hopper_blackwell.ipynb",
        "08_cute_tma_blackwell/cute_blackwell/01_cute_umma.cu",
        "08_cute_tma_blackwell/cute_hopper/01_cute_wgmma.cu",
        "08_cute_tma_blackwell/cute_hopper/02_cute_pipeline.cu",
        "08_cute_tma_blackwell/cute_hopper/fragment_words.cu",
    ),
    (
        "04_first_kernels/12_memory_order.ipynb",
        "06_matmul_and_fft/01_matmul_python_to_c.ipynb",
        "08_cute_tma_blackwell/05_swizzle.ipynb",
        "08_cute_tma_blackwell/06_mma.ipynb",
        "08_cute_tma_blackwell/07_global_gemm.ipynb",
        "08_cute_tma_blackwell/09_hopper_gemm.ipynb",
        "08_cute_tma_blackwell/gemm/gemm_bf16_tiled.cu",
        "08_cute_tma_blackwell/mma/block_by_layout.cu",
        "08_cute_tma_blackwell/mma/mma_by_layout.cu",
        "08_cute_tma_blackwell/mma/mma_layouts.cu",
        "09_mnist_cnn/03_c.ipynb",
        "09_mnist_cnn/06_faster.ipynb",
    ),
    (
        "05_cuda_libraries/06_cutlass_cub_thrust.ipynb",
        "06_matmul_and_fft/04_warp_tiles.ipynb",
        "06_matmul_and_fft/06_tensor_cores.ipynb",
        "08_cute_tma_blackwell/03_copies.ipynb",
        "08_cute_tma_blackwell/04_tiled_copy.ipynb",
        "08_cute_tma_blackwell/10_blackwell_gemm.ipynb",
        "08_cute_tma_blackwell/11_block_scaled.ipynb",
        "08_cute_tma_blackwell/12_hopper_attention.ipynb",
        "09_mnist_cnn/05_backward_kernels.ipynb",
    ),
)
GROUP_OF = {name: place for place, group in enumerate(DEAREST) for name in group}


@cache
def turn() -> int | None:
    """The number of this run's turn. None if every test runs, because that is asked for or there
    is no commit to number the turn by."""
    if asked := os.environ.get("COURSE_TURN"):
        return None if asked == ALL else int(asked)
    commit = _commit()
    return turn_of(commit, sys.version_info.minor) if commit else None


def turn_of(commit: str, python: int) -> int:
    """The turn of a ``commit`` (its hash) under Python 3.``python``."""
    return int(commit[:8], 16) + python


def has_turn(place: int, number: int | None, among: int = THIRDS) -> bool:
    """Whether the test at ``place`` in its list is of the third that turn ``number`` runs, or of
    the half or the whole where there are only ``among``."""
    return number is None or (place + number) % min(among, THIRDS) == 0


def in_turn(place: int, among: int = THIRDS) -> pytest.MarkDecorator:
    """The mark of a test that runs when its third has its turn. Where fewer are alike, such as the
    sizes of one kernel, ``among`` is their number: then each turn runs one of them."""
    return pytest.mark.this_turn if has_turn(place, turn(), among) else pytest.mark.another_turn


def of_another_turn(file: str) -> bool:
    """Whether a notebook or a kernel is one of the dearest, not of this turn, and as it was before
    the last commit. ``file`` is its path in ``chapters`` or ``kernels``."""
    place = GROUP_OF.get(file)
    return place is not None and not has_turn(place, turn()) and file not in changed()


@cache
def changed() -> frozenset[str]:
    """The notebooks and kernels that the last commit changed, or that have changed since."""
    told = _git("diff", "--name-only", "--relative", "HEAD~1", "--", "chapters", "kernels")
    return frozenset(path.partition("/")[2] for path in told.splitlines())


def seldom(place: int) -> pytest.MarkDecorator:
    """The mark of a test that has one of nine turns: it takes tens of seconds, and is tried another
    way too. The three Pythons of continuous integration have it at one of three commits."""
    number = turn()
    due = number is None or has_turn(place // THIRDS, number // SELDOM)
    return in_turn(place) if due else pytest.mark.another_turn


def left_out() -> str:
    """What a report says of the tests of other turns, none of which it lists."""
    if turn() is None:
        return ""
    return f"turn {turn()} of the thirds: COURSE_TURN={ALL} runs every third"


def one_of(count: int) -> slice:
    """One of ``count`` things, another one at each turn, and the first if every test runs."""
    place = (turn() or 0) // THIRDS % max(count, 1)
    return slice(place, place + 1)


def _commit() -> str:
    """The hash of the commit at hand, or "" if neither ``make`` nor git knows one."""
    if told := os.environ.get("COURSE_COMMIT"):
        return told
    return _git("rev-parse", "HEAD")


def _git(*command: str) -> str:
    """What git answers here, "" if it isn't there or refuses."""
    try:
        asked = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return asked.stdout.strip() if asked.returncode == 0 else ""
