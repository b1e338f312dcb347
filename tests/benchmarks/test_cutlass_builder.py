"""The measurement of CUTLASS's builder: its refusals, and how its sides take turns."""

import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from course_utils import cp
from course_utils.benchmarks.experiments import cutlass_builder
from course_utils.benchmarks.harness.measure import TURNS
from course_utils.errors import LessonError
from course_utils.paths import KERNELS


def test_its_sources_are_there():
    assert all((KERNELS / name).is_file() for name in cutlass_builder.FILES)


def test_it_shows_what_nvcc_says(monkeypatch, tmp_path):
    done = SimpleNamespace(returncode=2, stderr="no instance of a template")
    monkeypatch.setattr(cutlass_builder, "ROOT", tmp_path)
    monkeypatch.setattr(cutlass_builder, "cute_header_paths", lambda: ("include",))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(LessonError, match="no instance of a template"):
        cutlass_builder.builder()


@pytest.mark.parametrize("status", [0, 7])
def test_a_status_of_cutlass_is_an_error(status):
    started = []

    def product(*arguments):
        started.append(arguments)
        return status

    library = SimpleNamespace(
        workspace_bytes=lambda m, n, k: 0, product=product, status_word=lambda _: b"misaligned"
    )
    a, b, bias, c = (cp.zeros(shape, np.uint16) for shape in ((8, 24), (16, 24), 16, (8, 16)))
    run = cutlass_builder.by_builder(library, a, b, bias, c)
    if status:
        with pytest.raises(LessonError, match="misaligned"):
            run()
    else:
        assert run() is c
    assert started[0][4:7] == (8, 16, 24)  # M, N and K


def test_each_side_has_its_turns(monkeypatch):
    calls = []

    def bench(run, warmup, repeats):
        calls.append(run)
        return SimpleNamespace(times_ms=(float(run[-1]),) * repeats)

    monkeypatch.setattr(cutlass_builder, "bench", bench)
    measured = cutlass_builder.in_turns({"one": "1", "two": "2"})
    assert measured == {
        "one": {"median_ms": 1.0, "spread_ms": 0.0},
        "two": {"median_ms": 2.0, "spread_ms": 0.0},
    }
    assert len(calls) == 2 * TURNS and {calls[0], calls[TURNS]} <= {"1", "2"}
