"""The libraries that kernels are measured against: called as their headers say, and right."""

import ctypes

import numpy as np
import pytest

from course_utils import cp
from course_utils.benchmarks.cases.convolution import convolved
from course_utils.benchmarks.cases.matmul import OPERAND_TYPES
from course_utils.benchmarks.harness.float_bits import from_bf16, to_bf16, to_e4m3
from course_utils.benchmarks.libraries import (
    cub,
    cublas,
    cublas_library,
    cudnn,
    curand,
    lt_products,
)
from course_utils.checking import difference
from course_utils.devices.selection import ON_GPU
from course_utils.errors import LessonError


def test_the_structures_have_the_size_and_places_of_cublaslt_h():
    assert ctypes.sizeof(lt_products.Algorithm) == 64
    places = {
        name: getattr(lt_products.HeuristicResult, name).offset for name in ("state", "waves")
    }
    assert lt_products.HeuristicResult.workspace_bytes.offset == 64
    assert places == {"state": 72, "waves": 76}
    assert ctypes.sizeof(lt_products.HeuristicResult) == 96


def test_every_kind_of_factors_has_its_types_in_cublas():
    assert cublas_library.TYPES.keys() == {"fp32", *OPERAND_TYPES}


@pytest.mark.parametrize("transposed", [False, True], ids=["NN", "NT"])
def test_what_a_column_major_library_computes_is_our_product(transposed):
    m, n, k = 3, 4, 5
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k)), rng.standard_normal((n, k) if transposed else (k, n))
    of_b, of_a, of_c = lt_products.column_major(transposed, m, n, k)

    def seen(array, layout):
        rows, columns, leading = layout
        assert leading == rows  # no gaps: our matrices have none
        return array.reshape(-1).reshape((rows, columns), order="F")

    first, second = seen(b, of_b), seen(a, of_a)
    product = (first.T if transposed else first) @ second
    assert product.shape == of_c[:2]
    c = product.reshape(-1, order="F").reshape(m, n)
    np.testing.assert_allclose(c, a @ (b.T if transposed else b))


@pytest.mark.skipif(ON_GPU, reason="there is a GPU")
def test_without_a_gpu_there_is_nothing_to_compare_with():
    x = cp.ones(4, cp.float32)
    assert cublas.products("fp32", x, x, lambda: x) == {}
    assert cub.sum_fp32(x) == cub.histogram_of_bytes(x) == cub.scan_fp32(x) == {}
    assert cub.select_above(x, 0.0, 4) == cub.sort_keys(x) == cub.sort_pairs(x, x) == {}
    assert cublas_library.version() is None and curand.uniform_floats(x, 1) == {}
    images = cp.ones((1, 1, 4, 4), cp.float32)
    assert cudnn.convolutions(images, images, 0) == cudnn.fourier(images, images, 0) == {}


def test_a_transform_is_long_enough_and_has_small_prime_factors_only():
    lengths = [cudnn.whole_transform(n) for n in (1, 2, 7, 58, 62, 66, 1025)]
    assert lengths == [2, 2, 8, 60, 64, 72, 1080]


@pytest.mark.gpu
@pytest.mark.parametrize("kind", cublas_library.TYPES)
def test_cublas_and_the_best_of_cublaslt_compute_the_product(kind):
    m, n, k = 48, 80, 112
    shape = (k, n) if kind == "fp32" else (n, k)
    rng = np.random.default_rng(1)
    # Small whole numbers: every kind holds them and their products exactly.
    a, b = (cp.asarray(rng.integers(-3, 4, each)) for each in ((m, k), shape))
    expected = a @ (b if kind == "fp32" else b.T)
    dtypes = {"int8": (cp.int8, cp.int32), "fp16": (cp.float16, cp.float32)}
    factor, result = dtypes.get(kind, (cp.float32, cp.float32))
    in_bits = {"bf16": to_bf16, "fp8": to_e4m3}
    if kind in in_bits:
        x, y = (in_bits[kind](each.astype(cp.float32)) for each in (a, b))
        found = cublas.products(kind, x, y, lambda: cp.empty((m, n), cp.uint16))
    else:
        x, y = a.astype(factor), b.astype(factor)
        found = cublas.products(kind, x, y, lambda: cp.empty((m, n), result))
    assert len(found) == (1 if kind == "fp8" else 2)
    for run in found.values():
        c = run()
        if kind in in_bits:
            c = from_bf16(c)
        # A result in bf16 has 8 digits.
        rtol = 2**-8 if kind in in_bits else 0.0
        assert not difference(c, expected.astype(cp.float64), rtol, 0.0)


@pytest.mark.skipif(ON_GPU, reason="there is a GPU")
def test_without_a_gpu_there_is_no_cublas_to_call():
    with pytest.raises(LessonError, match="runs on a GPU"):
        lt_products.LtProduct("fp32", 4, 4, 4)


@pytest.mark.gpu
def test_an_epilogue_adds_the_bias_of_each_column_and_remembers_what_a_relu_let_pass():
    m, n, k = 48, 128, 64
    rng = np.random.default_rng(2)
    a, b, bias = (cp.asarray(rng.integers(-3, 4, each), cp.float16) for each in ((m, k), (n, k), n))
    bias, c = bias.astype(cp.float32), cp.empty((m, n), cp.float32)
    before = a.astype(cp.float32) @ b.astype(cp.float32).T
    for epilogue, wanted in (("bias", before + bias), ("relu bias", cp.maximum(before + bias, 0))):
        product = lt_products.LtProduct(
            "fp16", m, n, k, transposed=True, epilogue=epilogue, bias=bias
        )
        for found in product.runnable(a, b, c):
            product.run(found, a, b, c)
            assert bool((c == wanted).all()), found.configuration()


@pytest.mark.gpu
def test_the_best_with_a_bias_adds_it_before_gelu():
    m, n, k = 48, 128, 64
    rng = np.random.default_rng(2)
    a, b, bias = (to_bf16(cp.asarray(rng.random(s, np.float32))) for s in ((m, k), (n, k), n))
    (run,) = cublas.with_bias(
        "bf16", "gelu bias", a, b, bias, lambda: cp.empty((m, n), cp.uint16)
    ).values()
    wanted = from_bf16(a) @ from_bf16(b).T + from_bf16(bias)  # so large that GELU leaves it
    assert not difference(from_bf16(run()), wanted.astype(cp.float64), 2**-7, 0.0)


@pytest.mark.gpu
def test_the_list_keeps_to_the_workspace_that_it_is_given():
    product = lt_products.LtProduct("fp16", 256, 256, 16384, transposed=True)
    without = product.algorithms(workspace_bytes=0)
    assert without and all(found.workspace_bytes == 0 for found in without)
    assert any(found.workspace_bytes for found in product.algorithms())


@pytest.mark.gpu
def test_a_status_is_told_in_words():
    with pytest.raises(LessonError, match="unsupported value .*CUBLAS_STATUS_INVALID_VALUE"):
        cublas_library.checked(7, "a call")


@pytest.mark.gpu
@pytest.mark.skipif(not cub.available(), reason="needs nvcc")
def test_cub_sums_and_counts():
    rng = np.random.default_rng(2)
    x = cp.asarray(rng.integers(0, 9, 10007).astype(np.float32))
    pixels = cp.asarray(rng.integers(0, 256, 10007).astype(np.uint8))
    ((name, total),) = cub.sum_fp32(x).items()
    assert name == "CUB DeviceReduce::Sum" and float(total()[0]) == float(x.sum())
    (counts,) = cub.histogram_of_bytes(pixels).values()
    for _ in range(2):  # the second call sets its counts back itself
        assert (counts() == cp.bincount(pixels, minlength=256)).all()


@pytest.mark.gpu
@pytest.mark.skipif(not cub.available(), reason="needs nvcc")
def test_cub_scans_selects_and_sorts():
    rng = np.random.default_rng(3)
    x = cp.asarray(rng.integers(0, 9, 10007).astype(np.float32))
    keys, values = cp.asarray(rng.permutation(10007).astype(np.uint32)), cp.arange(10007)
    kept = int((x > 4).sum())
    (scan,), (select,) = cub.scan_fp32(x).values(), cub.select_above(x, 4.0, kept).values()
    assert (scan() == cp.cumsum(x)).all() and (select() == x[x > 4]).all()
    (sort,) = cub.sort_keys(keys).values()
    (pairs,) = cub.sort_pairs(keys, values.astype(cp.uint32)).values()
    assert (sort() == cp.arange(10007)).all() and (keys[pairs()] == cp.arange(10007)).all()


@pytest.mark.gpu
@pytest.mark.parametrize("side", [1, 3, 5])
def test_cudnn_in_both_layouts_and_fourier_transforms_compute_the_convolution(side):
    rng = np.random.default_rng(2)
    # Small whole numbers: every sum of their products is exact in fp32.
    x, w = (
        cp.asarray(rng.integers(-3, 4, shape).astype(np.float32))
        for shape in ((2, 5, 9, 11), (4, 5, side, side))
    )
    expected = convolved(x, w, side // 2)
    for name, run in cudnn.convolutions(x, w, side // 2).items():
        within = 1e-3 if "any engine" in name else 0.0  # some transform
        assert not difference(run(), expected, 0.0, within)
    (transformed,) = cudnn.fourier(x, w, side // 2).values()
    assert not difference(transformed(), expected, 0.0, 1e-3)
