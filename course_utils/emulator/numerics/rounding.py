"""Whole numbers rounded up. The emulator installs alone, so it has its own ``ceil_div``."""

from __future__ import annotations


def ceil_div(n: int, k: int) -> int:
    """n / k, rounded up."""
    return -(-n // k)


def round_up(n: int, k: int) -> int:
    """The first multiple of ``k`` from ``n`` on."""
    return -(-n // k) * k
