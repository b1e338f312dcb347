"""A PTX machine on NumPy: runs the PTX of any CUDA kernel on a machine with no GPU.

These are the names that the rest of the course uses; the modules behind them are the emulator's
own business. What runs kernels is imported when it is first asked for, so that a program that only
names a :class:`Finding` does not pay for the machine.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .findings.causes import Cause
from .findings.next_steps import CAUSE_STEPS, KIND_STEPS, next_step
from .findings.options import ALL_CHECKS, Options, TraceOptions
from .findings.report import (
    ASSERTION,
    BAD_TENSOR_MAP,
    BAD_TEXTURE,
    BARRIER,
    DATA_RACE,
    DEADLOCK,
    EMULATOR_ERROR,
    ENDLESS_LOOP,
    ERROR,
    IN_FLIGHT,
    KINDS,
    LAUNCH_CONTROL,
    LAUNCH_REFUSED,
    MISALIGNED,
    NULL_POINTER,
    OUT_OF_BOUNDS,
    TENSOR_MEMORY,
    TRAP,
    UNINITIALISED,
    UNKNOWN_INSTRUCTION,
    USE_AFTER_FREE,
    WARNING,
    Counts,
    Finding,
    KernelFault,
    LaunchTooLong,
    spoken_time,
)
from .isa.gpu_constants import (
    BANK_BYTES,
    BANKS,
    BLOCKS_PER_SM,
    LOCAL_LIMIT,
    MAX_THREADS,
    SECTOR,
    SHARED_PER_SM,
    SMS,
    THREADS_PER_SM,
    WARP,
)
from .isa.location import Location
from .memory.address_space import GLOBAL

if TYPE_CHECKING:
    from .findings.fault_messages import ONLY_SLOW
    from .isa.ptx import Address, OperandList, PtxError, Register, Symbol
    from .isa.ptx_parser import source_files
    from .languages.host_arrays import LanguageError, register_arrays
    from .languages.numba_launches import (
        emulated_numba,
        is_numba,
        numba_on_emulator,
        prepared_numba,
    )
    from .languages.prepared_launch import Emulation, FindingWarning, PreparedLaunch
    from .languages.triton_launches import (
        emulated_triton,
        is_triton,
        prepared_triton,
        triton_on_emulator,
    )
    from .languages.warp_launches import emulated_warp, is_warp, prepared_warp, warp_on_emulator
    from .launching.emulated_module import EmulatedModule, KernelEntry
    from .launching.launch_result import LaunchResult
    from .memory.tensor_box import Box
    from .memory.texels import Surface, Texels, Texture
    from .programs.program_building import CannotBuild, build_program, find_nvcc
    from .programs.program_outcome import prepare_program
    from .programs.program_report import describe_outcome
    from .recording.counters import CounterRecorder, InstructionCounts, add_up
    from .recording.line_steps import StepRecorder
    from .recording.step_records import READ, UPDATE, WRITE, LineStep
    from .recording.stores import StoreRecorder
    from .recording.thread_stats import ThreadStats
    from .recording.trace_recorder import WarpAccess, WarpStep

_LATER = {
    "ONLY_SLOW": "findings.fault_messages",
    "EmulatedModule": "launching.emulated_module",
    "KernelEntry": "launching.emulated_module",
    **dict.fromkeys(("Address", "OperandList", "PtxError", "Register", "Symbol"), "isa.ptx"),
    **dict.fromkeys(("LanguageError", "register_arrays"), "languages.host_arrays"),
    **dict.fromkeys(("Emulation", "FindingWarning", "PreparedLaunch"), "languages.prepared_launch"),
    **dict.fromkeys(
        ("emulated_triton", "is_triton", "prepared_triton", "triton_on_emulator"),
        "languages.triton_launches",
    ),
    **dict.fromkeys(
        ("emulated_numba", "is_numba", "numba_on_emulator", "prepared_numba"),
        "languages.numba_launches",
    ),
    **dict.fromkeys(
        ("emulated_warp", "is_warp", "prepared_warp", "warp_on_emulator"), "languages.warp_launches"
    ),
    "LaunchResult": "launching.launch_result",
    "source_files": "isa.ptx_parser",
    "Box": "memory.tensor_box",
    **dict.fromkeys(("Surface", "Texels", "Texture"), "memory.texels"),
    **dict.fromkeys(("CannotBuild", "build_program", "find_nvcc"), "programs.program_building"),
    "prepare_program": "programs.program_outcome",
    "describe_outcome": "programs.program_report",
    "InstructionCounts": "recording.counters",
    "CounterRecorder": "recording.counters",
    "add_up": "recording.counters",
    "StepRecorder": "recording.line_steps",
    **dict.fromkeys(("READ", "UPDATE", "WRITE", "LineStep"), "recording.step_records"),
    "StoreRecorder": "recording.stores",
    "ThreadStats": "recording.thread_stats",
    "WarpAccess": "recording.trace_recorder",
    "WarpStep": "recording.trace_recorder",
}

__all__ = [
    "ALL_CHECKS",
    "ASSERTION",
    "BAD_TENSOR_MAP",
    "BAD_TEXTURE",
    "BANKS",
    "BANK_BYTES",
    "BARRIER",
    "BLOCKS_PER_SM",
    "CAUSE_STEPS",
    "DATA_RACE",
    "DEADLOCK",
    "EMULATOR_ERROR",
    "ENDLESS_LOOP",
    "ERROR",
    "GLOBAL",
    "IN_FLIGHT",
    "KINDS",
    "LAUNCH_CONTROL",
    "LAUNCH_REFUSED",
    "KIND_STEPS",
    "LOCAL_LIMIT",
    "MAX_THREADS",
    "MISALIGNED",
    "NULL_POINTER",
    "ONLY_SLOW",
    "OUT_OF_BOUNDS",
    "READ",
    "SECTOR",
    "SHARED_PER_SM",
    "SMS",
    "TENSOR_MEMORY",
    "THREADS_PER_SM",
    "TRAP",
    "UNINITIALISED",
    "UNKNOWN_INSTRUCTION",
    "UPDATE",
    "USE_AFTER_FREE",
    "WARNING",
    "WARP",
    "WRITE",
    "Address",
    "Box",
    "CannotBuild",
    "Cause",
    "Counts",
    "EmulatedModule",
    "Emulation",
    "KernelEntry",
    "Finding",
    "FindingWarning",
    "InstructionCounts",
    "KernelFault",
    "LanguageError",
    "LaunchResult",
    "LaunchTooLong",
    "LineStep",
    "Location",
    "OperandList",
    "Options",
    "PreparedLaunch",
    "PtxError",
    "Register",
    "StepRecorder",
    "StoreRecorder",
    "Surface",
    "Symbol",
    "CounterRecorder",
    "Texels",
    "Texture",
    "ThreadStats",
    "TraceOptions",
    "WarpAccess",
    "WarpStep",
    "add_up",
    "build_program",
    "describe_outcome",
    "emulated_numba",
    "emulated_triton",
    "emulated_warp",
    "find_nvcc",
    "is_numba",
    "is_triton",
    "is_warp",
    "next_step",
    "numba_on_emulator",
    "prepare_program",
    "prepared_numba",
    "prepared_triton",
    "prepared_warp",
    "register_arrays",
    "source_files",
    "spoken_time",
    "triton_on_emulator",
    "warp_on_emulator",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value
