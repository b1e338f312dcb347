// Counts how often each of the 256 values occurs among n bytes: counts[pixels[i]] += 1. The counts
// are zero before the launch. The bytes begin at a multiple of 16; n is any.
// Adds to histogram_vector.cu: a histogram for each lane. Lane l counts in column l of `mine`, which
// lies in bank l, so that no two lanes of a warp ever meet in a bank or in a counter: the time no
// longer depends on the data. A block of 1024 threads shares the 32 columns, as warps may meet.
// Limit: memory bandwidth.
// grid (any; a few for each SM), block (1024), dynamic shared 0

constexpr int kValues = 256;
constexpr int kLanes = 32;
constexpr int kBytes = sizeof(uint4);
constexpr int kThreads = 1024;
constexpr int kBlocks = 2; // of an SM: few enough registers that all of its 2048 threads fit

extern "C" __global__ void __launch_bounds__(kThreads, kBlocks)
    histogram_lanes(const unsigned char *pixels, unsigned *counts, int n)
{
    __shared__ unsigned mine[kValues][kLanes];
    int lane = threadIdx.x % kLanes;
    for (int value = threadIdx.x / kLanes; value < kValues; value += blockDim.x / kLanes) {
        mine[value][lane] = 0;
    }
    __syncthreads(); // all counts are zero

    const uint4 *groups = reinterpret_cast<const uint4 *>(pixels);
    unsigned stride = gridDim.x * blockDim.x;
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned i = first; i < n / kBytes; i += stride) {
        uint4 group = groups[i];
        for (unsigned word : {group.x, group.y, group.z, group.w}) {
            atomicAdd(&mine[word & 255][lane], 1);
            atomicAdd(&mine[word >> 8 & 255][lane], 1);
            atomicAdd(&mine[word >> 16 & 255][lane], 1);
            atomicAdd(&mine[word >> 24][lane], 1);
        }
    }
    for (unsigned i = n / kBytes * kBytes + first; i < n; i += stride) { // fill no group
        atomicAdd(&mine[pixels[i]][lane], 1);
    }
    __syncthreads(); // everybody has counted

    for (int value = threadIdx.x; value < kValues; value += blockDim.x) {
        unsigned sum = 0;
        for (int i = 0; i < kLanes; ++i) { // each lane starts in its own bank
            sum += mine[value][(lane + i) % kLanes];
        }
        if (sum > 0) {
            atomicAdd(&counts[value], sum);
        }
    }
}
