"""Formulas as MathML, which browsers draw themselves: pages need no script from elsewhere."""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

# What JupyterLab, which draws the same formulas in notebooks, reads otherwise than docutils.
_GROUP = r"(\{(?:[^{}]|\{[^{}]*\})*\})"
READ_OTHERWISE = (
    (r"\\texttt\b", r"\\text"),
    (r"\\Big(?=[(\[])", r"\\Bigl"),
    (r"\\Big(?=[)\]])", r"\\Bigr"),
    (rf"\\underbrace{_GROUP}_{_GROUP}", r"\\underset\2{\\underbrace\1}"),
)


def mathml(tex: str, block: bool = False) -> str:
    """A formula of LaTeX as HTML. Raises MathError where docutils can't read it."""
    for theirs, ours in READ_OTHERWISE:
        tex = re.sub(theirs, ours, tex)
    drawn: str = tex2mathml(tex.strip(), as_block=block)
    return drawn


def in_line(self: Any, node: nodes.math) -> None:
    self.body.append(_drawn(node, block=False))
    raise nodes.SkipNode


def displayed(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="formula">{_drawn(node, block=True)}</div>')
    raise nodes.SkipNode


def _drawn(node: nodes.Element, block: bool) -> str:
    try:
        return mathml(node.astext(), block)
    except MathError as error:
        logging.getLogger(__name__).warning("%s: %s", error, node.astext(), location=node)
        return f"<code>{html.escape(node.astext())}</code>"
