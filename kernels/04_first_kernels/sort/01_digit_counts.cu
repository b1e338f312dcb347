// How often each digit occurs in n unsigned keys: counts[256 p + d] is how many keys have the value
// d in their byte p (0 is the lowest). `counts` is zero before the launch. The keys begin at a
// multiple of 16 bytes.
// The idea: all four passes of the sort get their counts from one reading, in shared memory, where
// each counter has COPIES copies. With 32, a lane's counters are all in its own bank.
// Limit: memory bandwidth with 32 copies, bank conflicts of the atomics with fewer.
// grid (any; a few for each SM), block (1024), dynamic shared 4096 * COPIES

#ifndef COPIES
#define COPIES 8 // a power of 2; 32 take 128 KB
#endif

constexpr int kThreads = 1024;
constexpr int kDigits = 256;
constexpr int kCounters = 4 * kDigits; // of four passes
constexpr int kFours = 4;              // loads of four keys that a thread has under way

extern "C" __global__ void __launch_bounds__(kThreads)
    digit_counts(const unsigned *keys, unsigned *counts, unsigned n)
{
    extern __shared__ unsigned copies[];
    for (int i = threadIdx.x; i < kCounters * COPIES; i += kThreads) {
        copies[i] = 0;
    }
    __syncthreads(); // the counters are zero
    unsigned *own = copies + threadIdx.x % COPIES;
    const auto add = [own](unsigned key) {
#pragma unroll
        for (int pass = 0; pass < 4; ++pass) {
            atomicAdd(&own[(pass * kDigits + (key >> 8 * pass & (kDigits - 1))) * COPIES], 1);
        }
    };
    const uint4 *fours = reinterpret_cast<const uint4 *>(keys);
    const unsigned stride = gridDim.x * kThreads;
    for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n / 4; i += kFours * stride) {
        uint4 four[kFours];
#pragma unroll
        for (int k = 0; k < kFours; ++k) {
            if (i + k * stride < n / 4) {
                four[k] = fours[i + k * stride];
            }
        }
#pragma unroll
        for (int k = 0; k < kFours; ++k) {
            if (i + k * stride < n / 4) {
                add(four[k].x);
                add(four[k].y);
                add(four[k].z);
                add(four[k].w);
            }
        }
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4) { // up to three are left
        add(keys[n - 1 - threadIdx.x]);
    }
    __syncthreads(); // the block has counted
    unsigned sum = 0;
    for (int k = 0; k < COPIES; ++k) { // each lane begins with another copy, in another bank
        sum += copies[threadIdx.x * COPIES + (k + threadIdx.x) % COPIES];
    }
    if (sum > 0) {
        atomicAdd(&counts[threadIdx.x], sum);
    }
}
