// Y = A X for a matrix A (M x K) and four vectors at once: X is 4 x K, Y is 4 x M, a vector a row.
// One thread computes four elements of Y, one for each vector. A is stored by columns: element
// (row, k) is A[k * M + row], so that neighbouring threads read neighbouring elements. A, X and Y
// have at most 2 billion elements each.
// grid (ceil(M / 64)), block (64), dynamic shared 0

constexpr int kVectors = 4;

extern "C" __global__ void four_vectors(const float *A, const float *X, float *Y, int M, int K)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) {
        return;
    }
    // TODO: each element of A is loaded four times here, once per vector. Load it once and use it
    //       four times: one loop over k, four sums
    // STARTER
    //| for (int v = 0; v < kVectors; ++v) {
    //|     float sum = 0.0f;
    //|     for (int k = 0; k < K; ++k) {
    //|         sum += A[k * M + row] * X[v * K + k];
    //|     }
    //|     Y[v * M + row] = sum;
    //| }
    // SOLUTION
    float sum[kVectors] = {}; // four zeros
    for (int k = 0; k < K; ++k) {
        const float a = A[k * M + row];
        for (int v = 0; v < kVectors; ++v) {
            sum[v] += a * X[v * K + k];
        }
    }
    for (int v = 0; v < kVectors; ++v) {
        Y[v * M + row] = sum[v];
    }
    // END
}
