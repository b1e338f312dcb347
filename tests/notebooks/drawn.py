"""What the files of ``quotes/`` draw from the records of the course's reference GPU."""

from __future__ import annotations

from typing import Any

from course_utils.records.measured_files import REFERENCE, measurements

DATA_SHEET = "NVIDIA H200 data sheet, SXM"


def record(name: str) -> dict[str, Any]:
    """The file of ``assets/benchmarks/`` called ``name``."""
    return measurements(name, REFERENCE)


def cause(*keys: str) -> float:
    """Milliseconds of an experiment that takes one cause away, by its ``keys`` in their file."""
    found = record("causes")
    for key in keys:
        found = found[key]
    return found


def case(kernel: str, size: int | list[int]) -> dict[str, Any]:
    """The record of a kernel at a size."""
    found = [r for r in record("kernels")["records"] if (r["kernel"], r["size"]) == (kernel, size)]
    assert found, f"{kernel} at {size} was not measured"
    return found[0]


def milliseconds(kernel: str, size: int | list[int]) -> float:
    return case(kernel, size)["ours"]["median_ms"]


def bytes_per_second(kernel: str, size: int | list[int]) -> float:
    return case(kernel, size)["bytes"] / milliseconds(kernel, size) * 1e3


def flops_per_second(kernel: str, size: int | list[int]) -> float:
    return case(kernel, size)["flops"] / milliseconds(kernel, size) * 1e3
