// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// A block a row, columns up to 4096.
// grid (rows), block (256), dynamic shared 0

constexpr int kThreads = 256;
constexpr int kMostColumns = 4096;
constexpr unsigned kWholeWarp = 0xffffffff;

// The largest value of the block's threads, or their sum, in each of them. All of them call it.
template <bool kLargest>
__device__ float of_block(float value)
{
    __shared__ float of_warp[kThreads / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        float other = __shfl_xor_sync(kWholeWarp, value, distance);
        value = kLargest ? fmaxf(value, other) : value + other;
    }
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads(); // every warp's is there
    value = of_warp[0];
    for (int warp = 1; warp < kThreads / 32; ++warp) {
        value = kLargest ? fmaxf(value, of_warp[warp]) : value + of_warp[warp];
    }
    return value;
}

extern "C" __global__ void kept_row(const float *x, float *y, int columns)
{
    const float *row = x + (long long)blockIdx.x * columns;
    float *out = y + (long long)blockIdx.x * columns;
    float largest = -3.4028235e38f; // the least finite float
    float sum = 0.0f;
    // TODO: read each number from global memory once, and work out each exponential once
    // STARTER
    //| for (int i = threadIdx.x; i < columns; i += kThreads) {
    //|     largest = fmaxf(largest, row[i]);
    //| }
    //| largest = of_block<true>(largest);
    //| for (int i = threadIdx.x; i < columns; i += kThreads) {
    //|     sum += expf(row[i] - largest);
    //| }
    //| sum = of_block<false>(sum);
    //| for (int i = threadIdx.x; i < columns; i += kThreads) {
    //|     out[i] = expf(row[i] - largest) / sum;
    //| }
    // SOLUTION
    __shared__ float kept[kMostColumns];
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        kept[i] = row[i];
        largest = fmaxf(largest, kept[i]);
    }
    largest = of_block<true>(largest);
    for (int i = threadIdx.x; i < columns; i += kThreads) { // those that it has stored itself
        kept[i] = expf(kept[i] - largest);
        sum += kept[i];
    }
    sum = of_block<false>(sum);
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        out[i] = kept[i] / sum;
    }
    // END
}
