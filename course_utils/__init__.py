"""What the notebooks of the course import: one device, one way to load, check and measure."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import figures, layouts
from .benchmarks import autotune
from .benchmarks.baselines.cublas_library import cublas_libraries
from .benchmarks.baselines.cudnn_descriptors import cudnn_library
from .benchmarks.baselines.cudnn_graph import CudnnGraph
from .benchmarks.baselines.lt_products import LtProduct
from .benchmarks.profilers import spans, step_spans
from .benchmarks.simulated_gpu import SimulatedGPU
from .checking import check
from .data.image_sets import digits
from .data.sheets import data_sheets
from .devices.selection import cp, device, size
from .environment import doctor
from .exercises import answer, hint, progress, reset, restore, solution
from .figures.drawn_digits import centred, drawing_pad, read_drawing
from .host_programs.program_cells import c_folder
from .launching.modules import load
from .launching.pointer_tables import pointers
from .launching.ptx_files import load_ptx
from .launching.tensor_maps import tensor_map
from .notebooks.maps import chapter_map
from .observing import trees
from .observing.hlo_texts import hlo_computations
from .observing.occupancy_calculator import occupancy
from .observing.profiling import profile
from .observing.ptx_kinds import compare_ptx
from .observing.sanitizing import sanitize
from .observing.timing import bench
from .observing.warp_traces import trace
from .records.kernel_records import stored
from .records.measured_files import measurements
from .records.run_times import timed
from .shell import running_shell

__all__ = [
    "CudnnGraph",
    "LtProduct",
    "SimulatedGPU",
    "answer",
    "autotune",
    "bench",
    "c_folder",
    "centred",
    "chapter_map",
    "check",
    "compare_ptx",
    "cp",
    "cublas_libraries",
    "cudnn_library",
    "data_sheets",
    "device",
    "digits",
    "doctor",
    "drawing_pad",
    "figures",
    "hardware",
    "hint",
    "hlo_computations",
    "layouts",
    "load",
    "load_ptx",
    "measurements",
    "occupancy",
    "pointers",
    "profile",
    "progress",
    "read_drawing",
    "reset",
    "restore",
    "sanitize",
    "size",
    "solution",
    "spans",
    "step_spans",
    "stored",
    "tensor_map",
    "timed",
    "trace",
    "trees",
]

if TYPE_CHECKING:
    from .benchmarks.microbenchmarks import hardware


def __getattr__(name: str) -> Any:
    """``hardware``, imported when asked for: with it come all kernels that are measured."""
    if name != "hardware":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.benchmarks.microbenchmarks.hardware")


def _teach_ipython() -> None:
    """Register ``%%needs``, ``%%exercise``, ``%%c`` and ``%%cpp`` where a notebook is running."""
    shell = running_shell()
    if shell is None:
        return
    from . import needs

    needs.register(shell)

    def exercise(line: str, cell: str) -> Any:
        from .exercises.magic import exercise as run

        return run(line, cell)

    shell.register_magic_function(exercise, "cell", "exercise")

    def program(language: str) -> Any:
        from .host_programs.program_cells import run_cell

        return lambda line, cell: run_cell(language, line, cell)

    for language in ("c", "cpp"):
        shell.register_magic_function(program(language), "cell", language)


_teach_ipython()
