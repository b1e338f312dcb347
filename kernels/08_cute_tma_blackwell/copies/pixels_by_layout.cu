// pixels[3 i + c] = planes[c n + i]: a picture of n pixels, its three fp32 planes one after the other,
// becomes one of pixels of three neighbours. n is a multiple of 256; both begin at a multiple of 16
// bytes.
// Idea: a copy atom names the instruction that `copy` must use, here cp.async of 16 bytes. The shared
// tile has two layouts: by planes, as it arrives, and by pixels, as it leaves.
// Limit: memory bandwidth.
// grid (n / 256), block (192), dynamic shared 0
#include <cute/tensor.hpp>

using namespace cute;

extern "C" __global__ void pixels_by_layout(const float* planes, float* pixels, int n)
{
    __shared__ alignas(16) float room[3 * 256];
    Tensor by_planes = make_tensor(make_smem_ptr(room), Layout<Shape<_256, _3>>{});
    Tensor by_pixels = make_tensor(make_smem_ptr(room), Layout<Shape<_3, _256>, Stride<_256, _1>>{});
    Tensor picture = make_tensor(make_gmem_ptr(planes), make_shape(n, _3{}), make_stride(_1{}, n));
    Tensor tile = local_tile(picture, Shape<_256, _3>{}, make_coord(blockIdx.x, _0{}));

    using Atom = Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, float>;
    const auto piece = Shape<_4, _1>{};
    copy(Atom{}, local_tile(tile, piece, threadIdx.x), local_tile(by_planes, piece, threadIdx.x));
    cp_async_fence();
    cp_async_wait<0>();
    __syncthreads();

    Tensor four = make_tensor<float>(Layout<_4>{});
    for (int k = 0; k < size(four); ++k) four(k) = by_pixels(4 * threadIdx.x + k);
    Tensor to = make_tensor(make_gmem_ptr(pixels + 768 * blockIdx.x), Layout<_768>{});
    copy(four, local_tile(to, Layout<_4>{}, threadIdx.x));
}
