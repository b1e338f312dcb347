// C = A B^T for row-major matrices: A is M x K and B is N x K in fp16, C is M x N in fp32. One warp
// computes a tile of 16 x 16. M, N and K are multiples of 16.
// grid (N / 16, M / 16), block 32, dynamic shared 0

#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 16;

extern "C" __global__ void half_sums(const __half *A, const __half *B, float *C, int M, int N,
                                     int K)
{
    // BUG
    //| __shared__ __align__(32) __half results[kTile][kTile];
    // SOLUTION
    __shared__ __align__(32) float results[kTile][kTile];
    // END
    int row = blockIdx.y * kTile; // where the tile begins in C
    int column = blockIdx.x * kTile;
    wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, __half, wmma::col_major> b;
    // BUG
    //| wmma::fragment<wmma::accumulator, kTile, kTile, kTile, __half> sum;
    // SOLUTION
    wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sum;
    // END
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += kTile) {
        wmma::load_matrix_sync(a, A + row * K + k, K);
        wmma::load_matrix_sync(b, B + column * K + k, K);
        wmma::mma_sync(sum, a, b, sum);
    }
    wmma::store_matrix_sync(&results[0][0], sum, kTile, wmma::mem_row_major);
    __syncwarp(); // the tile is complete
    for (int i = threadIdx.x; i < kTile * kTile; i += 32) {
        float result = results[i / kTile][i % kTile];
        C[(row + i / kTile) * N + column + i % kTile] = result;
    }
}
