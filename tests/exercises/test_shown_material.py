"""What a page prints of a record or of kernels is what its exercise judges with."""

from __future__ import annotations

import json
import re
import sys

import pytest

from course_utils import measurements
from course_utils.exercises.authoring.registry import find
from course_utils.paths import CHAPTERS


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


def test_the_three_gemms_have_the_numbers_of_the_record():
    exercise, module = module_of("06.read_three_gemms")
    kernels = measurements("ncu", "NVIDIA H200")["kernels"]
    rows = re.findall(r"^(\w+__\S+) +(.+)$", exercise.task, re.M)
    assert {metric for metric, _ in rows} >= {counter for counter, _ in module.IN_A_CLOCK.values()}
    for metric, numbers in rows:
        shown = [float(number.replace(",", "")) for number in numbers.split()]
        assert shown == [kernels[name].get(metric, 0) for name in module.GEMMS.values()], metric


def test_the_list_of_launches_is_the_stored_one_and_has_the_answers():
    exercise, module = module_of("09.read_the_launches")
    printed = exercise.task.split("```")[1].removeprefix("text\n")
    notebook = (CHAPTERS / f"{exercise.notebook}.ipynb").read_text(encoding="utf-8")
    outputs = [
        "".join(output.get("text", ()))
        for cell in json.loads(notebook)["cells"]
        for output in cell.get("outputs", ())
    ]
    assert any(printed == output for output in outputs)
    *rows, everything = (
        (name, *map(float, numbers.split()))
        for name, numbers in re.findall(r"^(\w+) +(\d.*)$", printed, re.M)
    )
    assert {row[0] for row in rows} == set(module.LAUNCHED)
    ways = {
        "arithmetic": lambda row: row[2] / everything[2],
        "images": lambda row: row[4] / everything[4],
        "launches": lambda row: row[1] / everything[1],
        "one image": lambda row: row[4] + row[5],
        "reuse": lambda row: 8 * row[3] / max(8 * row[4] + row[5], 1),
    }
    for question, value in ways.items():
        most = max(rows, key=value)
        name, number = module.LAUNCHES[question]
        assert name == most[0] and number == pytest.approx(value(most)), question
