// Sums of n fp32 elements, one for each block of 256: sums[b] = x[256 b] + ... + x[256 b + 255]. A
// launch on its own results, and another, leave one number: the sum of all.
// Adds to sum_shared_sequential.cu: inside a warp the threads exchange registers
// (__shfl_down_sync): five steps with no shared memory and no barrier. Shared memory carries only
// the eight sums of the warps, and one barrier is left.
// Limit: bytes in flight. A thread loads four bytes once, and none while its block adds them up.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kThreads = 256;
constexpr int kWarpSize = 32;
constexpr int kWarps = kThreads / kWarpSize;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void sum_warp_shuffle(const float *x, float *sums, int n)
{
    __shared__ float of_warp[kWarps];
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
    int i = blockIdx.x * kThreads + threadIdx.x;

    float sum = i < n ? x[i] : 0.0f;
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(kWholeWarp, sum, distance);
    }
    if (lane == 0) {
        of_warp[warp] = sum;
    }
    __syncthreads(); // every warp's sum is there
    if (warp == 0) {
        sum = lane < kWarps ? of_warp[lane] : 0.0f;
        for (int distance = kWarps / 2; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(kWholeWarp, sum, distance);
        }
        if (lane == 0) {
            sums[blockIdx.x] = sum;
        }
    }
}
