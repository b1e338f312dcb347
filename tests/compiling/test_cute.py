"""CuTe's headers, unchanged, on either device. Left out where the extra ``cute`` is missing.

The atoms of the newest tensor cores are tested in ``emulator/test_tcgen05_cute.py``.
"""

import numpy as np
import pytest

from course_utils import cp, load, sanitize
from course_utils.compiling.headers import cute_header_paths

pytestmark = pytest.mark.skipif(
    not cute_header_paths(), reason="needs the extra cute (pip install -e .[cpu,cute])"
)

# C (M, N) = A (M, K) times B (N, K) transposed; a block computes 32 × 32 of C. Each tile is copied
# with cp.async into swizzled shared memory and multiplied with mma.sync; ldmatrix reads A, a loop
# reads B, which takes the compiler a third less time than ldmatrix for both.
PRODUCT = r"""
#include <cute/tensor.hpp>
using namespace cute;

extern "C" __global__ void __launch_bounds__(128)
product(const half_t *a, const half_t *b, float *c, int m, int n, int k) {
    using Swizzled = decltype(composition(Swizzle<2, 3, 3>{},
                                          Layout<Shape<_8, _32>, Stride<_32, _1>>{}));
    auto tile = Shape<_32, _32>{};  // of A, of B and of C: one type is made for all of them
    auto layout = tile_to_shape(Swizzled{}, tile);
    __shared__ __align__(128) half_t shared_a[cosize_v<decltype(layout)>];
    __shared__ __align__(128) half_t shared_b[cosize_v<decltype(layout)>];

    Tensor all_a = make_tensor(make_gmem_ptr(a), make_shape(m, k), make_stride(k, _1{}));
    Tensor all_b = make_tensor(make_gmem_ptr(b), make_shape(n, k), make_stride(k, _1{}));
    Tensor all_c = make_tensor(make_gmem_ptr(c), make_shape(m, n), make_stride(n, _1{}));
    Tensor ga = local_tile(all_a, tile, make_coord(blockIdx.x, _));
    Tensor gb = local_tile(all_b, tile, make_coord(blockIdx.y, _));
    Tensor gc = local_tile(all_c, tile, make_coord(blockIdx.x, blockIdx.y));
    Tensor sa = make_tensor(make_smem_ptr(shared_a), layout);
    Tensor sb = make_tensor(make_smem_ptr(shared_b), layout);

    TiledCopy fill = make_tiled_copy(
        Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, half_t>{},
        Layout<Shape<_32, _4>, Stride<_4, _1>>{}, Layout<Shape<_1, _8>>{});
    auto filler = fill.get_slice(threadIdx.x);
    Tensor from_a = filler.partition_S(ga);
    Tensor from_b = filler.partition_S(gb);
    Tensor to_a = filler.partition_D(sa);
    Tensor to_b = filler.partition_D(sb);

    TiledMMA mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2>>{},
                                  Tile<_32, _32, _16>{});
    auto mine = mma.get_slice(threadIdx.x);
    Tensor part_c = mine.partition_C(gc);
    Tensor ra = mine.partition_fragment_A(sa);
    Tensor rb = mine.partition_fragment_B(sb);
    Tensor rc = mine.make_fragment_C(part_c);
    clear(rc);
    auto load_a = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, mma);
    Tensor pb = mine.partition_B(sb);
    auto loader_a = load_a.get_slice(threadIdx.x);

    for (int t = 0; t < size<2>(ga); ++t) {
        copy(fill, from_a(_, _, _, t), to_a);
        copy(fill, from_b(_, _, _, t), to_b);
        cp_async_fence();
        cp_async_wait<0>();
        __syncthreads();
        copy(load_a, loader_a.partition_S(sa), loader_a.retile_D(ra));
        for (int i = 0; i < size(rb); ++i) rb(i) = pb(i);
        cute::gemm(mma, ra, rb, rc);
        __syncthreads();
    }
    for (int i = 0; i < size(rc); ++i) part_c(i) = rc(i);
}
"""


@pytest.fixture(scope="module")
def product():
    return load(source=PRODUCT, filename="product.cu").kernel


def operands(m, n, k):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((rows, k)).astype(np.float16) for rows in (m, n))
    return a, b, a.astype(np.float64) @ b.astype(np.float64).T


def test_a_tiled_product_in_cute_agrees_with_float64(product):
    m, n, k = 128, 96, 64
    a, b, expected = operands(m, n, k)
    c = cp.zeros((m, n), cp.float32)
    product((m // 32, n // 32), 128, (cp.array(a), cp.array(b), c, m, n, k))
    np.testing.assert_allclose(cp.asnumpy(c), expected, rtol=1e-5, atol=1e-4)


def test_the_sanitizer_finds_nothing_in_it(product):
    m, n, k = 32, 32, 64
    a, b, _ = operands(m, n, k)
    args = (cp.array(a), cp.array(b), cp.zeros((m, n), cp.float32), m, n, k)
    report = sanitize(product, (1, 1), 128, args)
    assert report.clean, str(report)
