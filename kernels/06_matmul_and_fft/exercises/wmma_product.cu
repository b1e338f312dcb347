// C = A B^T for row-major matrices: A is M x K and B is N x K in fp16, C is M x N in fp32. One warp
// computes a tile of 16 x 16. M, N and K are multiples of 16.
// grid (N / 16, M / 16), block 32, dynamic shared 0

#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 16;

extern "C" __global__ void wmma_product(const __half *A, const __half *B, float *C, int M, int N,
                                        int K)
{
    int row = blockIdx.y * kTile; // where the tile begins in C
    int column = blockIdx.x * kTile;
    wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, __half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sum;

    // TODO: fill the sums with zeros; for every 16 columns of A and B load both fragments and
    //       multiply; then store the sums into C
    // SOLUTION
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += kTile) {
        wmma::load_matrix_sync(a, A + row * K + k, K);
        wmma::load_matrix_sync(b, B + column * K + k, K);
        wmma::mma_sync(sum, a, b, sum);
    }
    wmma::store_matrix_sync(C + row * N + column, sum, N, wmma::mem_row_major);
    // END
}
