// Counts how often each of the 256 values occurs among n bytes: counts[pixels[i]] += 1. The counts
// are zero before the launch.
// Adds to histogram_global.cu: the histogram is privatised. Each block counts in shared memory and
// adds its counts to the result once, at its end. A thread takes many bytes, a whole grid apart,
// so that there are few blocks and few such ends.
// Limit: a load, an address and an atomic for each byte.
// grid (any; a few for each SM), block (256), dynamic shared 0

constexpr int kValues = 256;

extern "C" __global__ void histogram_shared(const unsigned char *pixels, unsigned *counts, int n)
{
    __shared__ unsigned mine[kValues];
    for (int value = threadIdx.x; value < kValues; value += blockDim.x) {
        mine[value] = 0;
    }
    __syncthreads(); // all counts are zero

    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        atomicAdd(&mine[pixels[i]], 1);
    }
    __syncthreads(); // everybody has counted

    for (int value = threadIdx.x; value < kValues; value += blockDim.x) {
        if (mine[value] > 0) {
            atomicAdd(&counts[value], mine[value]);
        }
    }
}
