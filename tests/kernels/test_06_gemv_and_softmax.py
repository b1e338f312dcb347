"""What the softmax kernels make of infinities and NaN, and how a row is shared out."""

import numpy as np
import pytest
from launchers import Chapter

from course_utils import cp
from course_utils.benchmarks.cases.gemv_and_softmax import (
    KEEP_THE_ROW,
    backward_share,
    row_share,
)
from course_utils.benchmarks.harness.workload import KernelCall
from course_utils.errors import LessonError

CHAPTER = Chapter("06_matmul_and_fft")
RUNGS = "softmax_online", "softmax_shared", "softmax_shuffle", *KEEP_THE_ROW
SHARE = {"THREADS": 64, "GROUPS": 2}


def softmax_by(name, x):
    """The softmax of the rows of ``x``, by blocks of 64 threads where the kernel lets us choose;
    clusters have four."""
    defines = SHARE if name in KEEP_THE_ROW else {}
    blocks = 1
    if name in KEEP_THE_ROW[1:]:
        defines, blocks = defines | {"CLUSTER": 4}, 4
    dynamic = 4 * x.shape[1] if name in ("softmax_shared", "softmax_shuffle") else 0
    threads = defines.get("THREADS", 256)
    around = cp.full(x.size + 8, 7, np.float32)  # room before and after the result
    y = around[4:-4].reshape(x.shape)
    kernel = CHAPTER.kernel(name, **defines)
    KernelCall(kernel, len(x) * blocks, threads, (cp.asarray(x), y, x.shape[1]), dynamic)()
    around = cp.asnumpy(around)
    assert (around[:4] == 7).all() and (around[-4:] == 7).all()
    return around[4:-4].reshape(x.shape)


def softmax(x):
    x = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("columns", [1, 3, 33, 505])
@pytest.mark.parametrize("name", RUNGS)
def test_infinities_and_nan_give_what_they_give_in_pytorch(name, columns):
    x = np.random.default_rng(columns).standard_normal((7, columns), dtype=np.float32)
    x[0] = -np.inf  # a row that is masked throughout: 0 / 0
    x[1, columns // 2] = np.nan
    x[2, columns - 1] = np.inf
    x[3, 1::2] = -np.inf  # masked in part: zeros there
    x[4] = 3e38
    x[5, 1:] = -3e38
    found, expected = softmax_by(name, x), softmax(x)
    np.testing.assert_allclose(found, expected, rtol=3e-6, atol=1e-30, equal_nan=True)
    assert np.isnan(found[:3]).all() and not np.isnan(found[3:]).any()


@pytest.mark.parametrize("share_of, most", [(row_share, 262_144), (backward_share, 131_072)])
def test_every_row_gets_a_share_that_holds_it(share_of, most):
    for columns in (1, 3, 4, 513, 4093, 4095, 4096, 4097, 32_765, 32_767, 32_768, 33_000, 65_537):
        share = share_of(columns)
        assert share.holds(columns)
        assert 2 * columns + 8 * 1024 > share.CLUSTER * 4 * share.THREADS * share.GROUPS
    assert share_of(most).holds(most)
    with pytest.raises(LessonError, match=f"a cluster.* {most - 3}"):
        share_of(most - 1)


@pytest.mark.parametrize(
    "columns, threads, groups, cluster",
    [(4096, 128, 8, 1), (4095, 256, 5, 1), (32_768, 1024, 8, 1), (131_072, 512, 8, 8)],
)
def test_the_measured_rows_are_shared_as_the_search_found(columns, threads, groups, cluster):
    share = row_share(columns)
    assert (threads, groups, cluster) == (share.THREADS, share.GROUPS, share.CLUSTER)
