// pixels[3 i + c] = planes[c n + i]: a picture of n pixels, its three fp32 planes one after the other,
// becomes one of pixels of three neighbours. n is a multiple of 256; both begin at a multiple of 16
// bytes.
// The rung to compare with: cp.async from PTX. 16 bytes a thread go from global to shared memory past
// its registers; the thread waits for its own, the block at the barrier for everybody's.
// Limit: memory bandwidth.
// grid (n / 256), block (192), dynamic shared 0

#include "ptx.cuh"

constexpr int kPixels = 256; // of a block
constexpr int kPlanes = 3;
constexpr int kGroups = kPixels / 4; // of four floats, in a plane of the tile

extern "C" __global__ void pixels_by_hand(const float* planes, float* pixels, int n)
{
    __shared__ alignas(16) float tile[kPlanes * kPixels];
    const int thread = threadIdx.x;
    const int plane = thread / kGroups, group = thread % kGroups;
    const int from = plane * n + blockIdx.x * kPixels + 4 * group;
    cp_async_16(shared_address(&tile[4 * thread]), &planes[from]);
    cp_async_commit();
#ifndef NO_WAIT
    cp_async_wait<0>();
#endif
    __syncthreads();

    float four[4];
    for (int k = 0; k < 4; ++k) {
        const int number = 4 * thread + k;
        four[k] = tile[number % kPlanes * kPixels + number / kPlanes];
    }
    float4* to = reinterpret_cast<float4*>(&pixels[blockIdx.x * kPlanes * kPixels]);
    to[thread] = make_float4(four[0], four[1], four[2], four[3]);
}
