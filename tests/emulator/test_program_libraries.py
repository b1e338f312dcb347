"""Libraries for whole programs: each function against NumPy, and mistakes that are found."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course_utils.compiling.headers import cuda_header_paths
from course_utils.emulator.programs import program_building

PROGRAMS = Path(__file__).parent / "whole_programs"
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Our runtime library."""
    folder = tmp_path_factory.mktemp("library")
    return program_building.build_stand_in(tuple(map(Path, cuda_header_paths())), folder)


def outcome(library, name):
    """What a program printed, and the findings that it logged."""
    log = library.with_name(f"{name}.jsonl")
    done = subprocess.run(
        [sys.executable, PROGRAMS / name, library, log],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), [json.loads(line) for line in log.read_text().splitlines()]


@pytest.fixture(scope="module")
def run(library):
    """The program that calls cuBLAS."""
    return outcome(library, "blas.py")


@pytest.mark.parametrize(
    ("name", "cases", "statuses"), [("fft.py", 32, [8, 3, 3, 1]), ("sparse.py", 44, [1, 3, 3, 0])]
)
def test_every_transform_and_product_gives_what_numpy_gives(library, name, cases, statuses):
    printed, events = outcome(library, name)
    assert not {case: error for case, error in printed["errors"].items() if not error < 1e-5}
    assert len(printed["errors"]) == cases and printed["statuses"] == statuses
    found = [event["message"] for event in events if event.get("kind") == "OUTSIDE_ALLOCATION"]
    assert (name == "sparse.py") == any("column 4, and 4 columns" in text for text in found)


def test_every_function_gives_what_numpy_gives(run):
    printed, _ = run
    wrong = {case: error for case, error in printed["errors"].items() if not error < 1e-5}
    assert not wrong
    assert len(printed["errors"]) > 200


def test_a_bad_argument_and_a_bad_handle_have_their_statuses(run):
    printed, _ = run
    assert printed["statuses"] == [7, 7, 0, 13, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("call", "kind", "data"),
    [
        ("cublasSgemm", "INVALID_CALL", "lda = 3, and A has 4 rows"),
        ("cublasSscal", "INVALID_CALL", "a null pointer"),
        ("cublasSaxpy", "NOT_ALLOCATED", "20 bytes of the host's memory"),
        ("cublasScopy", "NO_VALUE", "reads 4 elements of the 16 bytes"),
    ],
)
def test_mistakes_are_found(run, call, kind, data):
    _, events = run
    (found,) = [event for event in events if event.get("call") == call]
    assert found["kind"] == kind and data in found["message"]
