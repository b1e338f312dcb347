"""The plugin in a project that has nothing of the course's but its package."""

from course_utils.paths import ROOT

pytest_plugins = "pytester"

PROJECT = """
import numpy as np
import pytest


@pytest.mark.parametrize("n", [1, 255, 1000])
def test_each_element_is_scaled(cuda_kernel, n):
    scale = cuda_kernel("kernels/scale.cu", defines={"LIMIT": "<"})
    x = np.arange(n, dtype=np.float32)
    scale(4, 256, x, 2.0, n)
    assert (x == 2 * np.arange(n)).all()


def test_one_too_many_is_expected(cuda_kernel):
    scale = cuda_kernel("kernels/scale.cu", defines={"LIMIT": "<="})
    x = np.ones(10, np.float32)
    report = scale.report(1, 32, x, 2.0, 10)
    assert report.errors[0].index == 10
    assert scale.profile(1, 32, x, 2.0, 9).counts.global_store_requests == 1


def test_one_too_many_is_not_expected(cuda_kernel):
    scale = cuda_kernel("kernels/scale.cu", defines={"LIMIT": "<="})
    scale(1, 32, np.ones(10, np.float32), 2.0, 10)
"""
KERNEL = """__global__ void scale(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x + i;
    if (i LIMIT n) x[i] *= a;
}
"""


def test_a_project_tests_its_kernels(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv(
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"
    )  # installed or not, from this checkout
    pytester.makepyfile(PROJECT)
    pytester.mkdir("kernels").joinpath("scale.cu").write_text(KERNEL)
    done = pytester.runpytest_subprocess("-p", "course_utils.kernel_tool.pytest_plugin")
    done.assert_outcomes(passed=4, failed=1, warnings=5)
    done.stdout.fnmatch_lines(
        [
            "*Out of bounds*x[[]10[]]*scale.cu:5*",
            "*if (i LIMIT n)*",
            "next: *",
            "*scale.cu(4): warn*",
        ]
    )
