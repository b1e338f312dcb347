// Counts how often each of the 256 values occurs among n bytes: counts[pixels[i]] += 1. The counts
// are zero before the launch.
// Adds to histogram_global.cu: the threads of a warp that hold equal bytes find each other first
// (__match_any_sync), and one of them adds for all: no two atomics of a warp meet in one word.
// Limit: __match_any_sync, and the atomics that are left. It pays where many bytes are equal.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kValues = 256;
constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void histogram_aggregated(const unsigned char *pixels, unsigned *counts,
                                                int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = i < n ? pixels[i] : kValues;              // past the end: a value of their own
    unsigned equal = __match_any_sync(kWholeWarp, value); // a bit for each thread with this value
    int leader = __ffs(equal) - 1;
    if (threadIdx.x % kWarpSize == leader && value < kValues) {
        atomicAdd(&counts[value], __popc(equal));
    }
}
