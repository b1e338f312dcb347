// Counts how often each digit 0 to 9 occurs among n digits: counts[digits[i]] += 1. The counts are
// zero before the launch. Takes any n.
// grid (4), or any other, block (256), dynamic shared 0

constexpr int kDigits = 10;

extern "C" __global__ void count_digits(const int* digits, int* counts, int n)
{
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;
    // TODO: count into ten numbers of the block's own, in shared memory (which begins
    // uninitialised), and add those to counts once, at the end; where must the block wait?
    // STARTER
    //| for (int i = first; i < n; i += stride) {
    //|     atomicAdd(&counts[digits[i]], 1);
    //| }
    // SOLUTION
    __shared__ int mine[kDigits];
    if (threadIdx.x < kDigits) {
        mine[threadIdx.x] = 0;
    }
    __syncthreads();  // all ten are zero

    for (int i = first; i < n; i += stride) {
        atomicAdd(&mine[digits[i]], 1);
    }
    __syncthreads();  // all have counted

    if (threadIdx.x < kDigits) {
        atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
    }
    // END
}
