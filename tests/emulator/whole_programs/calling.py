"""Calls functions of libraries as a program does, through the runtime library: what such tests
share. ``python FILE LIBRARY LOG`` runs one."""

import ctypes
import json
import os
import sys
from pathlib import Path

import numpy as np

from course_utils.emulator import ALL_CHECKS, Options
from course_utils.emulator.programs.host_lines import HostLines
from course_utils.emulator.programs.host_mistakes import ProgramLog
from course_utils.emulator.programs.program_launches import ProgramKernels
from course_utils.emulator.programs.runtime_calls import RuntimeCalls

library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
log = ProgramLog(Path(sys.argv[2]).open("w"))  # noqa: SIM115
calls = RuntimeCalls(
    library,
    ProgramKernels(log, Options(checks=ALL_CHECKS), lambda: None),
    HostLines(Path("none")),
    log,
)
FORM = ctypes.CFUNCTYPE(
    ctypes.c_longlong,
    ctypes.c_char_p,
    ctypes.c_longlong,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_longlong),
)
kept = FORM(lambda name, stream, count, given: calls.answer(name.decode(), given[:count], stream))
library.emulator_begin(kept)
random = np.random.default_rng(0)
P = ctypes.c_void_p


def on_device(values: np.ndarray) -> P:
    """A copy in device memory, column by column."""
    data, found = np.asarray(values, order="F").tobytes("F"), ctypes.c_void_p()
    assert library.cudaMalloc(ctypes.byref(found), ctypes.c_size_t(len(data))) == 0
    assert library.cudaMemcpy(found, data, ctypes.c_size_t(len(data)), 1) == 0
    return found


def back(address: P, like: np.ndarray) -> np.ndarray:
    """The present values of a copy."""
    data = ctypes.create_string_buffer(like.nbytes)
    assert library.cudaMemcpy(data, address, ctypes.c_size_t(like.nbytes), 2) == 0
    return np.frombuffer(data.raw, like.dtype).reshape(like.shape, order="F")


def host(*values) -> P:
    """A scalar of the host."""
    made = np.array(values)
    held.append(made)
    return P(made.ctypes.data)


def drawn(*shape, dtype=np.float32):
    """Random numbers."""
    made = random.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * random.standard_normal(shape)
    return np.asfortranarray(made.astype(dtype))


held: list[np.ndarray] = []
errors: dict[str, float] = {}


def compare(case, got, wanted):
    """Note the greatest relative error of a case."""
    wanted = np.asarray(wanted)
    scale = max(1e-30, float(np.abs(wanted).max()))
    errors[case] = float(np.abs(np.asarray(got) - wanted).max()) / scale


def finish(**facts):
    """Print the errors and other facts as JSON, and end this process."""
    print(json.dumps({"errors": errors, **facts}), flush=True)
    os._exit(0)
