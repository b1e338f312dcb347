"""Draw the golden files anew: ``python -m tests.golden``."""

from .verdicts import FILE, render

FILE.write_text(render(), encoding="utf-8")
