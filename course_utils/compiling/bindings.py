"""NVRTC's own calls: loaded once, their status checked, their text read."""

from __future__ import annotations

from functools import cache
from typing import Any


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
