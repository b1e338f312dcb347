// planes[c n + i] = pixels[3 i + c]: a picture of n pixels, each of three neighbours, becomes three
// fp32 planes. n is a multiple of 256; both begin at a multiple of 16 bytes.
// grid (n / 256), block (192), dynamic shared 0
#include <cute/arch/copy_sm80.hpp>
#include <cute/layout.hpp>

using namespace cute;

extern "C" __global__ void planes_of_pixels(const float* pixels, float* planes, int n)
{
    __shared__ alignas(16) float tile[3 * 256];
    const float* from = pixels + 768 * blockIdx.x; // 768 floats for this block
    // TODO: fetch 16 bytes a thread into the tile by SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>::copy, wait,
    // and store 16 bytes a thread into the planes. A layout of (pixel, plane) finds the numbers
    // SOLUTION
    const int t = threadIdx.x;
    SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>::copy(reinterpret_cast<const uint128_t*>(from)[t],
                                               reinterpret_cast<uint128_t*>(tile)[t]);
    cp_async_fence();
    cp_async_wait<0>();
    __syncthreads();

    const auto stored = Layout<Shape<_256, _3>, Stride<_3, _1>>{};
    const int pixel = t % 64 * 4, plane = t / 64;
    float4* to = reinterpret_cast<float4*>(planes + plane * n + 256 * blockIdx.x + pixel);
    *to = make_float4(tile[stored(pixel, plane)], tile[stored(pixel + 1, plane)],
                      tile[stored(pixel + 2, plane)], tile[stored(pixel + 3, plane)]);
    // END
}
