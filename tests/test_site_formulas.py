"""Every formula of the notebooks is one that the website can draw, and no dollar is left in it."""

import importlib.util
import re

import pytest

from course_utils.paths import CHAPTERS, ROOT
from tests.documents import texts

for package in ("sphinx.util", "docutils"):
    pytest.importorskip(package, reason="`make site` installs what the website wants")

spec = importlib.util.spec_from_file_location("formulas", ROOT / "site" / "formulas.py")
formulas = importlib.util.module_from_spec(spec)
spec.loader.exec_module(formulas)
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(\S[^$\n]*?)\$", re.S)


def prose():
    for path in sorted(CHAPTERS.glob("*/*.ipynb")):
        for text in texts(path.relative_to(ROOT).as_posix()):
            yield path.name, text


def test_each_formula_is_drawn():
    found = [match for _, text in prose() for match in FORMULA.findall(text)]
    assert len(found) > 20
    for displayed, in_line in found:
        assert "<math" in formulas.mathml(displayed or in_line, bool(displayed))


def test_a_brace_has_its_label_below():
    drawn = formulas.mathml(r"\underbrace{\texttt{i} \cdot n}_{\text{before mine}}", True)
    assert drawn.count("<munder>") == 2 and "<msub>" not in drawn


def test_every_dollar_belongs_to_a_formula():
    left = [(name, text) for name, text in prose() if "$" in FORMULA.sub(" ", text)]
    assert left == []


def test_what_cannot_be_drawn_is_no_formula():
    with pytest.raises(formulas.MathError):
        formulas.mathml(r"\nothing{x}")


def test_a_formula_that_cannot_be_drawn_is_shown_as_text():
    node = formulas.nodes.math("", r"\nothing{x} < 1")
    assert formulas._drawn(node, block=False) == r"<code>\nothing{x} &lt; 1</code>"
