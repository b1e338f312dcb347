// The variance of each row of a matrix of rows x columns floats: the mean of the squares of what
// its elements differ from their mean. One block takes one row, in two passes.
// Takes any rows, and columns < 2^31 - 128.
// grid (rows), block (128), dynamic shared 0

constexpr int kWarpSize = 32;
constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarpSize;
constexpr unsigned kWholeWarp = 0xffffffff;

// The sum over the block, in every thread. of_warp is shared memory for kWarps floats.
__device__ float sum_for_all(float value, float *of_warp)
{
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(kWholeWarp, value, distance);
    }
    if (threadIdx.x % kWarpSize == 0) {
        of_warp[threadIdx.x / kWarpSize] = value;
    }
    __syncthreads(); // every warp's sum is there
    float sum = 0.0f;
    for (int warp = 0; warp < kWarps; ++warp) {
        sum += of_warp[warp];
    }
    // BUG
    //| return sum;
    // SOLUTION
    __syncthreads(); // no thread needs these sums any more
    return sum;
    // END
}

extern "C" __global__ void row_variance(const float *x, float *variance, int columns)
{
    __shared__ float of_warp[kWarps];
    const float *row = x + (size_t)blockIdx.x * columns;

    float sum = 0.0f;
    for (int column = threadIdx.x; column < columns; column += kThreads) {
        sum += row[column];
    }
    const float mean = sum_for_all(sum, of_warp) / columns;

    float squares = 0.0f;
    for (int column = threadIdx.x; column < columns; column += kThreads) {
        squares += (row[column] - mean) * (row[column] - mean);
    }
    squares = sum_for_all(squares, of_warp);
    if (threadIdx.x == 0) {
        variance[blockIdx.x] = squares / columns;
    }
}
