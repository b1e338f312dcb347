// One pass of a radix sort by a single bit, within each block's 256 keys: first those whose bit
// number `bit` is 0, then the others, both in the order they had. For n unsigned keys; the last
// block may have fewer.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kThreads = 256;
constexpr int kWarpSize = 32;
constexpr int kWarps = kThreads / kWarpSize;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void split_by_bit(const unsigned *keys, unsigned *out, int bit, int n)
{
    __shared__ int zeros_of_warp[kWarps];
    const int first = blockIdx.x * kThreads;
    const int i = first + threadIdx.x;
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const unsigned key = i < n ? keys[i] : 0;
    const bool zero = i < n && !(key >> bit & 1);

    // TODO: `to`, the key's place in the block. A key with a 0 has its place once the zeros before it are
    // counted. How many keys with a 1 come before the others? They follow all zeros
    // STARTER
    //| int to = threadIdx.x;
    // SOLUTION
    const unsigned votes = __ballot_sync(kWholeWarp, zero);
    if (lane == 0) {
        zeros_of_warp[warp] = __popc(votes);
    }
    __syncthreads(); // every warp's count is there
    int zeros_before = __popc(votes & ((1u << lane) - 1));
    int zeros = 0;
    for (int w = 0; w < kWarps; ++w) {
        zeros_before += w < warp ? zeros_of_warp[w] : 0;
        zeros += zeros_of_warp[w];
    }
    const int to = zero ? zeros_before : zeros + (int)threadIdx.x - zeros_before;
    // END
    if (i < n) {
        out[first + to] = key;
    }
}
