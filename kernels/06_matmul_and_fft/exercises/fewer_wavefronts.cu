// C = A B for row-major A (M x K), B (K x N) and C (M x N). A block covers 32 x 32 elements of C
// with 64 threads, and each thread owns 4 x 4 of them.
// Any shape with fewer than 2^31 elements a matrix.
// grid (ceil(N / 32), ceil(M / 32)), block 64, dynamic shared 0

constexpr int kTile = 32; // of C, for a block
constexpr int kDepth = 8; // of the tiles, along K
constexpr int kSide = 4;  // of a thread's square of results
constexpr int kThreads = 64;

extern "C" __global__ void fewer_wavefronts(const float *A, const float *B, float *C, int M, int N,
                                            int K)
{
    // TODO: this is right, and its shared memory is slow. Count the wavefronts of its stores and
    //       loads, and lay the tiles out so that there are fewer
    // STARTER
    //| __shared__ float tile_a[kTile][kDepth];
    //| __shared__ float tile_b[kDepth][kTile];
    // SOLUTION
    __shared__ __align__(16) float tile_a[kDepth][kTile + 4]; // transposed, and padded
    __shared__ __align__(16) float tile_b[kDepth][kTile];
    // END
    const int first_row = blockIdx.y * kTile; // of the block's tile in C
    const int first_column = blockIdx.x * kTile;
    const int row = threadIdx.x / (kTile / kSide) * kSide; // of the thread's square in the tile
    const int column = threadIdx.x % (kTile / kSide) * kSide;

    float sum[kSide][kSide] = {};
    for (int start = 0; start < K; start += kDepth) {
        for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
            const int y = first_row + i / kDepth, a_k = start + i % kDepth;
            const int x = first_column + i % kTile, b_k = start + i / kTile;
            const float a = y < M && a_k < K ? A[y * K + a_k] : 0.0f;
            const float b = b_k < K && x < N ? B[b_k * N + x] : 0.0f;
            // TODO: the stores belong to the layout
            // STARTER
            //| tile_a[i / kDepth][i % kDepth] = a;
            // SOLUTION
            tile_a[i % kDepth][i / kDepth] = a;
            // END
            tile_b[i / kTile][i % kTile] = b;
        }
        __syncthreads(); // both tiles are complete
        for (int k = 0; k < kDepth; ++k) {
            float a[kSide], b[kSide];
            // TODO: and so do the loads
            // STARTER
            //| #pragma unroll
            //| for (int i = 0; i < kSide; ++i) {
            //|     a[i] = tile_a[row + i][k];
            //|     b[i] = tile_b[k][column + i];
            //| }
            // SOLUTION
            *reinterpret_cast<float4 *>(a) = *reinterpret_cast<float4 *>(&tile_a[k][row]);
            *reinterpret_cast<float4 *>(b) = *reinterpret_cast<float4 *>(&tile_b[k][column]);
            // END
#pragma unroll
            for (int i = 0; i < kSide; ++i) {
#pragma unroll
                for (int j = 0; j < kSide; ++j) {
                    sum[i][j] += a[i] * b[j];
                }
            }
        }
        __syncthreads(); // no thread needs these tiles any more
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
