// The elements of x that are not zero, in their order, without gaps: out[0], out[1] and so on. A
// kernel before this one has counted and scanned: first[b] is how many elements that are not zero
// come before block b's 256. What is left of `out` stays as it is. For n ints.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kThreads = 256;
constexpr int kWarpSize = 32;
constexpr int kWarps = kThreads / kWarpSize;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void keep_in_order(const int *x, const int *first, int *out, int n)
{
    __shared__ int of_warp[kWarps];
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const int value = i < n ? x[i] : 0;
    const bool kept = value != 0;
    const unsigned votes = __ballot_sync(kWholeWarp, kept); // bit l: lane l keeps its element

    // TODO: `to`, the place of this thread's element in out: first[blockIdx.x], and the kept ones
    // of the warps before, and of the lanes before
    // STARTER
    //| int to = 0;
    // SOLUTION
    if (lane == 0) {
        of_warp[warp] = __popc(votes);
    }
    __syncthreads(); // every warp's count is there
    int to = first[blockIdx.x] + __popc(votes & ((1u << lane) - 1));
    for (int w = 0; w < warp; ++w) {
        to += of_warp[w];
    }
    // END
    if (kept) {
        out[to] = value;
    }
}
