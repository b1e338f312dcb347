// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N. Any shape with fewer
// than 2^31 elements a matrix, and K may be 0. A block computes 64 x 64 elements of C.
// The kernel is called own_gemm, is extern "C", and has the parameters const float *A,
// const float *B, float *C, int M, int N, int K.
// grid (ceil(N / 64), ceil(M / 64)), block 256, dynamic shared 0

// TODO: the whole kernel
// SOLUTION
constexpr int kTile = 64; // of C, for a block
constexpr int kDepth = 8; // of the tiles, along K
constexpr int kSide = 4;  // of a thread's square of results
constexpr int kThreads = 256;

extern "C" __global__ void own_gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float tile_a[kDepth][kTile + 4]; // transposed, and padded for its stores
    __shared__ float tile_b[kDepth][kTile];
    const int first_row = blockIdx.y * kTile; // of the block's tile in C
    const int first_column = blockIdx.x * kTile;
    const int row = threadIdx.x / (kTile / kSide) * kSide; // of the thread's square in the tile
    const int column = threadIdx.x % (kTile / kSide) * kSide;

    float sum[kSide][kSide] = {};
    for (int start = 0; start < K; start += kDepth) {
        for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
            const int y = first_row + i / kDepth, a_k = start + i % kDepth;
            const int x = first_column + i % kTile, b_k = start + i / kTile;
            tile_a[i % kDepth][i / kDepth] = y < M && a_k < K ? A[y * K + a_k] : 0.0f;
            tile_b[i / kTile][i % kTile] = b_k < K && x < N ? B[b_k * N + x] : 0.0f;
        }
        __syncthreads(); // both tiles are complete
        for (int k = 0; k < kDepth; ++k) {
            float a[kSide], b[kSide];
#pragma unroll
            for (int i = 0; i < kSide; ++i) {
                a[i] = tile_a[k][row + i];
                b[i] = tile_b[k][column + i];
            }
#pragma unroll
            for (int i = 0; i < kSide; ++i) {
#pragma unroll
                for (int j = 0; j < kSide; ++j) {
                    sum[i][j] += a[i] * b[j];
                }
            }
        }
        __syncthreads(); // all have used these tiles
    }
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
#pragma unroll
        for (int j = 0; j < kSide; ++j) {
            const int y = first_row + row + i, x = first_column + column + j;
            if (y < M && x < N) {
                C[y * N + x] = sum[i][j];
            }
        }
    }
}
// END
