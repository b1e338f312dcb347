"""Flushing of subnormal numbers by the processor itself.

A kernel compiled with ``--use_fast_math`` treats subnormal f32 numbers as zero (``.ftz``). Doing
that in NumPy costs several passes over every operand; x86-64 and AArch64 processors can do it for
free when a control register asks for it. :func:`hardware_ftz` sets that register for the calling
thread through the C library's ``fegetenv``/``fesetenv``.

Sources: Intel SDM vol. 1, "10.2.3 MXCSR Control and Status Register" (FTZ is bit 15, DAZ bit 6);
Arm ARM, "FPCR, Floating-point Control Register" (FZ is bit 24); layouts of ``fenv_t`` in glibc's
``bits/fenv.h``.
"""

from __future__ import annotations

import contextlib
import ctypes
import platform
import sys
import threading
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from ..isa.instruction_set import FLUSHED

# machine -> (byte offset of the control word in fenv_t, bits to set)
_CONTROL = {
    "x86_64": (28, (1 << 15) | (1 << 6)),
    "aarch64": (0, 1 << 24),
}
_FENV_BYTES = 64  # at least sizeof(fenv_t) on either machine

_state = threading.local()


def is_active() -> bool:
    """True while the calling thread's processor flushes subnormals to zero."""
    return getattr(_state, "active", False)


def __getattr__(name: str) -> bool:
    """``fpenv.active`` reads :func:`is_active` (the flag belongs to a thread)."""
    if name == "active":
        return is_active()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _flushes() -> bool:
    """Whether NumPy's arithmetic on this thread flushes subnormal inputs and results now."""
    smallest = np.full(64, np.finfo(np.float32).tiny)
    subnormal = (np.arange(64, dtype=np.uint32) + np.uint32(1)).view(np.float32)
    return not (smallest * np.float32(0.5)).any() and not (subnormal * np.float32(2.0**60)).any()


@cache
def _library() -> tuple[ctypes.CDLL | None, int, int]:
    """(the C library or None, where in fenv_t the control word is, the bits to set there)."""
    offset, bits = _CONTROL.get(platform.machine(), (0, 0))
    if bits and sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            libm = ctypes.CDLL("libm.so.6")
            libm.fegetenv, libm.fesetenv  # noqa: B018  (raises AttributeError when missing)
            return libm, offset, bits
    return None, 0, 0


@cache
def _can_flush() -> bool:
    """Asked once, with the control word set: does it do on this machine what it should?"""
    return _flushes()


@contextlib.contextmanager
def hardware_ftz() -> Iterator[bool]:
    """Flush subnormals in hardware inside the block; yields whether that took effect.

    Where it cannot (another C library, another processor) nothing changes, False is yielded and
    :func:`floats.flush` does the work. f64 arithmetic is flushed too: see :func:`suits`.
    """
    libm, offset, bits = _library()
    if libm is None or is_active():
        yield is_active()
        return
    before = (ctypes.c_uint8 * _FENV_BYTES)()
    libm.fegetenv(before)
    changed = (ctypes.c_uint8 * _FENV_BYTES)(*before)
    word = ctypes.c_uint32.from_buffer(changed, offset)
    word.value |= bits
    try:
        libm.fesetenv(changed)
        _state.active = _can_flush()
        if not _state.active:
            libm.fesetenv(before)
        yield _state.active
    finally:
        _state.active = False
        libm.fesetenv(before)


# Conversions without .ftz whose f32 side is never subnormal, or that round in integer arithmetic.
# (Rounded to a whole number, to nearest or towards zero, a subnormal one is the zero of its sign.)
_WHOLE = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"}
_NARROW = {"f16", "f16x2", "bf16", "bf16x2", "e4m3x2", "e5m2x2", "e2m1x2", "ue8m0x2", "tf32"}


def _indifferent(opcode: str) -> bool:
    """Whether an instruction gives the same result with and without hardware flushing."""
    base, *modifiers = opcode.split(".")
    types = set(modifiers)
    if base not in FLUSHED:
        return True
    if "f64" in types:
        return False
    if base == "cvt":
        destination, source = modifiers[-2:] if len(modifiers) > 1 else ("", "")
        if source == "f32" and types & {"rni", "rzi"} and destination in _WHOLE | {"f32"}:
            return True
        nearest = not types & {"rz", "rm", "rp", "relu"}
        if source in _WHOLE or source in _NARROW:
            return source != "bf16" or destination == "f32"
        return nearest if destination in _NARROW else "ftz" in types
    return "ftz" in types or not types & {"f32", "bf16", "bf16x2"}


def suits(opcodes: Iterable[str]) -> bool:
    """Whether a kernel may run under :func:`hardware_ftz`: all its f32 arithmetic is ``.ftz`` (or
    cannot tell), and it has no f64 and no bf16 arithmetic that keeps subnormals.

    ``opcodes`` are full spellings such as ``"fma.rn.ftz.f32"``. A kernel in which nothing flushes
    gains nothing and answers False.
    """
    opcodes = list(opcodes)
    return any(".ftz" in o for o in opcodes) and all(map(_indifferent, opcodes))
