// Counts how often each of the 256 values occurs among n bytes: counts[pixels[i]] += 1. The counts
// are zero before the launch.
// Adds to histogram_shared.cu: the threads of a warp that hold equal bytes find each other first
// (__match_any_sync), and one of them adds for all: no two atomics of a warp meet in one word.
// Limit: finding each other. It pays where many bytes are equal and costs where few are.
// grid (any; a few for each SM), block (256), dynamic shared 0

constexpr int kValues = 256;
constexpr int kWarp = 32;
constexpr unsigned kAll = 0xffffffff;

extern "C" __global__ void histogram_aggregated(const unsigned char *pixels, unsigned *counts,
                                                int n)
{
    __shared__ unsigned mine[kValues];
    for (int value = threadIdx.x; value < kValues; value += blockDim.x) {
        mine[value] = 0;
    }
    __syncthreads(); // all counts are zero

    int lane = threadIdx.x % kWarp;
    int stride = gridDim.x * blockDim.x;
    int first_of_warp = blockIdx.x * blockDim.x + threadIdx.x - lane;
    for (int start = first_of_warp; start < n; start += stride) { // the same for a whole warp
        int i = start + lane;
        int value = i < n ? pixels[i] : kValues; // past the end: a value of their own
        unsigned equal = __match_any_sync(kAll, value);
        int leader = __ffs(equal) - 1;
        if (lane == leader && value < kValues) {
            atomicAdd(&mine[value], __popc(equal));
        }
    }
    __syncthreads(); // everybody has counted

    for (int value = threadIdx.x; value < kValues; value += blockDim.x) {
        if (mine[value] > 0) {
            atomicAdd(&counts[value], mine[value]);
        }
    }
}
