// mean and variance (divided by columns) of each row of x, rows x columns of fp32. A warp a row;
// any number of columns, one pass.
// grid (ceil(rows / 8)), block (256), dynamic shared 0

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void welford_rows(const float *x, float *mean, float *variance, int rows,
                                        int columns)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    int lane = threadIdx.x % kWarpSize;
    if (row >= rows) {
        return; // the whole warp
    }
    float count = 0.0f, center = 0.0f, squares = 0.0f; // of the numbers that this lane met
    for (int i = lane; i < columns; i += kWarpSize) {
        float value = x[(long long)row * columns + i];
        float distance = value - center; // from the mean so far
        count += 1.0f;
        center += distance / count;
        squares += distance * (value - center);
    }
    // TODO: merge the lanes' counts, means and squares, also those of lanes that met nothing, and
    // store the row's mean and variance
    // SOLUTION
    for (int step = kWarpSize / 2; step > 0; step /= 2) {
        float more = __shfl_xor_sync(kWholeWarp, count, step);
        float distance = __shfl_xor_sync(kWholeWarp, center, step) - center;
        float others = __shfl_xor_sync(kWholeWarp, squares, step);
        float share = more == 0.0f ? 0.0f : more / (count + more);
        squares += others + distance * distance * count * share;
        center += distance * share;
        count += more;
    }
    if (lane == 0) {
        mean[row] = center;
        variance[row] = squares / count;
    }
    // END
}
