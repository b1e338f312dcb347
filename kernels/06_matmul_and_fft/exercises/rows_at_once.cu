// C = A B^T for row-major fp32 matrices, A (M x K) with at most 8 rows, B (N x K) and C (M x N). A
// warp has one row of B, that is one column of C.
// grid (ceil(N / 4)), block 128, dynamic shared 0

constexpr int kMost = 8; // rows of A
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void rows_at_once(const float* A, const float* B, float* C, int M, int N,
                                        int K)
{
    const int lane = threadIdx.x % 32;
    const int column = blockIdx.x * 4 + threadIdx.x / 32;
    if (column >= N) return; // the whole warp
    const float* row = B + (size_t)column * K;
    // TODO: this is right, and reads B once for each row of A. Read it once for all of them
    // STARTER
    //| for (int m = 0; m < M; ++m) {
    //|     float sum = 0.0f;
    //|     for (int k = lane; k < K; k += 32) {
    //|         sum += A[(size_t)m * K + k] * row[k];
    //|     }
    //|     for (int distance = 16; distance > 0; distance /= 2) {
    //|         sum += __shfl_xor_sync(kWholeWarp, sum, distance);
    //|     }
    //|     if (lane == 0) C[(size_t)m * N + column] = sum;
    //| }
    // SOLUTION
    float sum[kMost] = {};
    for (int k = lane; k < K; k += 32) {
        const float b = row[k];
#pragma unroll
        for (int m = 0; m < kMost; ++m) {
            if (m < M) sum[m] += A[(size_t)m * K + k] * b;
        }
    }
#pragma unroll
    for (int m = 0; m < kMost; ++m) {
        for (int distance = 16; distance > 0; distance /= 2) {
            sum[m] += __shfl_xor_sync(kWholeWarp, sum[m], distance);
        }
        if (lane == 0 && m < M) C[(size_t)m * N + column] = sum[m];
    }
    // END
}
