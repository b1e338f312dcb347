"""The machine code that chapter 01 shows is that of its kernel."""

import pytest

from course_utils import load
from course_utils.benchmarks.harness import sass
from course_utils.errors import LessonError
from course_utils.paths import ROOT

KERNEL = "01_ecosystem/compilers/scale_and_shift.cu"
LINES = (ROOT / "assets/transcripts/sass_scale_and_shift.txt").read_text().splitlines()


def test_the_transcript_names_its_kernel_and_holds_its_arithmetic():
    assert KERNEL in LINES[0]
    operations = [line.split()[0] for line in LINES if not line.startswith("//")]
    assert {"LDG.E", "FFMA.FTZ", "STG.E", "EXIT"} <= set(operations)


def test_a_machine_with_the_disassembler_gets_the_same_loads_stores_and_arithmetic():
    try:
        listing = sass.listing(load(KERNEL).compiled("sm_90").code)
    except LessonError:
        pytest.skip("needs nvdisasm")
    for operation in ("LDG", "STG", "FFMA"):
        here = sum(operation in line.split()[0] for line in listing)
        assert here == sum(line.split(".")[0] == operation for line in LINES)
