"""What the kernels of notebook 07/03 promise beside the results that their benchmarks check."""

from runpy import run_path

import numpy as np
import pytest

from course_utils import cp
from course_utils.benchmarks.cases.pytorch_extensions import cross_entropy as losses
from course_utils.benchmarks.cases.pytorch_extensions import normalisation as norms
from course_utils.benchmarks.harness.workload import KernelCall
from course_utils.paths import KERNELS

IGNORED = losses.IGNORED
WEIGHT = np.float32(0.25)
KINDS = pytest.mark.parametrize("kind", norms.KINDS.values(), ids=norms.KINDS)


def fused(x, target, kind, in_place=False):
    """Loss and gradient of logits, as numbers; ``x`` is fp32."""
    x = kind.made(cp.asarray(np.array(x, np.float32)))
    dx, loss = x if in_place else kind.empty(x.shape), cp.empty(len(x), np.float32)
    target, weight = cp.asarray(np.array(target, np.int64)), cp.full(1, WEIGHT, np.float32)
    losses.fused_call(x, target, dx, loss, weight, kind)()
    return loss.get(), cp.asnumpy(kind.exact(dx)), cp.asnumpy(kind.exact(x))


@KINDS
@pytest.mark.parametrize("columns", [7, 1032])
def test_a_gradient_in_place_of_the_logits_is_the_one_apart(kind, columns):
    x = np.random.default_rng(0).standard_normal((3, columns))
    target = [columns - 1, IGNORED, 2]
    loss, dx, _ = fused(x, target, kind)
    again, _, over = fused(x, target, kind, in_place=True)
    assert np.array_equal(loss, again) and np.array_equal(dx, over)
    assert np.any(dx[0]) and not np.any(dx[1])


@KINDS
def test_the_fused_loss_is_that_of_float64(kind):
    x = kind.made(cp.asarray(np.random.default_rng(1).standard_normal((5, 301), np.float32)))
    exact, target = kind.exact(x), cp.asarray(np.array([0, 300, IGNORED, 17, 4]))
    loss, _ = losses.exact_loss(exact, target)
    found, *_ = fused(cp.asnumpy(exact), target.get(), kind)
    np.testing.assert_allclose(found, cp.asnumpy(loss), rtol=1e-5)


@pytest.mark.parametrize("target", [-1, 9, 1 << 40])
def test_a_target_that_does_not_exist_makes_the_loss_nan(target):
    loss, dx, _ = fused([[1.0] * 9], [target], norms.FP32)
    assert np.isnan(loss).all() and np.isfinite(dx).all()


def test_a_row_that_is_ignored_has_no_gradient_whatever_is_in_it():
    loss, dx, _ = fused([[np.nan] * 9, [1.0] * 9], [IGNORED, 3], norms.FP32)
    assert loss[0] == 0 and not np.any(dx[0]) and np.isfinite(dx[1]).all()


@pytest.mark.parametrize(
    "row, loss, gradient",
    [
        ([1, -np.inf, 1], np.log(2), [0.5, 0, -0.5]),
        ([1, 1, -np.inf], np.inf, [0.5, 0.5, -1]),
        ([3e38, -3e38, 3e38], np.log(2), [0.5, 0, -0.5]),
        ([-np.inf] * 3, np.nan, [np.nan] * 3),
        ([1, np.inf, 2], np.nan, [np.nan] * 3),
        ([1, np.nan, 2], np.nan, [np.nan] * 3),
    ],
)
def test_infinities_and_nan_give_what_pytorch_gives(row, loss, gradient):
    """Expected: torch.nn.functional.cross_entropy of the row with target 2, and its gradient."""
    found, dx, _ = fused([row], [2], norms.FP32)
    np.testing.assert_allclose(found, [loss], rtol=1e-6)
    np.testing.assert_allclose(dx[0], WEIGHT * np.array(gradient), rtol=1e-6)


@pytest.mark.parametrize("rows", [1, 255, 1031])
def test_the_mean_counts_the_rows_that_have_a_target(rows):
    target = np.arange(rows, dtype=np.int64)
    target[1::3] = IGNORED
    loss = np.where(target == IGNORED, 0, np.arange(rows)).astype(np.float32)
    weight, mean = cp.empty(1, np.float32), cp.empty(1, np.float32)
    kernel = norms.CHAPTER.kernel
    KernelCall(kernel("target_weight"), 1, 256, (cp.asarray(target), weight, rows, IGNORED))()
    KernelCall(kernel("mean_loss"), 1, 256, (cp.asarray(loss), weight, mean, rows))()
    assert mean.get()[0] == pytest.approx(loss[target != IGNORED].mean(dtype=np.float64), rel=1e-6)


@pytest.mark.parametrize("name", norms.LAYER_NORMS)
def test_a_row_with_an_infinity_or_nan_is_nan_and_no_other(name):
    work = norms._layer_norm(name)((4, 37))
    x = work.launches[0].args[0]
    x[1, 3], x[2, 36] = np.inf, np.nan
    work()
    assert np.isnan(work.output.get()).all(axis=1).tolist() == [False, True, True, False]
    assert np.isfinite(work.output.get()[[0, 3]]).all()


@KINDS
def test_the_gradients_of_a_layer_norm_have_the_same_bits_in_each_run(kind):
    work = norms._backward(True, kind)((150, 40))
    runs = []
    for _ in range(2):
        work.poison()
        work()
        runs.append(work.output.get().tobytes())
    assert runs[0] == runs[1]


ONES = (1 << 64) - 1


@pytest.mark.parametrize(
    "number, drawn",
    [
        (0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        (ONES, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ],
)
def test_philox_gives_the_numbers_that_its_authors_publish(number, drawn):
    """Known answers of Random123 for philox4x32 with ten rounds: all bits 0, and all bits 1."""
    philox = run_path(str(KERNELS / norms.CHAPTER.folder / "philox.py"))["philox"]
    counter = np.array([number], np.uint64)
    assert tuple(philox(number, counter, counter)[0]) == drawn


def test_rows_too_long_for_a_block_are_refused():
    with pytest.raises(norms.LessonError, match="too long"):
        norms.row_defines(1 << 16, norms.FP32)
    with pytest.raises(norms.LessonError, match="too long"):
        losses.fused_defines(1 << 19, norms.FP32)
