"""Exercises of chapter 03: warps, waves and divergence; memories and the roofline."""

from __future__ import annotations

import numpy as np  # noqa: F401

from course_utils.exercises import (  # noqa: F401
    Ask,
    Exercise,
    Launch,
    NumberExercise,
    PythonExercise,
    Target,
    empty,
    floats,
    kinds,
    mutant,
)

WHY = "03_gpu_introduction/01_why_gpus"
EXECUTION = "03_gpu_introduction/02_execution_model"
MEMORY = "03_gpu_introduction/03_memory_model"
ROOFLINE = "03_gpu_introduction/04_roofline"
SMALL = (1000, 257, 31, 1)
FULL = 1 << 24


# Notebooks 01 and 02.

# Notebooks 03 and 04.

EXERCISES = [
    # 01_why_gpus
    # 02_execution_model
    # 03_memory_model
    # 04_roofline
]
