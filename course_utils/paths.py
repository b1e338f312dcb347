"""Where the course's files lie."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = ROOT / "chapters"
KERNELS = ROOT / "kernels"
ASSETS = ROOT / "assets"
BENCHMARKS = ASSETS / "benchmarks"
README = ROOT / "README.md"
