"""Measured files: one a kind of measurement and device."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any


def file_in(folder: Path, device: str) -> Path:
    """The file in ``folder`` that holds what was measured on a GPU called ``device``."""
    return folder / (re.sub(r"\W+", "_", device.lower()) + ".json")


def store(folder: Path, content: dict[str, Any], text: str = "") -> Path:
    """Write ``content``, or ``text`` if given, to its device's file in ``folder``; returns it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = file_in(folder, content["device"])
    file.write_text(text or json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return file
