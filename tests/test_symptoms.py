"""The page 00/03 has a heading for every message, and every link to it leads to one."""

from __future__ import annotations

import ctypes
import re
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

from course_utils import cp, load, sanitize, symptoms
from course_utils.checking.verdict import CheckFailed, Verdict
from course_utils.compiling.diagnostics import CompileError
from course_utils.devices import gpu
from course_utils.devices.limits import LaunchError, Limits, check_residence, check_shape
from course_utils.emulator import KINDS, Cause, Finding
from course_utils.errors import SYMPTOMS, LessonError, in_full, more
from course_utils.exercises.authoring import kinds
from course_utils.exercises.judging.outcome import Outcome
from course_utils.kernel_tool.command import main
from course_utils.launching.kernels import LaunchFault
from course_utils.notebooks.canonical import read_file
from course_utils.paths import CHAPTERS, notebook_name
from course_utils.symptoms import CUDA_ERRORS, LAUNCH, PAGE

MARKDOWN = "\n\n".join(c.source for c in read_file(PAGE).cells if c.cell_type == "markdown")
HEADINGS = re.findall(r"^### (.+)$", MARKDOWN, re.M)
ENTRIES = dict(re.findall(r"^### (.+)\n\n((?:(?!^##).*\n?)*)", MARKDOWN, re.M))
MOST_WORDS = 75
LIMITS = Limits(threads=1024, static_shared=0, shared=232_448)


def test_no_two_headings_are_the_same():
    assert len({each.lower() for each in HEADINGS}) == len(HEADINGS)


def test_each_kind_of_verdict_and_of_finding_has_a_heading():
    every = {*kinds.KINDS, *KINDS}
    assert {kind for kind in every if kind.capitalize() not in HEADINGS} == set()
    assert {kind for kind in every if not symptoms.heading(kind)} == set(symptoms.UNDISTURBED)
    assert {*map(symptoms.heading, every)} - {""} <= set(HEADINGS)


@pytest.mark.parametrize("number", CUDA_ERRORS)
def test_each_error_of_cuda_has_a_heading_with_its_name_and_number(number):
    error = CUDA_ERRORS[number]
    driver = r"( \(`CUDA_ERROR_\w+`\))?"
    assert re.match(rf"`{error.name}`{driver}, {number}\b", ENTRIES[error.heading])


REFUSED = {
    'identifier "blockdim" is undefined': 'identifier "x" is undefined',
    'expected a ";"': 'expected a ";"',
    'expected a ")"': 'expected a ")"',
    'no instance of overloaded function "atomicMax" matches the argument list': "no instance of "
    "overloaded function matches the argument list",
    'a value of type "float *" cannot be used to initialize an entity of type "int *"': "a value "
    "of one type cannot be used to initialize an entity of another",
    'namespace "std" has no member "max"': 'namespace "std" has no member',
    "static assertion failed": "Compile error",
}


@pytest.mark.parametrize("message", REFUSED)
def test_an_error_of_the_compiler_links_to_its_own_heading(message):
    error = CompileError(f"k.cu(3): error: {message}\n  x\n  ^\n")
    assert error.symptom == REFUSED[message]
    assert error._render_traceback_()[-1] == more(REFUSED[message])


def test_each_heading_for_an_error_of_the_compiler_is_on_the_page():
    assert {*symptoms.COMPILER_ERRORS, symptoms.COMPILE_ERROR} <= {*HEADINGS}


# A heading, and below it the names of the runtime and of the driver, and the number of both.
NAMED = re.findall(r"^### (.+)\n\n`(cuda\w+)`(?: \(`(\w+)`\))?, (\d+)", MARKDOWN, re.M)


def test_each_number_on_the_page_is_one_of_the_table():
    assert {(int(n), name, text) for text, name, _, n in NAMED} == {
        (number, error.name, error.heading) for number, error in CUDA_ERRORS.items()
    }


def of_cuda(name: str) -> Path:
    """A file of CUDA's runtime, which knows the names of its errors without a GPU."""
    for package in ("nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime"):
        try:
            files = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name.startswith(name):
                return Path(str(file.locate()))
    pytest.skip("CUDA's runtime isn't installed")


def test_the_driver_s_names_are_those_of_cuda():
    header = of_cuda("cuda.h").read_text(encoding="utf-8")
    theirs = {int(n): name for name, n in re.findall(r"(CUDA_ERROR_\w+)\s*=\s*(\d+)", header)}
    ours = {int(n): name for _, _, name, n in NAMED}
    of_a_later_cuda = {36: "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"}
    assert ours == {n: (of_a_later_cuda | theirs).get(n, "") for n in CUDA_ERRORS}


def test_each_error_after_which_cuda_says_that_the_process_is_lost_is_sticky():
    header = of_cuda("driver_types.h").read_text(encoding="utf-8")
    lost = set()
    for entry in header.split("/**"):
        number = re.search(r"\*/\s*cudaError\w+\s*=\s*(\d+)", entry)
        if number and "inconsistent state" in re.sub(r"[\s*]+", " ", entry):
            lost.add(int(number[1]))
    assert {700, 721} < lost
    assert lost & CUDA_ERRORS.keys() <= set(gpu._STICKY)


def test_the_names_and_words_are_those_of_cuda():
    library = ctypes.CDLL(str(of_cuda("libcudart.so")))
    library.cudaGetErrorName.restype = library.cudaGetErrorString.restype = ctypes.c_char_p
    for number, error in CUDA_ERRORS.items():
        named = library.cudaGetErrorName(number), library.cudaGetErrorString(number)
        assert named == (error.name.encode(), error.heading.encode())


def test_an_entry_is_short_and_says_what_to_do_first():
    assert ENTRIES.keys() == set(HEADINGS)
    plain = {title: re.sub(r"\]\([^)]*\)", "]", text) for title, text in ENTRIES.items()}
    assert [title for title, text in plain.items() if len(text.split()) > MOST_WORDS] == []
    assert [title for title, text in plain.items() if "**First**" not in text] == ["Pass"]


# --- where the links come from ---


@pytest.mark.parametrize("folder", [CHAPTERS / "04_first_kernels", PAGE.parent, CHAPTERS.parent])
def test_an_address_leads_from_a_notebook_s_folder_to_the_heading(folder):
    path, _, fragment = symptoms.address("Out of bounds", folder).partition("#")
    assert (folder / path).resolve() == PAGE and unquote(fragment) == "Out-of-bounds"


def test_there_is_no_link_where_none_can_lead_there(tmp_path, monkeypatch):
    assert symptoms.address("Out of bounds", tmp_path) == ""
    monkeypatch.chdir(tmp_path)
    assert symptoms.link("Out of bounds") == ""
    monkeypatch.chdir(PAGE.parent)
    assert symptoms.link("") == ""
    assert "#Out-of-bounds" in symptoms.link("Out of bounds")


def test_a_line_names_each_heading_once():
    assert more() == more("") == ""
    assert more("a", "b", "a") == 'more: 00/03, "a" and "b"'
    assert more('expected a ";"') == "more: 00/03, 'expected a \";\"'"
    assert "/".join(part[:2] for part in notebook_name(PAGE).split("/")) == SYMPTOMS


SHAPES = {
    "no blocks": ((0, 1, 1), (32, 1, 1), 0, LIMITS, 9),
    "too large an axis": ((1, 1, 1), (2000, 1, 1), 0, LIMITS, 9),
    "too many threads": ((1, 1, 1), (64, 32, 1), 0, LIMITS, 9),
    "registers": ((1, 1, 1), (512, 1, 1), 0, Limits(256, 0, 232_448), 701),
    "shared memory": ((1, 1, 1), (32, 1, 1), 300_000, LIMITS, 1),
    "a negative size": ((1, 1, 1), (32, 1, 1), -1, LIMITS, None),
}


@pytest.mark.parametrize("case", SHAPES)
def test_a_refused_launch_names_cuda_s_own_words(case):
    grid, block, shared, limits, number = SHAPES[case]
    with pytest.raises(LaunchError) as refused:
        check_shape("k", grid, block, shared, limits)
    assert refused.value.symptom == (CUDA_ERRORS[number].heading if number else LAUNCH)
    assert in_full(refused.value).endswith(more(refused.value.symptom))


def test_too_many_blocks_for_a_cooperative_launch_name_cuda_s_own_words():
    with pytest.raises(LaunchError) as refused:
        check_residence("k", (300, 1, 1), (1024, 1, 1), 264)
    assert refused.value.symptom == CUDA_ERRORS[720].heading


def test_a_fault_on_the_emulator_names_the_heading_of_its_finding():
    fault = LaunchFault(Finding(KINDS[0], "why", cause=Cause.OUTSIDE_ARRAY))
    assert fault.symptom in HEADINGS
    assert fault._render_traceback_() == ["why", more(fault.symptom)]


@pytest.mark.parametrize("number", CUDA_ERRORS)
def test_a_fault_of_a_gpu_names_its_heading(number):
    error = CUDA_ERRORS[number]
    fault = gpu.fault("k", number, f"{error.name}: {error.heading}")
    assert fault.symptom == error.heading and error.name in str(fault)
    # Only after an error of the kernel itself is the process lost.
    assert ("restart" in str(fault)) == ("sticky" in ENTRIES[error.heading].partition(".")[0])


def test_an_error_that_the_page_does_not_have_is_shown_as_cuda_has_it():
    fault = gpu.fault("k", 304, "cudaErrorOperatingSystem: OS call failed")
    assert "OS call failed" in in_full(fault) and fault.symptom == ""


def test_an_error_without_a_heading_has_no_note():
    assert in_full(LessonError("why")) == "why"


def test_every_error_of_cuda_that_a_module_names_is_in_the_table():
    files = Path(symptoms.__file__).parent.rglob("*.py")
    named = {
        name
        for file in files
        for name in re.findall(r"\bcudaError[A-Z]\w+", file.read_text(encoding="utf-8"))
    }
    others = {"cudaErrorNotReady"}  # no reader meets it
    assert named <= {error.name for error in CUDA_ERRORS.values()} | others


def test_a_verdict_links_to_its_heading_and_a_failed_check_names_it(monkeypatch):
    monkeypatch.chdir(CHAPTERS / "04_first_kernels")
    wrong = Verdict("all zeros", "every element of output is 0.")
    assert f'href="{symptoms.address("All zeros")}"' in wrong._repr_html_()
    assert symptoms.address("All zeros").startswith("../00_start_here/")
    assert CheckFailed(wrong)._render_traceback_()[-1].strip() == more("All zeros")
    assert "href" not in Verdict("pass", "output is right.")._repr_html_()


@pytest.mark.emulator
def test_a_report_names_the_heading_of_each_kind_it_shows():
    source = 'extern "C" __global__ void f(int *x) { x[threadIdx.x] = 1; }'
    report = sanitize(load(source=source).f, 1, 64, (cp.zeros(33, np.int32),))
    assert str(report).splitlines()[-1] == more("Out of bounds")


def test_an_exercise_s_outcome_links_to_its_heading_and_its_text_names_it(monkeypatch):
    monkeypatch.chdir(CHAPTERS / "04_first_kernels")
    wrong = Outcome("04.saxpy", "a times x plus y", Verdict("transposed", "rows are columns."))
    assert str(wrong).splitlines()[-1].strip() == more("Transposed")
    assert symptoms.link("Transposed") in wrong._repr_html_()
    for kind in symptoms.UNDISTURBED:
        quiet = Outcome("04.saxpy", "a times x plus y", Verdict(kind, "so far."))
        assert SYMPTOMS not in str(quiet) + quiet._repr_html_()


def test_the_command_line_names_the_heading_of_a_refusal(tmp_path, capsys):
    file = tmp_path / "k.cu"
    file.write_text('extern "C" __global__ void k(int n) {}')
    assert main([str(file), "--block", "2000", "--args", "1"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == more(CUDA_ERRORS[9].heading)
