"""How tests launch the kernels of chapter 07 that no benchmark measures, against float64."""

from runpy import run_path

import numpy as np
from launchers import Chapter, draw, work

from course_utils import cp
from course_utils.benchmarks.case import blocks
from course_utils.benchmarks.cases.pytorch_extensions.normalisation import moments_of
from course_utils.paths import KERNELS

CHAPTER = Chapter("07_pytorch_extensions")
kernel = CHAPTER.kernel


# --- 01: activation ---


# --- 02: micrograd ---


# --- 03: normalisation ---

kept = run_path(str(KERNELS / CHAPTER.folder / "philox.py"))["kept"]
SEED = 0x123456789ABC  # both halves of the key


@CHAPTER.launch("philox_dropout", sizes=[(1, 1), (31, 4), (4099, 7), (1024, 256)])
def philox_dropout(name, n, streams):
    x, y = draw(n), cp.empty(n, cp.float32)
    x[::7] = np.resize(np.float32([np.inf, np.nan, -np.inf]), len(x[::7]))
    factors = np.where(kept(n, 0.7, SEED, 12, streams), np.float32(1) / np.float32(0.7), 0)
    with np.errstate(invalid="ignore"):  # what is dropped of an infinity is no number
        expected = x.astype(np.float64) * factors
    arguments = cp.asarray(x), y, 0.7, SEED, 12, streams, n
    return work(kernel(name), blocks(n, 1024), 256, arguments, y, expected, rtol=1e-6)


@CHAPTER.launch("dropout_add_layer_norm", sizes=[(1, 4), (3, 36), (2, 1028)])
def dropout_add_layer_norm(name, rows, columns):
    x, residual, (gamma, beta) = draw((rows, columns)), draw((rows, columns), 1), draw((2, columns))
    both, kept_back = cp.empty((2, rows, columns), cp.float32), cp.empty((2, rows), cp.float32)
    mask = kept(x.size, 0.9, SEED, 8).reshape(x.shape)
    z = residual + np.where(mask, x.astype(np.float64) / 0.9, 0)
    mean, rstd = moments_of(z)
    expected = np.stack([z, (z - mean) * rstd * gamma + beta])
    arrays = map(cp.asarray, (x, residual, gamma, beta))
    arguments = *arrays, *both, *kept_back, 0.9, SEED, 8, columns, 1e-5
    return work(kernel(name), rows, 256, arguments, both, expected, rtol=1e-5, atol=1e-5)


# --- 04: attention ---
