// The gradient of softmax: dx = y (dy - sum of dy y over the row), rows x columns of fp32; y is
// what softmax gave. A block a row, columns up to 2048.
// grid (rows), block (256), dynamic shared 0

constexpr int kThreads = 256;
constexpr int kEach = 8; // elements of a thread
constexpr unsigned kWholeWarp = 0xffffffff;

// The sum over the block's threads, in each of them. All of them call it, once.
__device__ float sum_of_block(float value)
{
    __shared__ float of_warp[kThreads / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(kWholeWarp, value, distance);
    }
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads(); // every warp's is there
    value = of_warp[0];
    for (int warp = 1; warp < kThreads / 32; ++warp) {
        value += of_warp[warp];
    }
    return value;
}

extern "C" __global__ void softmax_gradient(const float *y, const float *dy, float *dx, int columns)
{
    long long start = (long long)blockIdx.x * columns;
    float outputs[kEach], gradients[kEach]; // the thread's part of the row of y and of dy
    // TODO: load the thread's part once, add up the products, and store dx. An index into these
    // arrays must be known to the compiler: unroll the loops, or they go to local memory
    // SOLUTION
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        int i = k * kThreads + threadIdx.x;
        outputs[k] = i < columns ? y[start + i] : 0.0f;
        gradients[k] = i < columns ? dy[start + i] : 0.0f;
        sum += outputs[k] * gradients[k];
    }
    sum = sum_of_block(sum);
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
        int i = k * kThreads + threadIdx.x;
        if (i < columns) {
            dx[start + i] = outputs[k] * (gradients[k] - sum);
        }
    }
    // END
}
