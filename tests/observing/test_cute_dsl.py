"""The Python DSL's transcripts are of today's programs, and its layouts are as ours."""

import re
from importlib.metadata import PackageNotFoundError, version

import pytest

from course_utils import layouts
from course_utils.exercises.authoring.registry import find
from course_utils.layouts import Layout
from course_utils.paths import KERNELS
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


def counts_of(section):
    """{opcode: count} of a section of the transcript, opcodes cut before their types."""
    text = (
        made.PTX.read_text(encoding="utf-8").partition(f"## {section}\n")[2].partition("\n## ")[0]
    )
    return {opcode: int(count) for count, opcode in re.findall(r"^ *(\d+) (\S+)$", text, re.M)}


def number_of(counts, begins):
    return sum(count for opcode, count in counts.items() if re.match(begins, opcode))


@pytest.mark.parametrize(
    ("section", "plan"),
    [
        ("gemm_hopper_dsl", {"BM": 128, "BN": 256, "BK": 64, "STAGES": 4}),
        ("gemm_hopper_dsl, 64 x 128, six stages", {"BM": 64, "BN": 128, "BK": 64, "STAGES": 6}),
    ],
)
def test_the_exercise_counts_as_the_package_does(section, plan):
    bulk = r"cp\.async\.bulk\.tensor\.2d\."
    rows = r"wgmma\.mma", rf"{bulk}shared", rf"{bulk}global", "stmatrix", r"mbarrier\.init"
    counts = counts_of(section)
    assert tuple(number_of(counts, row) for row in rows) == find("08.hopper_counts").reference(plan)


def test_the_report_of_the_exercise_is_the_packages():
    kernels = {
        "A": "gemm_hopper_dsl",
        "B": "gemm_hopper_dsl, stores not fenced",
        "C": "gemm_hopper_dsl, bytes not expected",
        "D": "gemm_blackwell_dsl, nothing ordered",
        "E": "gemm_blackwell_dsl, for sm_100a",
    }
    rows = {
        "TMA loads": r"cp\.async\.bulk\.tensor\.2d\.shared",
        "mbarrier.arrive.expect_tx": r"mbarrier\.arrive\.expect_tx",
        "stmatrix": "stmatrix",
        "fence.proxy.async": r"fence\.proxy\.async",
        "TMA stores": r"cp\.async\.bulk\.tensor\.2d\.global",
        "wgmma": r"wgmma\.mma",
        "tcgen05.mma": r"tcgen05\.mma",
        "tcgen05.ld": r"tcgen05\.ld",
        "tcgen05.wait::ld": r"tcgen05\.wait::ld",
    }
    page = (KERNELS / "08_cute_tma_blackwell/exercises/read_the_opcodes.md").read_text("utf-8")
    for row, begins in rows.items():
        shown = re.search(rf"^{re.escape(row)} +(\d.*)$", page, re.M)[1].split()
        assert list(map(int, shown)) == [number_of(counts_of(k), begins) for k in kernels.values()]
