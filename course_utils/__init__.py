"""What the notebooks of the course import: one device, one way to load, check and measure.

Each name is loaded when it is first asked for. So a command starts with the modules that it needs,
and a fault in any other module doesn't stop it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .interrupts import finished_first
from .shell import running_shell

if TYPE_CHECKING:  # for editors, which complete names and show their docstrings
    from . import figures, layouts
    from .benchmarks.experiments import autotune, hardware
    from .benchmarks.experiments.profilers import spans, step_spans
    from .benchmarks.harness.simulated_gpu import SimulatedGPU
    from .benchmarks.libraries.cublas_library import cublas_libraries
    from .benchmarks.libraries.cudnn_descriptors import cudnn_library
    from .benchmarks.libraries.cudnn_graph import CudnnGraph
    from .benchmarks.libraries.lt_products import LtProduct
    from .checking import check
    from .data.image_sets import digits
    from .data.sheets import data_sheets
    from .devices.selection import cp, device, size
    from .environment import doctor
    from .exercises import answer, hint, progress, reset, restore, solution
    from .exercises.student.side_by_side import beside_ours
    from .exercises.student.step_answer import step
    from .figures.drawn_digits import centred, drawing_pad, read_drawing
    from .host_programs.cuda_cells import run_cuda
    from .host_programs.program_cells import c_folder
    from .integers import ceil_div
    from .launching.listings import show
    from .launching.modules import load
    from .launching.other_languages import (
        emulated_numba,
        emulated_triton,
        emulated_warp,
        numba_on_emulator,
        triton_on_emulator,
        warp_on_emulator,
    )
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

__all__ = [
    "CudnnGraph",
    "LtProduct",
    "SimulatedGPU",
    "answer",
    "autotune",
    "bench",
    "beside_ours",
    "c_folder",
    "ceil_div",
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
    "emulated_numba",
    "emulated_triton",
    "emulated_warp",
    "drawing_pad",
    "figures",
    "hardware",
    "hint",
    "hlo_computations",
    "layouts",
    "load",
    "load_ptx",
    "measurements",
    "numba_on_emulator",
    "occupancy",
    "pointers",
    "profile",
    "progress",
    "read_drawing",
    "reset",
    "restore",
    "run_cuda",
    "sanitize",
    "show",
    "size",
    "solution",
    "spans",
    "step",
    "step_spans",
    "stored",
    "tensor_map",
    "timed",
    "trace",
    "trees",
    "triton_on_emulator",
    "warp_on_emulator",
]

_STOPPED = "run the cell again to finish loading the course."
_MODULES = {  # the names that are modules
    "autotune": "benchmarks.experiments.autotune",
    "figures": "figures",
    "hardware": "benchmarks.experiments.hardware",
    "layouts": "layouts",
    "trees": "observing.trees",
}
_HOMES = {  # the modules that define the others
    "benchmarks.libraries.cublas_library": "cublas_libraries",
    "benchmarks.libraries.cudnn_descriptors": "cudnn_library",
    "benchmarks.libraries.cudnn_graph": "CudnnGraph",
    "benchmarks.libraries.lt_products": "LtProduct",
    "benchmarks.experiments.profilers": "spans step_spans",
    "benchmarks.harness.simulated_gpu": "SimulatedGPU",
    "checking": "check",
    "data.image_sets": "digits",
    "data.sheets": "data_sheets",
    "devices.selection": "cp device size",
    "environment": "doctor",
    "exercises": "answer hint progress reset restore solution",
    "exercises.student.side_by_side": "beside_ours",
    "exercises.student.step_answer": "step",
    "figures.drawn_digits": "centred drawing_pad read_drawing",
    "host_programs.cuda_cells": "run_cuda",
    "host_programs.program_cells": "c_folder",
    "integers": "ceil_div",
    "launching.listings": "show",
    "launching.modules": "load",
    "launching.other_languages": "emulated_numba emulated_triton emulated_warp numba_on_emulator "
    "triton_on_emulator warp_on_emulator",
    "launching.pointer_tables": "pointers",
    "launching.ptx_files": "load_ptx",
    "launching.tensor_maps": "tensor_map",
    "notebooks.maps": "chapter_map",
    "observing.hlo_texts": "hlo_computations",
    "observing.occupancy_calculator": "occupancy",
    "observing.profiling": "profile",
    "observing.ptx_kinds": "compare_ptx",
    "observing.sanitizing": "sanitize",
    "observing.timing": "bench",
    "observing.warp_traces": "trace",
    "records.kernel_records": "stored",
    "records.measured_files": "measurements",
    "records.run_times": "timed",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A name of ``__all__``, loaded now. Raises AttributeError for any other."""
    home = _MODULES.get(name) or _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with finished_first(_STOPPED):
        found = import_module(f".{home}", __name__)
    if name in _HOME_OF:
        found = getattr(found, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """What is here, with the names that aren't loaded yet: editors and Tab complete them."""
    return sorted({*globals(), *__all__})


def _teach_ipython() -> None:
    """Register the course's magics and the style of its figures where a notebook is running."""
    shell = running_shell()
    if shell is None:
        return
    with finished_first(_STOPPED):
        from . import figures, needs  # noqa: F401  (figures registers its style)

    needs.register(shell)
    shell.input_transformers_cleanup.insert(0, _without_marks)

    def exercise(line: str, cell: str) -> Any:
        with finished_first(_STOPPED):
            from .exercises.student.magic import exercise as run

        return run(line, cell)

    shell.register_magic_function(exercise, "cell", "exercise")

    def report(line: str, cell: str) -> Any:
        with finished_first(_STOPPED):
            from .exercises.student.project_reports import report as keep

        return keep(line, cell)

    shell.register_magic_function(report, "cell", "report")

    def program(language: str) -> Any:
        def run(line: str, cell: str) -> Any:
            with finished_first(_STOPPED):
                from .host_programs.program_cells import run_cell

            return run_cell(language, line, cell)

        return run

    for language in ("c", "cpp"):
        shell.register_magic_function(program(language), "cell", language)

    def cuda(line: str, cell: str) -> None:
        with finished_first(_STOPPED):
            from .host_programs.cuda_cells import run_cuda_cell

        run_cuda_cell(line, cell)

    shell.register_magic_function(cuda, "cell", "cuda")


def _without_marks(lines: list[str]) -> list[str]:
    """A cell without the invisible byte order marks that pasting may bring."""
    from .compiling.source_text import without_marks

    return [without_marks(line) for line in lines]


_teach_ipython()
