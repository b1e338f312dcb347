// How often each digit occurs in n unsigned keys: counts[256 p + d] is how many keys have the value
// d in their byte p (0 is the lowest). `counts` is zero before the launch.
// The idea: all four passes of the sort get their counts from one reading, in shared memory.
// Limit: shared-memory atomics; where the keys share a digit, its counter.
// grid (any; a few for each SM), block (512), dynamic shared 0

constexpr int kThreads = 512;
constexpr int kDigits = 256;
constexpr int kPasses = 4;

extern "C" __global__ void __launch_bounds__(kThreads)
    digit_counts(const unsigned *keys, unsigned *counts, unsigned n)
{
    __shared__ unsigned own[kPasses * kDigits];
    for (int i = threadIdx.x; i < kPasses * kDigits; i += kThreads) {
        own[i] = 0;
    }
    __syncthreads(); // the counters are zero
    const size_t stride = (size_t)gridDim.x * kThreads * 4;
    for (size_t i = ((size_t)blockIdx.x * kThreads + threadIdx.x) * 4; i < n; i += stride) {
        uint4 four = {0, 0, 0, 0};
        const int left = n - i < 4 ? n - i : 4;
        if (left == 4) {
            four = *reinterpret_cast<const uint4 *>(keys + i);
        } else {
            four.x = keys[i];
            if (left > 1) four.y = keys[i + 1];
            if (left > 2) four.z = keys[i + 2];
        }
        const unsigned key[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
            for (int pass = 0; pass < kPasses; ++pass) {
                if (k < left) {
                    atomicAdd(&own[pass * kDigits + (key[k] >> 8 * pass & (kDigits - 1))], 1);
                }
            }
        }
    }
    __syncthreads(); // the block has counted
    for (int i = threadIdx.x; i < kPasses * kDigits; i += kThreads) {
        if (own[i] > 0) {
            atomicAdd(&counts[i], own[i]);
        }
    }
}
