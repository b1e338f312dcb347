// scales[r] = the largest magnitude in row r, or 1e-30 where that is larger, and y = x / scales[r],
// for rows x columns floats that are stored by rows. Takes any rows and columns.
// grid (rows), block (256), dynamic shared 0

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

extern "C" __global__ void scale_to_one(const float* x, float* y, float* scales, int columns)
{
    // TODO: write it
    // SOLUTION
    __shared__ float of_warp[kWarps];
    const int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * columns;
    float* out = y + (size_t)blockIdx.x * columns;

    float largest = 1e-30f;
    for (int column = t; column < columns; column += kThreads) {
        largest = fmaxf(largest, fabsf(row[column]));
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, distance));
    }
    if (t % 32 == 0) {
        of_warp[t / 32] = largest;
    }
    __syncthreads();
    for (int warp = 0; warp < kWarps; ++warp) {
        largest = fmaxf(largest, of_warp[warp]);
    }
    if (t == 0) {
        scales[blockIdx.x] = largest;
    }
    for (int column = t; column < columns; column += kThreads) {
        out[column] = row[column] / largest;
    }
    // END
}
