"""``--step-to`` in a project that has nothing of the course's but its package."""

import json
import re

import pytest

from course_utils.kernel_tool import step_pages
from course_utils.kernel_tool.step_pages import MOST_ELEMENTS, page_stem

pytest_plugins = "pytester"

KERNEL = """__device__ int launches;
__global__ void scale(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) x[0] += 100 * launches++;
    __syncthreads();
    if (i <= n) x[n - i] *= a;
}
"""
PROJECT = f"""
import numpy as np
import pytest


@pytest.fixture
def scaled(cuda_kernel):
    def launch(n, grid=1, block=32):
        cuda_kernel("scale.cu")(grid, block, np.ones(n, np.float32), 2.0, n)
    return launch


@pytest.fixture
def ten(scaled):
    scaled(10)


def test_expected(cuda_kernel):
    assert cuda_kernel("scale.cu").report(1, 32, np.ones(10, np.float32), 2.0, 10).errors


@pytest.mark.xfail
def test_known(scaled):
    scaled(10)


@pytest.mark.parametrize("n", [10])
def test_one_too_many(scaled, n):
    scaled(n)


def test_of_a_fixture(ten):
    pass


def test_twice(cuda_kernel):
    scale, x = cuda_kernel("scale.cu"), np.ones(4, np.float32)
    for _ in range(2):
        scale.report(1, 8, x, 2.0, 4)
    assert x[0] == 101  # the recordings launched it, too, and nothing of that is left
    assert False


def test_large_launch(scaled):
    scaled(2000, 8, 256)


def test_large_array(scaled):
    scaled({MOST_ELEMENTS + 1})
"""


PLUGIN = "-p", "course_utils.kernel_tool.pytest_plugin"
PAGE = "test_scale-test_{}-scale{}.html"


@pytest.fixture
def failures(pytester, monkeypatch):
    """Runs those of the project's tests that have ``name`` in their names, and returns the reports
    of failures by the test's name."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(test_scale=PROJECT)
    pytester.path.joinpath("scale.cu").write_text(KERNEL)

    def run(name, *words):
        done = pytester.inline_run(*PLUGIN, "-k", name, *words)
        reports = done.getreports("pytest_runtest_logreport")
        return {rep.nodeid.partition("::test_")[2]: rep for rep in reports if rep.failed}

    return run


def steps_of(page):
    return json.loads(re.search(r'id="data">(.*)</script>', page.read_text(encoding="utf-8"))[1])


def test_a_failing_test_leaves_a_page_of_each_launch_with_a_fault(failures, pytester):
    failed = failures("not large", "--step-to", "pages/of/steps")
    assert failed.keys() == {"one_too_many[10]", "of_a_fixture", "twice"}
    names = {
        "one_too_many[10]": [PAGE.format("one_too_many-10", "")],
        "of_a_fixture": [PAGE.format("of_a_fixture", "")],
        "twice": [PAGE.format("twice", ""), PAGE.format("twice", "-2")],
    }
    folder = pytester.path / "pages/of/steps"
    assert {path.name for path in folder.iterdir()} == {name for n in names.values() for name in n}
    for test, report in failed.items():
        sent = pytest.TestReport._from_json(report._to_json())  # as a worker of xdist sends it
        assert all(f"pages/of/steps/{name} " in sent.longreprtext for name in names[test])
    assert "x[10]" in failed["one_too_many[10]"].longreprtext
    assert "x[0] == 101" not in failed["twice"].longreprtext.partition("E  ")[2]
    first, second = (steps_of(folder / name) for name in names["twice"])
    for data, launches, value in ((first, 0, 1), (second, 1, 1)):
        values = {array["name"]: array["first"] for array in data["arrays"]}
        assert values["launches"] == [launches] and values["x"] == [value, 1, 1, 1]
        assert "x[4]" in data["faults"][0]["text"] and data["faults"][0]["moments"]


def test_a_large_launch_says_what_to_make_smaller(failures, pytester):
    failed = failures("large", "--step-to", "steps")
    assert {*failed} == {"large_launch", "large_array"}
    assert not [*(pytester.path / "steps").iterdir()]
    for test, size in (("large_launch", "8 blocks of 256"), ("large_array", "50,001 elements")):
        fault, _, line = failed[test].longreprtext.rpartition("No page: ")
        assert "Out of bounds" in fault
        assert size in line and "smaller" in line and len(line.splitlines()) == 1


def test_without_the_option_nothing_is_recorded(failures, pytester, monkeypatch):
    monkeypatch.setattr(step_pages, "step_kernel", None)
    before = {*pytester.path.iterdir()}
    assert "page" not in failures("one_too_many")["one_too_many[10]"].longreprtext
    assert {path.suffix for path in {*pytester.path.iterdir()} - before} <= {"", ".pyc"}


def lost(*_, **__):
    raise RuntimeError("lost")


def full(*_):
    raise OSError(28, "No space left")


@pytest.mark.parametrize(("name", "stand_in"), [("step_kernel", lost), ("write_whole", full)])
def test_a_page_that_goes_wrong_hides_no_failure(failures, monkeypatch, name, stand_in):
    monkeypatch.setattr(step_pages, name, stand_in)
    told = failures("one_too_many", "--step-to", "steps")["one_too_many[10]"].longreprtext
    assert "x[10]" in told and re.search(r"No page: .*(lost|No space left)", told)


def test_another_outcome_while_recording_is_said(failures, monkeypatch):
    settings = []

    def clean(*args, **meta):
        settings.append(meta)
        return recorded(args[0], args[1], args[2], (*args[3][:2], 3), **meta)

    recorded = step_pages.step_kernel
    monkeypatch.setattr(step_pages, "step_kernel", clean)
    told = failures("one_too_many", "--step-to", "steps")["one_too_many[10]"].longreprtext
    assert len(settings) == len(step_pages.SETTINGS) and "didn't happen again" in told


@pytest.mark.usefixtures("failures")
@pytest.mark.parametrize("folder", ["scale.cu", "scale.cu/steps", ""])
def test_a_folder_that_cannot_be_written_is_said_at_once(pytester, capfd, folder):
    assert pytester.inline_run(*PLUGIN, "--step-to", folder).ret == pytest.ExitCode.USAGE_ERROR
    told = capfd.readouterr().err
    assert "ERROR: --step-to" in told and folder in told and "Name " in told


@pytest.mark.parametrize(
    ("test", "kernel", "stem"),
    [
        ("test_a.py::test_b", "scale", "test_a-test_b-scale"),
        (
            "tests/test_a.py::TestIt::test_b[-1]",
            "scale<float>",
            "tests-test_a-TestIt-test_b--1-scale-float",
        ),
        ("../test_a.py::test_b", "scale", r"test_a-test_b-\w{6}-scale"),
        ("test_a.py::test_b[F]", "scale", r"test_a-test_b-F-\w{6}-scale"),
        ("test_a.py::test_b[a/b <é>]", "scale", r"test_a-test_b-a-b----\w{6}-scale"),
        ("test_a.py::test_b[" + 500 * "1" + "]", 300 * "k", r"[\w-]{140}-\w{6}-k{60}"),
    ],
)
def test_a_page_is_named_after_its_test_and_kernel(test, kernel, stem):
    assert re.fullmatch(stem, page_stem(test, kernel))
