"""The Python DSL's transcripts are of today's programs, and its layouts are as ours."""

from importlib.metadata import PackageNotFoundError, version

import pytest

from course_utils import layouts
from course_utils.layouts import Layout
from tests.observing import dsl_transcripts as made


def installed():
    """The version of the package here, or None."""
    try:
        return version(made.PACKAGE)
    except PackageNotFoundError:
        return None


@pytest.mark.parametrize("path", [made.LAYOUTS, made.PTX], ids=lambda path: path.stem)
def test_a_transcript_is_of_todays_programs(path):
    first, second, *_ = path.read_text(encoding="utf-8").splitlines()
    assert first.endswith(f"sources {made.sources()}"), f"stale: run {made.COMMAND}"
    assert second == f"$ {made.COMMAND}"


def test_the_counts_of_the_kernel_in_cpp_are_of_todays_source():
    first, second, *_ = made.NVRTC.read_text(encoding="utf-8").splitlines()
    assert first.endswith(f"sources {made.sources(made.KERNELS / made.TILED)}")
    assert second == f"$ {made.COMMAND} nvrtc"


@pytest.mark.parametrize("path", [made.LAYOUTS, made.PTX], ids=lambda path: path.stem)
def test_a_transcript_is_what_the_package_makes_where_it_is_installed(path):
    text = path.read_text(encoding="utf-8")
    if installed() is None or f"{made.PACKAGE} {installed()}," not in text:
        pytest.skip("the transcript's version of the package is not installed")
    assert (made.layouts() if path == made.LAYOUTS else made.ptx()) == text


def operations():
    lines = made.LAYOUTS.read_text(encoding="utf-8").splitlines()[2:]
    return [line for line in lines if hasattr(layouts, line.split(" | ")[0])]


@pytest.mark.parametrize("line", operations())
def test_our_layouts_and_the_dsls_are_the_same(line):
    name, *given, expected = line.split(" | ")
    arguments = [int(text) if text.isdigit() else Layout(text) for text in given]
    assert str(getattr(layouts, name)(*arguments)) == expected


def test_most_operations_of_the_algebra_are_compared():
    assert len(operations()) >= 8
