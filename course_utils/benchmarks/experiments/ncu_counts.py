"""What Nsight Compute counts of each launch of :mod:`.counted_kernels` on this GPU."""

from __future__ import annotations

from typing import Any

from ...compiling.bindings import nvrtc_version
from ...errors import LessonError
from ...paths import KERNELS
from ...records.sources import source_hash, text_hash
from ..harness import nsight_compute
from .counted_kernels import CASES, launch_all

NAME = "ncu"
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


def measure() -> dict[str, Any]:
    """Metrics by launch; those that are 0 are left out. Raises LessonError where ncu may not count,
    or counted other launches."""
    code = f"from {launch_all.__module__} import launch_all; launch_all()"
    names = sorted({case.kernel_name for case in CASES})
    found = nsight_compute.counts(code, "|".join(names), METRICS)
    if [launch.name for launch in found] != [case.kernel_name for case in CASES]:
        raise LessonError(f"ncu counted {len(found)} launches, not the {len(CASES)} made.")
    return {
        "driver": nsight_compute.driver(),
        "nvrtc": "{}.{}".format(*nvrtc_version()),
        "ncu": nsight_compute.version(),
        "kernels": {
            case.name: {key: value for key, value in launch.metrics.items() if value}
            for case, launch in zip(CASES, found, strict=True)
        },
    }


def sources() -> dict[str, str]:
    """The hash of the source of each launch by its name."""
    return {
        case.name: source_hash(case.file)
        if case.file
        else text_hash((case.source(), KERNELS / f"{case.name}.cu"))
        for case in CASES
    }
