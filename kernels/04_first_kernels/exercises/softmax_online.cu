// y = softmax of each row of x, rows x columns of fp32: one warp a row, columns < 2^31 - 32.
// grid (rows), block (32), dynamic shared 0

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;
constexpr float kLowest = -3.4028235e38f; // the least finite float

extern "C" __global__ void softmax_online(const float* x, float* y, int columns)
{
    const int lane = threadIdx.x;
    const float* row = x + (long long)blockIdx.x * columns;
    float* out = y + (long long)blockIdx.x * columns;

    // After each step, sum is the sum of expf(v - largest) over all v that the lane has met.
    float largest = kLowest;
    float sum = 0.0f;
    // TODO: make one loop of the two, so that each number is read once here; then let the lanes
    // combine their pairs (largest, sum)
    // STARTER
    //| for (int i = lane; i < columns; i += kWarpSize) {
    //|     largest = fmaxf(largest, row[i]);
    //| }
    //| for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    //|     largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, distance));
    //| }
    //| for (int i = lane; i < columns; i += kWarpSize) {
    //|     sum += expf(row[i] - largest);
    //| }
    //| for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    //|     sum += __shfl_xor_sync(kWholeWarp, sum, distance);
    //| }
    // SOLUTION
    for (int i = lane; i < columns; i += kWarpSize) {
        const float v = row[i];
        const float now = fmaxf(largest, v);
        sum = sum * expf(largest - now) + expf(v - now);
        largest = now;
    }
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        const float theirs = __shfl_xor_sync(kWholeWarp, largest, distance);
        const float their_sum = __shfl_xor_sync(kWholeWarp, sum, distance);
        const float now = fmaxf(largest, theirs);
        sum = sum * expf(largest - now) + their_sum * expf(theirs - now);
        largest = now;
    }
    // END

    for (int i = lane; i < columns; i += kWarpSize) {
        out[i] = expf(row[i] - largest) / sum;
    }
}
