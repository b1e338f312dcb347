"""The emulator's counters beside Nsight Compute's, kernel by kernel, with each difference
explained.

    python -m course_utils.benchmarks.tools.comparison_page

writes ``assets/benchmarks/ncu/nvidia_h200.md`` from the measurements called ncu beside it and from
the emulator's present counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ...compiling.bindings import nvrtc_version
from ...observing.counter_measures import NCU
from ...observing.profile_report import Profile
from ...observing.profiling import profile
from ...records.measured_files import REFERENCE, file_of, measurements
from ..experiments.counted_kernels import CASES
from ..experiments.counted_launches import Counted
from ..experiments.ncu_counts import NAME

PAGE = file_of(NAME, REFERENCE).with_suffix(".md")

# They depend on the instructions themselves: shown side by side, not expected to be equal.
OF_THE_PROGRAM = ("threads per warp instruction", "uniform branches, %")

_GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
_BY_INSTRUCTION = "smsp__sass_inst_executed_op_{}.sum"
_WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_TENSOR = "sm__ops_path_tensor_op_{}.sum"


def _asked(p: Profile, opcode: str, space: str) -> int:
    """Requests that one kind of instruction makes of a memory."""
    return sum(
        traffic.requests
        for found in p.instructions
        if found.instruction.opcode == opcode
        for traffic in found.traffic
        if traffic.space == space and traffic.kind in ("load", "copy")
    )


def _integers(p: Profile) -> int:
    """Multiplications and additions of 8-bit integers by ``mma``, which don't count as FLOPs."""
    return sum(
        found.active // 32 * 2 * 16 * 8 * 32
        for found in p.instructions
        if found.instruction.opcode == "mma"
        and {"m16n8k32", "s8"} <= set(found.instruction.modifiers)
    )


# Counter -> (the metrics that add up to it, ours). Of shared memory, metrics by
# instruction: the memory unit's (l1tex) differ by a few from run to run.
COUNTERS: dict[str, tuple[tuple[str, ...], Callable[[Profile], float]]] = {
    name: ((metric,), lambda p, get=get: get(p.counts)) for name, (metric, get) in NCU.items()
} | {
    "shared load requests": (
        (_BY_INSTRUCTION.format("shared_ld"), _BY_INSTRUCTION.format("ldsm")),
        lambda p: p.counts.shared_load_requests,
    ),
    "shared load wavefronts": (
        (_WAVEFRONTS.format("ld"), _WAVEFRONTS.format("ldsm")),
        lambda p: p.counts.shared_load_wavefronts,
    ),
    "shared store requests": (
        (_BY_INSTRUCTION.format("shared_st"),),
        lambda p: p.counts.shared_store_requests,
    ),
    "shared store wavefronts": (
        (_WAVEFRONTS.format("st"),),
        lambda p: p.counts.shared_store_wavefronts,
    ),
    "global atomic requests": (
        (_GLOBAL.format("requests", "red"), _GLOBAL.format("requests", "atom")),
        lambda p: p.counts.global_atomic_requests,
    ),
    "global atomic sectors": (
        (_GLOBAL.format("sectors", "red"), _GLOBAL.format("sectors", "atom")),
        lambda p: p.counts.global_atomic_sectors,
    ),
    "shared atomic requests": (
        ("smsp__inst_executed_op_shared_atom_pred_on_any.sum",),
        lambda p: p.counts.shared_atomic_requests,
    ),
    "shared atomic wavefronts": (
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",),
        lambda p: p.counts.shared_atomic_wavefronts,
    ),
    "cp.async requests": (
        ("smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum",),
        lambda p: _asked(p, "cp", "global"),
    ),
    "ldmatrix requests": (
        (_BY_INSTRUCTION.format("ldsm"),),
        lambda p: _asked(p, "ldmatrix", "shared") + _asked(p, "wmma", "shared"),
    ),
    "tensor FLOPs": (
        tuple(
            _TENSOR.format(kind)
            for kind in (
                "hmma_src_fp16_dst_fp32",
                "hmma_src_bf16_dst_fp32",
                "hmma_src_tf32_dst_fp32",
            )
        ),
        lambda p: sum(n for kind, n in p.counts.flops_by_type.items() if "tensor" in kind),
    ),
    "tensor integer operations": ((_TENSOR.format("imma_src_int8"),), _integers),
}

MOVES = "The assembler loads a constant into a register with HFMA2 (0 × 0 + constant)"
VECTORS = (
    "The assembler joins 4-byte loads of neighbours in a row of the tile (LDS) to one of 8 or 16 "
    "bytes (LDS.64, LDS.128)"
)
STORES = "The assembler joins stores of 4 bytes to neighbours (STG) to one of 8 bytes (STG.64)"
OTHER_TRAFFIC = (
    "The memory unit also counts waits for other traffic, a few and another few in each run. Its "
    "wavefronts counted by instruction are as many as here, conflicts included"
)
BYPASS = (
    "Not explained. The addresses need 28,672 sectors; ncu finds 16,384 for loads and another "
    "14,336 for cp.async, of which it shows none at one of the lines that copy past the L1 cache "
    "and twice as many as the addresses need at three others"
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
        "The assembler unrolls the loop again, by 16, 8 and 4: lanes with few iterations left meet "
        "others there that are further on, and load with them from other sectors"
    ),
    **{
        (kernel, "hfma"): MOVES
        for kernel in (
            *(f"sgemm_{kind}" for kind in ("naive", "coalesced", "shared_16", "shared_32")),
            *(f"sgemm_{kind}" for kind in ("column_tile", "autotuned", "ordered", "stream_k")),
            "igemm_dp4a",
        )
    },
    **{
        (f"sgemm_{kind}", f"shared load {what}"): VECTORS
        for kind in ("shared_16", "shared_32", "column_tile", "register_tile")
        for what in ("requests", "wavefronts")
    },
    ("sgemm_register_tile", "shared load conflicts"): VECTORS,
    **{
        (kernel, f"shared {what} conflicts"): OTHER_TRAFFIC
        for kernel, what in (
            ("sgemm_cp_async", "load"),
            ("sgemm_cp_async_150", "load"),
            ("sgemm_vector_150", "store"),
            ("hgemm_wmma", "load"),
            ("hgemm_mma", "load"),
            ("gemm_tf32", "load"),
            ("igemm_dp4a", "load"),
            *((f"gemm_{kind}_specialized", "load") for kind in ("bf16", "tf32", "int8")),
        )
    },
    **{
        (f"gemm_{kind}_specialized", f"global store {what}"): STORES
        for kind in ("tf32", "int8")
        for what in ("requests", "sectors")
    },
    ("sgemm_stream_k", "global load sectors"): BYPASS,
    ("block_sum", "fadd"): "Only lane 0 needs the last sum, so the GPU adds in that lane alone",
    ("halves", "hadd"): "The assembler adds halves with HFMA2 (a × 1 + b)",
    ("halves", "hfma"): "The assembler adds halves with HFMA2 (a × 1 + b)",
}
UNSTEADY = ("sgemm_autotuned", "sgemm_ordered", "sgemm_stream_k")
TWICE = dict.fromkeys(
    UNSTEADY,
    "NVRTC does not write the same PTX each time: now and then a factor is loaded twice",
)


@cache
def _measurements() -> dict[str, Any]:
    return measurements(NAME, REFERENCE)


@cache
def counted(case: Counted) -> dict[str, float]:
    """Counter -> the emulator's count of a launch."""
    kernel, grid, block, args, shared_bytes = case.launch()
    found = profile(kernel, grid, block, args, shared_mem=shared_bytes)
    return {name: get(found) for name, (_, get) in COUNTERS.items()}


def measured(case: Counted) -> dict[str, float]:
    """Counter -> ncu's count on the GPU."""
    row = _measurements()["kernels"][case.name]  # metrics that are 0 are not in it
    return {
        name: sum(row.get(metric, 0) for metric in metrics)
        for name, (metrics, _) in COUNTERS.items()
    }


def differences(case: Counted) -> dict[str, tuple[float, float]]:
    """Counter -> (emulator's, ncu's) where they differ, except by the program's shape."""
    ours, theirs = counted(case), measured(case)
    return {
        name: (ours[name], theirs[name])
        for name in COUNTERS
        if name not in OF_THE_PROGRAM and ours[name] != theirs[name]
    }


HEAD = """# The emulator's counters beside Nsight Compute's

Measured on an {device} (driver {driver}, ncu {ncu}, NVRTC {nvrtc}, {date}); emulated from the PTX \
of NVRTC {own}. Written by `course_utils.benchmarks.tools.comparison_page`.

A single number is what both found. Where they differ, the emulator's stands first and a note \
says why. Requests of loads and stores are followed by their sectors (global) or by their \
wavefronts and bank conflicts (shared). Loads from shared memory include ldmatrix, and global \
loads include cp.async; the writes of cp.async to shared memory are not compared. In kernels whose \
name ends in 150, rows do not begin where 16 bytes do.

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

| kernel | threads per instruction: emulator | ncu | uniform branches, %: emulator \
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
    tuple(
        name
        for name in COUNTERS
        if name.startswith(("local", "cp.async", "ldmatrix")) or "atomic" in name
    ),
    tuple(name for name in COUNTERS if " " not in name or name.startswith("tensor")),
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
        **{
            key: value
            for key, value in _measurements().items()
            if key not in ("kernels", "sources")
        },
        own=".".join(map(str, nvrtc_version())),
        rows="\n".join(rows),
        equal=sum(a == b for a, b in pairs),
        total=len(pairs),
        notes="\n".join(f"{n}. {reason}." for n, reason in enumerate(notes, 1)),
        programs="\n".join(programs),
    )


def _cell(
    kernel: str,
    names: tuple[str, ...],
    ours: Mapping[str, float],
    theirs: Mapping[str, float],
    notes: list[str],
) -> str:
    """The counters of a column. New reasons for differences are added to ``notes``."""
    parts = []
    for name in names:
        if not (ours[name] or theirs[name]):
            continue
        text = f"{ours[name]:,}"
        if ours[name] != theirs[name]:
            reason = REASONS.get((kernel, name)) or TWICE[kernel]
            if reason not in notes:
                notes.append(reason)
            text = f"**{text} / {theirs[name]:,}** [{notes.index(reason) + 1}]"
        labelled = names in COLUMNS[4:]
        parts.append(f"{name} {text}" if labelled else text)
    return " · ".join(parts) or "–"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
