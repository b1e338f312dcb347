"""Runs Nsight Compute (``ncu``) on a piece of Python, and reads its counts.

Clocks are left as they are: counts do not depend on them.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ...errors import LessonError
from ...paths import ROOT


class LaunchCounts(NamedTuple):
    """ncu's counts of one launch of the kernel ``name``: each metric's value, in base units
    (bytes, nanoseconds)."""

    name: str
    metrics: dict[str, float]


def counts(
    code: str, kernels: str, metrics: Iterable[str], launches: int | None = None
) -> list[LaunchCounts]:
    """One entry per launch of a kernel while Python runs ``code``, in order.

    ``kernels`` is a regular expression for the whole name of a kernel, ``launches`` how many are
    counted at most. Metrics that this GPU does not have are left out. Raises LessonError where
    ncu is missing, may not count, or finds nothing.
    """
    if shutil.which("ncu") is None:
        raise LessonError("This counts with Nsight Compute, and there is no ncu on the PATH.")
    here = [metric for metric in metrics if metric.split(".")[0] in known_metrics()]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        command = ["ncu", "--csv", "--page", "raw", "--print-units", "base"]
        command += ["--clock-control", "none", "--log-file", str(log)]
        command += ["--kernel-name-base", "function", "-k", f"regex:^({kernels})$"]
        command += ["--metrics", ",".join(here)]
        command += ["--launch-count", str(launches)] if launches else []
        command += [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        text = log.read_text() if log.exists() else ""
    found = read(text, here)
    if done.returncode or not found:
        last = (done.stdout + done.stderr + text).strip().splitlines()[-5:]
        raise LessonError("\n".join(["ncu counted nothing; it and the program say:", *last]))
    return found


def read(text: str, metrics: Iterable[str]) -> list[LaunchCounts]:
    """The entries of ncu's raw page as CSV: a line of names, one of units, then one a launch."""
    rows = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    if len(rows) < 3:
        return []
    head, _, *launches = rows
    entries = (dict(zip(head, row, strict=True)) for row in launches)
    return [
        LaunchCounts(
            entry["Kernel Name"],
            {m: number for m in metrics if (number := _number(entry.get(m, ""))) is not None},
        )
        for entry in entries
    ]


@cache
def known_metrics() -> frozenset[str]:
    """The base names of all metrics of this GPU."""
    asked = ["ncu", "--query-metrics"]
    text = subprocess.run(asked, capture_output=True, text=True).stdout
    return frozenset(re.findall(r"^([a-z]\w+__\w+)", text, re.M))


def version() -> str:
    """ncu's own."""
    text = subprocess.run(["ncu", "--version"], capture_output=True, text=True).stdout
    found = re.search(r"Version (\S+)", text)
    return found[1] if found else "unknown"


def driver() -> str:
    """The version of NVIDIA's driver."""
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(asked, capture_output=True, text=True).stdout.split()[0]


def _number(text: str) -> int | float | None:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return int(value) if value.is_integer() else value
