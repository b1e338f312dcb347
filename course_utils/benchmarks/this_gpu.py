"""The GPU that is measured, and the file its figures go to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ..device import ON_GPU, cp
from ..errors import LessonError


def need_gpu() -> None:
    """Raise LessonError where there is no GPU to measure."""
    if not ON_GPU:
        raise LessonError(
            "This measures a GPU, and this machine has none: use hardware.stored() for the figures "
            "that come with the course."
        )


def device_name() -> str:
    """What the GPU calls itself."""
    return cp.cuda.runtime.getDeviceProperties(0)["name"].decode()


def multiprocessors() -> int:
    """How many the GPU has."""
    return cp.cuda.Device().attributes["MultiProcessorCount"]


def description() -> dict[str, Any]:
    """What every file of measurements begins with: the GPU's name, its driver and CUDA."""
    runtime = cp.cuda.runtime
    return {
        "device": device_name(),
        "driver": runtime.driverGetVersion(),
        "cuda": runtime.runtimeGetVersion(),
    }


def file_in(folder: Path, device: str) -> Path:
    """The file in ``folder`` that holds what was measured on a GPU called ``device``."""
    return folder / (re.sub(r"\W+", "_", device.lower()) + ".json")


def store(folder: Path, content: dict[str, Any], text: str = "") -> Path:
    """Write ``content``, or ``text`` if given, to its device's file in ``folder``; returns it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = file_in(folder, content["device"])
    file.write_text(text or json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return file
