// kth[r] = the k-th largest of row r of keys, rows x n unsigned integers, n at most 256. A warp a
// row, which stays in its registers; 1 <= k <= n.
// grid (ceil(rows / 8)), block (256), dynamic shared 0

constexpr int kWarpSize = 32, kEach = 8;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void halve_the_limit(const unsigned *keys, unsigned *kth, int rows, int n,
                                           int k)
{
    int lane = threadIdx.x % kWarpSize;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    if (row >= rows) {
        return; // the whole warp
    }
    unsigned own[kEach];
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
        int i = j * kWarpSize + lane;
        own[j] = i < n ? keys[(long long)row * n + i] : 0;
    }
    unsigned low = 0, high = 0xffffffff; // the k-th largest is one of low to high
    // TODO: halve the distance from low to high until they meet: how many keys of the row reach a
    // limit between them?
    // SOLUTION
    while (low < high) {
        unsigned middle = high - (high - low) / 2; // above low
        int count = 0;
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            count += own[j] >= middle;
        }
        if (__reduce_add_sync(kWholeWarp, count) >= k) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    // END
    if (lane == 0) {
        kth[row] = low;
    }
}
