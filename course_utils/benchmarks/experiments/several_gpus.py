"""Collectives on all GPUs of the machine: their times by size, NCCL's beside our own kernels', a
step of data parallel training with its communication beside or after the computation, and tokens
that travel to their experts.

Programs of the notebooks measure. This starts them, a process for each GPU.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...devices.properties import need_gpu
from ...errors import LessonError
from ...needs import gpu_count
from ...paths import KERNELS, ROOT

TOPIC = "05_cuda_libraries/nccl"
RUN = f"{TOPIC}/run_ranks.py"
PARTS = "ddp_overlap", "collective_times", "nccl_variants"
KERNEL_FILES = (
    f"{TOPIC}/01_all_reduce_push.cu",
    f"{TOPIC}/02_all_reduce_slices.cu",
    f"{TOPIC}/03_all_reduce_flagged.cu",
)
PROGRAMS = "own_all_reduce", "peer_memory", *PARTS
SOURCES = (*KERNEL_FILES, *(f"{TOPIC}/{name}.py" for name in PROGRAMS))
EXPERTS = "07_pytorch_extensions/experts/time_exchange.py"
EXPERT_SOURCES = (EXPERTS,)
SECONDS = 300


def measure(seconds: float = SECONDS) -> dict[str, Any]:
    """The ranks' results: ``ddp``, and ``times_us`` and ``variants_us``, which hold lists of
    (bytes, microseconds) by name.

    Raises LessonError where there is one GPU, or where a rank failed, with its last words.
    """
    return _found("nccl", RUN, PARTS, seconds)


def measure_experts(seconds: float = SECONDS) -> dict[str, Any]:
    """The ranks' results for layers of experts: ``cases``, each with microseconds of its
    ``exchange`` by the data sent, of its products, and of the whole layer.

    Raises LessonError as :func:`measure` does.
    """
    return _found("exchange", EXPERTS, (), seconds)


def _found(name: str, program: str, parts: Sequence[str], seconds: float) -> dict[str, Any]:
    need_gpu()
    ranks = gpu_count()
    if ranks < 2:
        raise LessonError(f"The measurement called {name} needs two GPUs or more.")
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder, "found.json")
        arguments = (*parts, "--into", str(into))
        done = start_ranks(ranks, *arguments, program=program, seconds=seconds)
        if done.returncode or not into.is_file():
            raise LessonError(f"The ranks failed: {(done.stdout + done.stderr)[-2000:]}")
        found: dict[str, Any] = json.loads(into.read_text(encoding="utf-8"))
        return found


def start_ranks(
    ranks: int, *arguments: str, program: str = RUN, seconds: float = SECONDS
) -> subprocess.CompletedProcess[str]:
    """``torchrun --standalone --nproc-per-node RANKS PROGRAM ARGUMENTS``, and what it printed.

    Raises LessonError where it takes longer than ``seconds``.
    """
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(ranks), str(KERNELS / program), *arguments]
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": paths}
    try:
        return subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=seconds
        )
    except subprocess.TimeoutExpired as error:
        raise LessonError(f"{ranks} ranks were not ready after {seconds:g} s.") from error
