"""Numbers as the figures write them: short, and each kind in one way."""

from __future__ import annotations


def number_label(value: float) -> str:
    """Three digits that matter, thousands set apart: 0.0123, 4.56, 789, 12 345, 3.1 M."""
    size = abs(value)
    if size >= 1e12:
        return f"{value / 1e12:.3g} T"
    if size >= 1e9:
        return f"{value / 1e9:.3g} G"
    if size >= 1e6:
        return f"{value / 1e6:.3g} M"
    if size >= 100 or value == int(value):
        return f"{value:,.0f}".replace(",", "\N{NO-BREAK SPACE}")
    return f"{value:.3g}"


def fraction_label(value: float) -> str:
    """A power of two, below 1 as a fraction: 4, 1, 1/4. Zero is "0"."""
    if value >= 1:
        return f"{value:g}"
    return f"1/{1 / value:g}" if value > 0 else "0"


def bytes_label(value: float) -> str:
    """A number of bytes in powers of two: 512 B, 4 KB, 64 MB, 2 GB."""
    for unit, factor in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value:.3g} B"
