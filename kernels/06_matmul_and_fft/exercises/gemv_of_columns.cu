// y = A^T x for a row-major fp32 matrix A of M x K: y[column] is the product of a column of A and
// x. Any M and K.
// grid (ceil(K / 32)), block (256), dynamic shared 0

constexpr int kColumns = 32; // of a block: each has 8 threads
constexpr int kBands = 8;

extern "C" __global__ void gemv_of_columns(const float *A, const float *x, float *y, int M, int K)
{
    __shared__ float of_band[kBands][kColumns];
    // TODO: which column and which band of rows is the thread's? The 32 threads of a warp must read
    // neighbours. This starter is right, but its loads touch four times as many sectors as needed
    // STARTER
    //| int column = threadIdx.x / kBands;
    //| int band = threadIdx.x % kBands;
    // SOLUTION
    int column = threadIdx.x % kColumns;
    int band = threadIdx.x / kColumns;
    // END
    int k = blockIdx.x * kColumns + column;
    float sum = 0.0f;
    if (k < K) {
        for (int row = band; row < M; row += kBands) {
            sum += A[(long long)row * K + k] * x[row];
        }
    }
    of_band[band][column] = sum;
    __syncthreads(); // all bands are there
    if (band == 0 && k < K) {
        for (int other = 1; other < kBands; ++other) {
            sum += of_band[other][column];
        }
        y[k] = sum;
    }
}
