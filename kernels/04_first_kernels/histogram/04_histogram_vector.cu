// Counts how often each of the 256 values occurs among n bytes: counts[pixels[i]] += 1. The counts
// are zero before the launch. The bytes begin at a multiple of 16; n is any.
// Adds to histogram_shared.cu: a load brings sixteen bytes instead of one, so that a warp asks for
// memory sixteen times less often and has 512 bytes in flight each time.
// Limit: atomics in shared memory: different counts in one bank conflict. (On an H200 equal ones do
// not: with all bytes equal it is faster than with many values.)
// grid (any; a few for each SM), block (256), dynamic shared 0

constexpr int kValues = 256;
constexpr int kBytes = sizeof(uint4);

extern "C" __global__ void histogram_vector(const unsigned char *pixels, unsigned *counts, int n)
{
    __shared__ unsigned mine[kValues];
    for (int value = threadIdx.x; value < kValues; value += blockDim.x) {
        mine[value] = 0;
    }
    __syncthreads(); // all counts are zero

    const uint4 *groups = reinterpret_cast<const uint4 *>(pixels);
    int stride = gridDim.x * blockDim.x;
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n / kBytes; i += stride) {
        uint4 group = groups[i];
        for (unsigned word : {group.x, group.y, group.z, group.w}) {
            atomicAdd(&mine[word & 255], 1);
            atomicAdd(&mine[word >> 8 & 255], 1);
            atomicAdd(&mine[word >> 16 & 255], 1);
            atomicAdd(&mine[word >> 24], 1);
        }
    }
    int rest = n / kBytes * kBytes + first; // the last few bytes fill no group
    if (rest < n) {
        atomicAdd(&mine[pixels[rest]], 1);
    }
    __syncthreads(); // everybody has counted

    for (int value = threadIdx.x; value < kValues; value += blockDim.x) {
        if (mine[value] > 0) {
            atomicAdd(&counts[value], mine[value]);
        }
    }
}
