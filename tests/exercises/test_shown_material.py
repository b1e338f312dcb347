"""What a page prints of a record or of kernels is what its exercise judges with."""

from __future__ import annotations

import re
import sys

from course_utils import measurements
from course_utils.exercises.authoring.registry import find


def module_of(exercise_id: str):
    """The spec file's module, which loading the exercise has imported."""
    exercise = find(exercise_id)
    chapter, notebook = exercise.notebook.split("/")
    return exercise, sys.modules[f"exercises_of_{chapter}.{notebook}"]


def test_the_five_reports_have_the_numbers_of_the_record():
    exercise, module = module_of("04.read_five_reports")
    kernels = measurements("ncu", "NVIDIA H200")["kernels"]
    rows = re.findall(r"^(\w+__\S+) +(.+)$", exercise.task, re.M)
    assert len(rows) == 9
    for metric, numbers in rows:
        shown = [float(number.replace(",", "")) for number in numbers.split()]
        counted = [kernels[kernel].get(metric, 0) for kernel, _ in module.REPORTS.values()]
        assert shown == counted, metric


def test_the_review_shows_the_kernel_and_the_changes_that_are_run():
    exercise, module = module_of("04.review_the_change")
    bare = " ".join(module.SQUARE_SUMS.replace("  // of the loop", "").split())
    assert bare.replace("KERNEL", "square_sums") in " ".join(exercise.task.split())
    for change, (old, new) in module.CHANGES.items():
        row = next(line for line in exercise.task.splitlines() if line.startswith(f"| {change} |"))
        assert old.split("  //")[0] in row, change
        assert new in row, change
        assert module.SQUARE_SUMS.count(old) == 1, change
