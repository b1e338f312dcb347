"""Two texts written as one: ``x[i] : «infinity→0.0f»`` is what is there and what it becomes.

Wrong answers of exercises and planted bugs are written so. No line of code holds one of the three
signs.
"""

from __future__ import annotations

import re

CHOICE = re.compile("«([^«»→]*)→([^«»→]*)»")
SIGNS = re.compile("[«»→]")


def before(text: str) -> str:
    """``text`` with the left side of each choice. Raises ValueError for a sign that has no pair."""
    return _chosen(text, 1)


def after(text: str) -> str:
    """``text`` with the right side of each choice. Raises ValueError as :func:`before` does."""
    return _chosen(text, 2)


def _chosen(text: str, side: int) -> str:
    left = SIGNS.search(CHOICE.sub("", text))
    if left:
        raise ValueError(
            f"a choice is written «old→new», and here is a lone {left[0]}: {text.strip()}"
        )
    return CHOICE.sub(lambda found: found[side], text)
