"""NVRTC's own calls: loaded once, their status checked, their text read.

Run as a program this file compiles what it is asked on its standard input, one request after the
other: that is the process in which :mod:`.compiler_process` lets all kernels be compiled. It
imports nothing of the course, and so starts quickly.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import threading
from functools import cache
from typing import Any

MEMORY = 8 * 2**30  # bytes of address space: a macro that doubles itself stops there
# Between requests and answers of the compiling process, one pickled dictionary each.
UNAVAILABLE, REFUSED, LOG, CODE, MANGLED = "unavailable", "refused", "log", "code", "mangled"


@cache
def nvrtc_version() -> tuple[int, int]:
    """NVRTC's version, such as ``(12, 9)``."""
    major, minor = ask(binding().nvrtcVersion(), many=True)
    return major, minor


def binding() -> Any:
    """The module of NVRTC's calls; RuntimeError, with the remedy, where it cannot be loaded."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except Exception as error:
        raise RuntimeError(
            "CUDA's run-time compiler (NVRTC) cannot be loaded, so no kernel can be compiled.\n"
            "Run `make learn` once: it installs what this machine needs. "
            f"`python -m course_utils doctor` says more. ({error})"
        ) from None
    return nvrtc


def ask(answer: tuple[Any, ...], *, many: bool = False) -> Any:
    """The value of an NVRTC call that cannot fail on good input; its status is checked."""
    status, *values = answer
    if int(status):
        raise RuntimeError(f"NVRTC refused a call: {status.name}")
    if many:
        return values
    return values[0] if values else None


def read_text(size_of: Any, read: Any, program: Any) -> bytes:
    """What ``read`` writes into a buffer of the size that ``size_of`` gives."""
    # Never bytes: CPython has one b" " for all, and NVRTC would write into it.
    buffer = bytearray(ask(size_of(program)))
    ask(read(program, buffer))
    return bytes(buffer)


def compile_program(
    text: str, filename: str, flags: list[str], names: list[str], cubin: bool
) -> dict[str, Any]:
    """NVRTC's answer: what it said, whether it refused, the code and the mangled names."""
    nvrtc = binding()
    program = ask(nvrtc.nvrtcCreateProgram(text.encode(), filename.encode(), 0, [], []))
    try:
        for name in names:
            ask(nvrtc.nvrtcAddNameExpression(program, name.encode()))
        (status,) = nvrtc.nvrtcCompileProgram(
            program, len(flags), [flag.encode() for flag in flags]
        )
        said = read_text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        log = said.decode("utf-8", "replace").strip("\0 \n")
        if int(status):
            return {REFUSED: True, LOG: log}
        mangled = {
            name: ask(nvrtc.nvrtcGetLoweredName(program, name.encode())).decode() for name in names
        }
        calls = (
            (nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
            if cubin
            else (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
        )
        code = read_text(*calls, program)
        return {REFUSED: False, LOG: log, CODE: code, MANGLED: mangled}
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _serve() -> None:
    """Answer requests until nobody is there to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is meant for the notebook
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the compiler prints is no answer
    _limit_memory()
    threading.Thread(target=_end_with_the_asker, daemon=True).start()
    while True:
        try:
            folder, request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            os.chdir(folder)  # files are named as seen from there
            answer = compile_program(**request)
        except (RuntimeError, MemoryError) as error:
            answer = {UNAVAILABLE: str(error) or "NVRTC has no memory left."}
        pickle.dump(answer, answers)
        answers.flush()


def _limit_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    least = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
    resource.setrlimit(resource.RLIMIT_AS, (least, most))


def _end_with_the_asker() -> None:
    """Also in the middle of a program that takes the compiler for ever."""
    asker = select.poll()
    asker.register(0, 0)  # reports a hang-up alone
    asker.poll()
    os._exit(0)


if __name__ == "__main__":
    _serve()
