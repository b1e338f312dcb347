// The indices of the k largest of each row of x, rows x n floats, in ascending order and counted
// from `first`: all elements above limit[r], the k-th largest of the row, and of those equal to it
// the first ones. No NaN. A warp a row.
// grid (ceil(rows / 8)), block (256), dynamic shared 0

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void ties_in_order(const float *x, const float *limit, int *indices, int rows,
                                         int first, int n, int k)
{
    int lane = threadIdx.x % kWarpSize;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    if (row >= rows) {
        return; // the whole warp
    }
    x += (long long)row * n;
    indices += (long long)row * k;
    float least = limit[row];
    // TODO: count the elements above the limit. Then store the indices, in order: a lane's place is
    // how many are taken before it
    // SOLUTION
    int above = 0;
    for (int i = lane; i < n; i += kWarpSize) {
        above += x[i] > least;
    }
    above = __reduce_add_sync(kWholeWarp, above);
    unsigned before = (1u << lane) - 1;
    int stored = 0, equal = k - above; // how many equal ones are still wanted
    for (int start = 0; start < n; start += kWarpSize) {
        int i = start + lane;
        float value = i < n ? x[i] : 0.0f;
        bool same = i < n && value == least;
        unsigned all_same = __ballot_sync(kWholeWarp, same);
        bool takes = (i < n && value > least) || (same && __popc(all_same & before) < equal);
        unsigned takers = __ballot_sync(kWholeWarp, takes);
        if (takes) {
            indices[stored + __popc(takers & before)] = first + i;
        }
        stored += __popc(takers);
        equal -= __popc(all_same);
    }
    // END
}
