"""The measures of a launch, in our names and in Nsight Compute's."""

from __future__ import annotations

from collections.abc import Callable

from ..emulator import Counts

# The measures by which a line, or a whole kernel, is ranked: see figures.source_heat.
MEASURES: dict[str, tuple[str, Callable[[Counts], int]]] = {
    "warp_instructions": ("warp instructions", lambda c: c.warp_instructions),
    "thread_instructions": ("thread instructions", lambda c: c.thread_instructions),
    "flops": ("FLOPs", lambda c: c.flops),
    "requests": (
        "global requests",
        lambda c: c.global_load_requests + c.global_store_requests + c.global_atomic_requests,
    ),
    "sectors": (
        "global sectors",
        lambda c: c.global_load_sectors + c.global_store_sectors + c.global_atomic_sectors,
    ),
    "bytes": (
        "global bytes asked for",
        lambda c: (
            c.global_load_bytes
            + c.global_store_bytes
            + c.global_atomic_bytes
            + c.bulk_global_load_bytes
            + c.bulk_global_store_bytes
        ),
    ),
    "shared_requests": (
        "shared requests",
        lambda c: c.shared_load_requests + c.shared_store_requests + c.shared_atomic_requests,
    ),
    "wavefronts": (
        "shared wavefronts",
        lambda c: (
            c.shared_load_wavefronts
            + c.shared_store_wavefronts
            + c.shared_atomic_wavefronts
            + c.shared_copy_wavefronts
        ),
    ),
    "conflicts": (
        "bank conflicts",
        lambda c: c.shared_load_conflicts + c.shared_store_conflicts,
    ),
    "local_sectors": ("local sectors", lambda c: c.local_load_sectors + c.local_store_sectors),
    "divergent_branches": ("divergent branches", lambda c: c.divergent_branches),
    "barriers": ("barriers", lambda c: c.barriers),
}

# Our counters that Nsight Compute also has: name -> (its metric, ours). PTX is not SASS: the
# compiler's last pass may merge, split or drop instructions, and then the two differ.
_KINDS = {"load": "ld", "store": "st"}
_LSU = "l1tex__t_{}_pipe_lsu_mem_{}_op_{}.sum"
_SHARED = {
    "requests": "smsp__inst_executed_op_shared_{}_pred_on_any.sum",
    "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum",
    "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum",
}
_OPERATIONS = ("fadd", "fmul", "ffma", "dadd", "dmul", "dfma", "hadd", "hmul", "hfma")


def _field(space: str, kind: str, what: str) -> Callable[[Counts], int]:
    return lambda c: getattr(c, f"{space}_{kind}_{what}")


def _operation(name: str) -> Callable[[Counts], int]:
    return lambda c: c.operations.get(name, 0)


NCU: dict[str, tuple[str, Callable[[Counts], float]]] = {
    **{
        f"{space} {kind} {what}": (_LSU.format(what, space, op), _field(space, kind, what))
        for space in ("global", "local")
        for kind, op in _KINDS.items()
        for what in ("requests", "sectors")
    },
    **{
        f"shared {kind} {what}": (metric.format(op), _field("shared", kind, what))
        for kind, op in _KINDS.items()
        for what, metric in _SHARED.items()
    },
    **{
        name: (
            f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum",
            _operation(name),
        )
        for name in _OPERATIONS
    },
    "threads per warp instruction": (
        "smsp__thread_inst_executed_per_inst_executed.ratio",
        lambda c: ratio(c.thread_instructions, c.warp_instructions),
    ),
    "uniform branches, %": (
        "smsp__sass_average_branch_targets_threads_uniform.pct",
        lambda c: 100 * ratio(c.branches - c.divergent_branches, c.branches),
    ),
}


def ratio(part: float, whole: float) -> float:
    """``part`` over ``whole``; 0 of nothing."""
    return part / whole if whole else 0.0
