// The weights as factors, see prepared.cuh, before the first step. update.cu writes them in later
// steps. The gaps between the factors are zero before.
// grid (any), block 256, dynamic shared 0

#include "prepared.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads)
    prepare(const float *conv2, const float *weight3, Half *forward2, Half *turned2, Half *factors3)
{
    int first = blockIdx.x * kThreads + threadIdx.x;
    int threads = gridDim.x * kThreads;
    for (int i = first; i < kFilters2 * kFilters1 * kTaps; i += threads) {
        prepare_conv2(forward2, turned2, i, conv2[i]);
    }
    for (int i = first; i < kHidden * kInputs3 / 2; i += threads) {
        float2 two = reinterpret_cast<const float2 *>(weight3)[i];
        prepare_linear3(factors3, i * 2 / kInputs3, i * 2 % kInputs3, two);
    }
}
