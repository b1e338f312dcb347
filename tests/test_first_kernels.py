"""The kernels of the first two notebooks: right at odd sizes, and clean under every check."""

import numpy as np
import pytest

from course_utils import check, cp, load, sanitize

SIZES = (1, 255, 257, 1009)


def ceil_div(n, block):
    return (n + block - 1) // block


def test_hello_prints_one_line_for_each_thread(capsys):
    load("04_first_kernels/threads/hello.cu")((2,), (4,), ())
    lines = {f"block {block}, thread {thread}" for block in range(2) for thread in range(4)}
    assert set(capsys.readouterr().out.splitlines()) == lines


@pytest.mark.parametrize("n", SIZES)
def test_thread_ids_are_the_quotient_and_remainder_of_the_element(n):
    block_of, thread_of = cp.full(n, -1, dtype=cp.int32), cp.full(n, -1, dtype=cp.int32)
    load("04_first_kernels/threads/thread_ids.cu")(
        (ceil_div(n, 8),), (8,), (block_of, thread_of, n)
    )
    assert (block_of.get() == np.arange(n) // 8).all()
    assert (thread_of.get() == np.arange(n) % 8).all()


@pytest.mark.parametrize("n", SIZES)
def test_grid_stride_ids_repeat_after_the_whole_grid(n):
    block_of, thread_of = cp.full(n, -1, dtype=cp.int32), cp.full(n, -1, dtype=cp.int32)
    load("04_first_kernels/threads/grid_stride_ids.cu")((2,), (8,), (block_of, thread_of, n))
    assert (block_of.get() == np.arange(n) % 16 // 8).all()
    assert (thread_of.get() == np.arange(n) % 8).all()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("blocks", (1, 3, 64))
def test_grid_stride_adds_with_any_grid(blocks, n):
    rng = np.random.default_rng(n)
    a, b = (cp.asarray(rng.standard_normal(n, dtype=np.float32)) for _ in range(2))
    c = cp.full(n, cp.nan, dtype=cp.float32)
    load("04_first_kernels/threads/grid_stride.cu")((blocks,), (256,), (a, b, c, n))
    check(c, a.get() + b.get())


@pytest.mark.parametrize("width, height", [(1, 1), (31, 17), (64, 45)])
def test_ripples_agree_with_numpy(width, height):
    x, y = np.arange(width), np.arange(height)[:, None]
    left = np.hypot(x - 0.3 * width, y - 0.5 * height)
    right = np.hypot(x - 0.7 * width, y - 0.5 * height)
    image = cp.full((height, width), cp.nan, dtype=cp.float32)
    blocks = ceil_div(width * height, 256)
    load("00_start_here/ripples.cu")((blocks,), (256,), (image, width, height, 30.0))
    check(image, np.cos(30 * left / width) + np.cos(30 * right / width), atol=1e-3)


@pytest.mark.parametrize(
    "file, make",
    [
        ("00_start_here/ripples.cu", lambda: (cp.zeros((13, 61), dtype=cp.float32), 61, 13, 30.0)),
        (
            "04_first_kernels/threads/thread_ids.cu",
            lambda: (*cp.zeros((2, 61), dtype=cp.int32), 61),
        ),
        (
            "04_first_kernels/threads/grid_stride_ids.cu",
            lambda: (*cp.zeros((2, 61), dtype=cp.int32), 61),
        ),
        (
            "04_first_kernels/threads/grid_stride.cu",
            lambda: (*cp.zeros((3, 61), dtype=cp.float32), 61),
        ),
    ],
)
def test_a_kernel_of_the_first_notebooks_has_no_findings(file, make):
    report = sanitize(load(file), (4,), (256,), make())
    assert report.clean, report
