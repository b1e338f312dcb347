"""Measures the kernels of ``ncu_kernels.py`` and ``access_patterns.py`` with Nsight Compute.

On a machine with an NVIDIA GPU, ncu and the right to read its counters:

    python tests/emulator/ncu_record.py FOLDER

writes ``ncu.json`` and ``access_patterns.json`` there; those of an H200 are committed beside this
file as ``ncu_h200.json`` and ``access_patterns_h200.json``. Clocks are left as they are: counts
do not depend on them.
"""

from __future__ import annotations

import csv
import datetime
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

METRICS = (
    *(
        f"l1tex__t_{what}_pipe_lsu_mem_{space}_op_{op}.sum"
        for what in ("requests", "sectors")
        for space, ops in (("global", ("ld", "st", "red", "atom")), ("local", ("ld", "st")))
        for op in ops
    ),
    *(f"smsp__inst_executed_op_shared_{op}_pred_on_any.sum" for op in ("ld", "st", "atom")),
    *(f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st", "atom")),
    *(f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum" for op in ("ld", "st", "atom")),
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__sass_average_branch_targets_threads_uniform.pct",
    "smsp__sass_branch_targets.sum",
    "smsp__sass_branch_targets_threads_uniform.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
    *(
        f"smsp__sass_thread_inst_executed_op_{kind}{op}_pred_on.sum"
        for kind in "fdh"
        for op in ("add", "mul", "fma")
    ),
    "smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
    *(
        f"sm__ops_path_tensor_op_{kind}.sum"
        for kind in (
            "hmma_src_fp16_dst_fp16",
            "hmma_src_fp16_dst_fp32",
            "hmma_src_bf16_dst_fp32",
            "hmma_src_tf32_dst_fp32",
            "imma_src_int8",
        )
    ),
    "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum",
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum",
    *(
        f"smsp__sass_inst_executed_op_{op}.sum"
        for op in (
            "ldgsts",
            "ldsm",
            "shared_ld",
            "shared_st",
            "global_ld",
            "global_st",
            "memory_128b",
            "branch",
        )
    ),
    *(
        f"smsp__sass_l1tex_{what}_{op}.sum"
        for what in ("data_pipe_lsu_wavefronts_mem_shared_op", "t_sectors_pipe_lsu_mem_global_op")
        for op in ("ld", "st")
    ),
)
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


def known(metrics: tuple[str, ...]) -> tuple[str, ...]:
    """Those that this GPU has."""
    asked = ["ncu", "--query-metrics"]
    text = subprocess.run(asked, capture_output=True, text=True).stdout
    names = set(re.findall(r"^([a-z]\w+__\w+)", text, re.M))
    return tuple(m for m in metrics if m.split(".")[0] in names)


def measure(script: str, kernels: str, metrics: tuple[str, ...]) -> list[dict]:
    """One record for each launch of a kernel whose name matches, in order: name and metrics."""
    log = Path(f"/tmp/{script}.csv")
    command = [
        "ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
        "--kernel-name-base", "function", "-k", f"regex:{kernels}",
        "--metrics", ",".join(metrics), "--log-file", str(log),
        sys.executable, str(HERE / script),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    text = log.read_text() if log.exists() else ""
    rows = [line for line in text.splitlines() if line.startswith('"')]
    if done.returncode or len(rows) < 3:
        raise SystemExit(f"ncu failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}{text[-4000:]}")
    head, _, *data = csv.reader(rows)  # names, units, then a row for each launch
    return [
        {"name": row[head.index("Kernel Name")]}
        | {m: value for m in metrics if m in head and (value := _number(row[head.index(m)]))}
        for row in data
    ]


def _number(text: str) -> int | float | None:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return int(value) if value == int(value) else value


def _one_line(match: re.Match) -> str:
    return "[" + ", ".join(filter(None, match.groups())) + "]"


def machine() -> dict:
    """What was measured on."""
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    answer = subprocess.run(asked, capture_output=True, text=True).stdout.splitlines()[0]
    device, driver = (part.strip() for part in answer.split(","))
    version = subprocess.run(["ncu", "--version"], capture_output=True, text=True).stdout
    from course_utils.compiling.bindings import nvrtc_version

    return {
        "device": device,
        "driver": driver,
        "nvrtc": "{}.{}".format(*nvrtc_version()),
        "ncu": re.search(r"Version (\S+)", version)[1],
        "date": datetime.date.today().isoformat(),
    }


def main(folder: Path) -> None:
    import access_patterns
    import ncu_kernels

    about = machine()
    names = "|".join(sorted({case.kernel_name for case in ncu_kernels.CASES}))
    found = measure("ncu_kernels.py", f"^({names})$", known(METRICS))
    cases = {}
    for case, row in zip(ncu_kernels.CASES, found, strict=True):
        assert row.pop("name") == case.kernel_name, (case.name, row)
        cases[case.name] = row
    (folder / "ncu.json").write_text(json.dumps(about | {"kernels": cases}, indent=1) + "\n")

    table: dict = {}
    for operation, metrics in PATTERN_METRICS.items():
        found = measure("access_patterns.py", f"^{operation}_[0-9]+$", metrics)
        launched = [p for p in access_patterns.patterns() if p[0] == operation]
        for (_, width, name, _), row in zip(launched, found, strict=True):
            values = [row.get(metric, 0) for metric in metrics]
            table.setdefault(f"{operation}_{width}", {})[name] = values
    text = json.dumps(about | {"measured": table}, indent=1)
    text = re.sub(r"\[\s+(\d+)(?:,\s+(\d+))?\s+\]", _one_line, text)
    (folder / "access_patterns.json").write_text(text + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
