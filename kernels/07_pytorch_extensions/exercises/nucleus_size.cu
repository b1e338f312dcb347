// size[r] = how many of the first weights of row r it takes for their sum to reach goal[r]: the
// nucleus. weights is rows x k unsigned integers, which fall; goal[r] is 1 to their sum, which is
// less than 2^32. A warp a row.
// grid (ceil(rows / 8)), block (256), dynamic shared 0

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void nucleus_size(const unsigned *weights, const unsigned *goal, int *size,
                                        int rows, int k)
{
    int lane = threadIdx.x % kWarpSize;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    if (row >= rows) {
        return; // the whole warp
    }
    weights += (long long)row * k;
    // TODO: running sums of 32 weights at a time, until one of them reaches the goal
    // SOLUTION
    unsigned before = 0; // the sum of the turns so far
    for (int start = 0; start < k; start += kWarpSize) {
        unsigned running = start + lane < k ? weights[start + lane] : 0;
        for (int distance = 1; distance < kWarpSize; distance *= 2) {
            unsigned left = __shfl_up_sync(kWholeWarp, running, distance);
            running += lane >= distance ? left : 0;
        }
        running += before;
        unsigned reached = __ballot_sync(kWholeWarp, running >= goal[row]);
        if (reached) {
            if (lane == 0) {
                size[row] = start + __ffs(reached);
            }
            return;
        }
        before = __shfl_sync(kWholeWarp, running, kWarpSize - 1);
    }
    // END
}
