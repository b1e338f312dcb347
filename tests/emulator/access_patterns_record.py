"""Measures the patterns of ``access_patterns.py`` with Nsight Compute.

On a machine with an NVIDIA GPU, ncu and the right to read its counters:

    python tests/emulator/access_patterns_record.py FOLDER

writes ``access_patterns.json`` there; that of an H200 is committed beside this file.
"""

from __future__ import annotations

import datetime
import json
import re
import sys
from pathlib import Path

import access_patterns

from course_utils.benchmarks.harness import nsight_compute
from course_utils.compiling.bindings import nvrtc_version
from course_utils.devices.properties import device_name

HERE = Path(__file__).resolve().parent
_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
# What is kept of each launch of a pattern.
PATTERN_METRICS = {
    "load": (_WAVEFRONTS.format("ld"), _CONFLICTS.format("ld")),
    "store": (_WAVEFRONTS.format("st"), _CONFLICTS.format("st")),
    "red": (_SECTORS.format("red"),),
    "atom": (_SECTORS.format("atom"),),
    "shared_atom": (_WAVEFRONTS.format("atom"),),
}


def _one_line(match: re.Match) -> str:
    return "[" + ", ".join(filter(None, match.groups())) + "]"


def main(folder: Path) -> None:
    table: dict = {}
    path = f"import sys; sys.path.insert(0, {str(HERE)!r})"
    code = f"{path}; import access_patterns; access_patterns.launch_all()"
    for operation, metrics in PATTERN_METRICS.items():
        found = nsight_compute.counts(code, f"{operation}_[0-9]+", metrics)
        launched = [p for p in access_patterns.patterns() if p[0] == operation]
        for (_, width, name, _), counted in zip(launched, found, strict=True):
            values = [counted.metrics.get(metric, 0) for metric in metrics]
            table.setdefault(f"{operation}_{width}", {})[name] = values
    about = {
        "device": device_name(),
        "driver": nsight_compute.driver(),
        "nvrtc": "{}.{}".format(*nvrtc_version()),
        "ncu": nsight_compute.version(),
        "date": datetime.date.today().isoformat(),
    }
    text = json.dumps(about | {"measured": table}, indent=1)
    text = re.sub(r"\[\s+(\d+)(?:,\s+(\d+))?\s+\]", _one_line, text)
    (folder / "access_patterns.json").write_text(text + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
