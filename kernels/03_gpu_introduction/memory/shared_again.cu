// Every thread reads float4s of a 16 KB tile in shared memory, `passes` times over, and adds them
// up.
// The idea: read_again.cu for shared memory. Neighbouring threads read neighbouring addresses, so
// all 32 banks are busy in every wavefront.
// Limit: the bandwidth of shared memory, on purpose.
// grid (any), block (256), dynamic shared 0

constexpr int kThreads = 256;
constexpr int kVectors = 1024;

extern "C" __global__ void shared_again(const float4 *x, int passes, float *sums)
{
    __shared__ float4 tile[kVectors];
    for (int i = threadIdx.x; i < kVectors; i += kThreads) {
        tile[i] = x[i];
    }
    __syncthreads();
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int pass = 0; pass < passes; ++pass) {
        // The tile moves on by a warp's width in each pass: otherwise one load would serve them all.
        int first = threadIdx.x + 32 * pass;
#pragma unroll
        for (int i = 0; i < kVectors; i += kThreads) {
            float4 v = tile[(first + i) % kVectors];
            sum.x += v.x;
            sum.y += v.y;
            sum.z += v.z;
            sum.w += v.w;
        }
    }
    sums[blockIdx.x * kThreads + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}
