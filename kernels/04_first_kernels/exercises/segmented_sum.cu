// Running sums that begin anew at every head, within each block's 256 elements: out[i] is the sum
// of x from the last head at or before i (or from the block's first element) up to x[i]; n ints.
// head[i] is 1 where a segment begins, otherwise 0. Sums wrap around as unsigned ones do.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kThreads = 256;
constexpr int kWarpSize = 32;
constexpr int kWarps = kThreads / kWarpSize;
constexpr unsigned kWholeWarp = 0xffffffff;

// A run of elements: the sum since its last head, and whether it has one.
struct Run {
    unsigned sum;
    unsigned has_head;
};

// The run that `left` and then `right` are together.
__device__ Run joined(Run left, Run right)
{
    // TODO: does the sum of `left` count where `right` has a head? Has the whole run one?
    // STARTER
    //| return right;
    // SOLUTION
    return {right.has_head ? right.sum : left.sum + right.sum, left.has_head | right.has_head};
    // END
}

extern "C" __global__ void segmented_sum(const unsigned *x, const unsigned *head, unsigned *out,
                                         int n)
{
    __shared__ Run of_warp[kWarps];
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    Run run = {0, 0};
    if (i < n) {
        run = {x[i], head[i]};
    }
    // TODO: scan the runs of the warp by shuffles, then join in those of the warps before
    // SOLUTION
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
        const Run left = {__shfl_up_sync(kWholeWarp, run.sum, distance),
                          __shfl_up_sync(kWholeWarp, run.has_head, distance)};
        if (lane >= distance) {
            run = joined(left, run);
        }
    }
    if (lane == kWarpSize - 1) {
        of_warp[warp] = run;
    }
    __syncthreads(); // every warp's run is there
    Run before = {0, 0};
    for (int w = 0; w < warp; ++w) {
        before = joined(before, of_warp[w]);
    }
    run = joined(before, run);
    // END
    if (i < n) {
        out[i] = run.sum;
    }
}
