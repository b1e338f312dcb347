"""The emulator's counters beside Nsight Compute's, kernel by kernel; each difference is explained.

    python tests/emulator/ncu_table.py

writes ``ncu_h200.md`` from ``ncu_h200.json`` (measured by ``ncu_record.py``) and from what the
emulator counts now.
"""

from __future__ import annotations

import json
from pathlib import Path

from ncu_kernels import CASES, Case

from course_utils import nvrtc, profile
from course_utils.profiling import NCU

HERE = Path(__file__).resolve().parent
MEASURED = json.loads((HERE / "ncu_h200.json").read_text(encoding="utf-8"))
PAGE = HERE / "ncu_h200.md"

# They depend on the instructions themselves: shown side by side, not expected to be equal.
OF_THE_PROGRAM = ("threads per warp instruction", "branches where no warp parts, %")

_GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
# Counter -> (the metrics that add up to it, ours).
COUNTERS = {name: ((metric,), get) for name, (metric, get) in NCU.items()} | {
    "global atomic requests": (
        (_GLOBAL.format("requests", "red"), _GLOBAL.format("requests", "atom")),
        lambda c: c.global_atomic_requests,
    ),
    "global atomic sectors": (
        (_GLOBAL.format("sectors", "red"), _GLOBAL.format("sectors", "atom")),
        lambda c: c.global_atomic_sectors,
    ),
    "shared atomic requests": (
        ("smsp__inst_executed_op_shared_atom_pred_on_any.sum",),
        lambda c: c.shared_atomic_requests,
    ),
    "shared atomic wavefronts": (
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",),
        lambda c: c.shared_atomic_wavefronts,
    ),
    "tensor FLOPs": (
        ("sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum",),
        lambda c: c.flops_by_type.get("f16 (tensor cores)", 0),
    ),
}

MOVES = "The assembler loads a constant into a register with HFMA2 (0 × 0 + constant)"
VECTORS = (
    "The assembler joins four 4-byte loads of neighbours in a row of the tile (LDS) to one of "
    "16 bytes (LDS.128)"
)
# (kernel, counter) -> why ncu finds something else.
REASONS: dict[tuple[str, str], str] = {
    (
        "if_else",
        "fmul",
    ): "A square root is one PTX instruction; the GPU computes it with two multiplications",
    ("if_else", "hfma"): MOVES,
    ("local_array", "hfma"): MOVES,
    ("lane_loop", "hfma"): MOVES,
    ("lane_loop", "global load sectors"): (
        "The assembler unrolls the loop again, by 16, 8 and 4: lanes with few turns left meet "
        "others there that are further on, and load with them from other sectors"
    ),
    **{(f"sgemm_{kind}", "hfma"): MOVES for kind in ("naive", "coalesced")},
    **{
        (f"sgemm_shared_{side}", counter): reason
        for side in (16, 32)
        for counter, reason in (
            ("hfma", MOVES),
            ("shared load requests", VECTORS),
            ("shared load wavefronts", VECTORS),
        )
    },
    ("block_sum", "fadd"): "Only lane 0 needs the last sum, so the GPU adds in that lane alone",
    ("halves", "hadd"): "The assembler adds halves with HFMA2 (a × 1 + b)",
    ("halves", "hfma"): "The assembler adds halves with HFMA2 (a × 1 + b)",
    (
        "ldmatrix",
        "shared load requests",
    ): "Nsight Compute counts ldmatrix apart, as op_ldsm: 1,024 as well",
}


def counted(case: Case) -> dict[str, float]:
    """Counter -> what the emulator finds for a launch."""
    kernel, grid, block, args, shared_bytes = case.launch()
    counts = profile(kernel, grid, block, args, shared_mem=shared_bytes).counts
    return {name: get(counts) for name, (_, get) in COUNTERS.items()}


def measured(case: Case) -> dict[str, float]:
    """Counter -> what ncu found on the GPU."""
    row = MEASURED["kernels"][case.name]  # metrics that are 0 are not in it
    return {
        name: sum(row.get(metric, 0) for metric in metrics)
        for name, (metrics, _) in COUNTERS.items()
    }


def differences(case: Case) -> dict[str, tuple[float, float]]:
    """Counter -> (emulator's, ncu's) where they differ, but for those of the program's shape."""
    ours, theirs = counted(case), measured(case)
    return {
        name: (ours[name], theirs[name])
        for name in COUNTERS
        if name not in OF_THE_PROGRAM and ours[name] != theirs[name]
    }


HEAD = """# The emulator's counters beside Nsight Compute's

Measured on an {device} (driver {driver}, ncu {ncu}, NVRTC {nvrtc}, {date}); emulated from the PTX \
of NVRTC {own}. Written by `tests/emulator/ncu_table.py`.

A single number is what both found. Where they differ, the emulator's stands first and a note \
says why. Requests of loads and stores are followed by their sectors (global) or by their \
wavefronts and bank conflicts (shared).

| kernel | access | global loads | global stores | shared loads | shared stores | other memory \
| floating point |
|---|---|---|---|---|---|---|---|
{rows}

{equal} of {total} counters that are not zero are equal. Where they are not:

{notes}

## The shape of the program

These two depend on the instructions themselves, and the GPU's (SASS) are others than PTX's: short \
branches become predicated instructions, and loops are unrolled further. A kernel without a branch \
has 0 %.

| kernel | threads per instruction: emulator | ncu | branches where no warp parts, %: emulator \
| ncu |
|---|---|---|---|---|
{programs}
"""
COLUMNS: tuple[tuple[str, ...], ...] = (
    *(
        tuple(name for name in COUNTERS if name.startswith(f"{space} {kind} "))
        for space in ("global", "shared")
        for kind in ("load", "store")
    ),
    tuple(name for name in COUNTERS if name.startswith("local") or "atomic" in name),
    tuple(name for name in COUNTERS if " " not in name or name == "tensor FLOPs"),
)


def page() -> str:
    """The table as Markdown."""
    found = [(case, counted(case), measured(case)) for case in CASES]
    notes: list[str] = []
    pairs = [
        (ours[name], theirs[name])
        for _, ours, theirs in found
        for name in COUNTERS
        if name not in OF_THE_PROGRAM and (ours[name] or theirs[name])
    ]
    rows = [
        f"| `{case.name}` | {case.style} | "
        + " | ".join(_cell(case.name, names, ours, theirs, notes) for names in COLUMNS)
        + " |"
        for case, ours, theirs in found
    ]
    programs = [
        f"| `{case.name}` | "
        + " | ".join(f"{ours[name]:.1f} | {theirs[name]:.1f}" for name in OF_THE_PROGRAM)
        + " |"
        for case, ours, theirs in found
    ]
    return HEAD.format(
        **{key: value for key, value in MEASURED.items() if key != "kernels"},
        own=".".join(map(str, nvrtc.version())),
        rows="\n".join(rows),
        equal=sum(a == b for a, b in pairs),
        total=len(pairs),
        notes="\n".join(f"{n}. {reason}." for n, reason in enumerate(notes, 1)),
        programs="\n".join(programs),
    )


def _cell(kernel: str, names: tuple[str, ...], ours: dict, theirs: dict, notes: list[str]) -> str:
    """The counters of a column; new reasons for differences are added to ``notes``."""
    parts = []
    for name in names:
        if not (ours[name] or theirs[name]):
            continue
        text = f"{ours[name]:,}"
        if ours[name] != theirs[name]:
            reason = REASONS[kernel, name]
            if reason not in notes:
                notes.append(reason)
            text = f"**{text} / {theirs[name]:,}** [{notes.index(reason) + 1}]"
        labelled = names in COLUMNS[4:]
        parts.append(f"{name} {text}" if labelled else text)
    return " · ".join(parts) or "–"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
