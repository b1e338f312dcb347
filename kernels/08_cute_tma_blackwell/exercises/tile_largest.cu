// largest[p][q] = the largest magnitude in tile (p, q) of x: 32 x 64 elements, or as many as
// exist. x has rows x columns finite floats. It is a part of a wider matrix, so its rows begin
// `pitch` elements apart, at least `columns`, and the elements between are not x's. largest is
// row-major, one number a tile. rows * pitch stays below 2^31. The kernel is
//     extern "C" __global__ void tile_largest(const float *x, float *largest, int rows,
//                                             int columns, int pitch)
// grid (ceil(columns / 64), ceil(rows / 32)), block (256), dynamic shared 0

// TODO: the whole kernel, with <cute/tensor.hpp>. A warp loads 32 neighbours of a row at a time
// SOLUTION
#include <cute/tensor.hpp>

using namespace cute;

extern "C" __global__ void tile_largest(const float *x, float *largest, int rows, int columns,
                                        int pitch)
{
    __shared__ float of_warps[8];
    const auto shape = make_shape(rows, columns);
    const auto mine = [](auto const &whole) {
        Tensor tile = local_tile(whole, Shape<_32, _64>{}, make_coord(blockIdx.y, blockIdx.x));
        return local_partition(tile, Layout<Shape<_8, _32>, Stride<_32, _1>>{}, threadIdx.x);
    };
    Tensor from = mine(make_tensor(make_gmem_ptr(x), shape, make_stride(pitch, _1{})));
    Tensor place = mine(make_identity_tensor(shape));
    float most = 0.0f;
    for (int v = 0; v < size(place); ++v) {
        if (elem_less(place(v), shape)) {
            most = fmaxf(most, fabsf(from(v)));
        }
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, distance));
    }
    if (threadIdx.x % 32 == 0) {
        of_warps[threadIdx.x / 32] = most;
    }
    __syncthreads(); // all warps have written
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < 8; ++warp) {
            most = fmaxf(most, of_warps[warp]);
        }
        largest[blockIdx.y * gridDim.x + blockIdx.x] = most;
    }
}
// END
