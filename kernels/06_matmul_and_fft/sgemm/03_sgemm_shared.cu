// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N. Any shape with fewer
// than 2^31 elements a matrix (indices are int) and at most 65535 blocks along y.
// Adds to sgemm_coalesced: a block loads a tile of A and a tile of B into shared memory, and each
// element loaded is used TILE times before the next tiles come. -D TILE=32 sets the tile.
// Limit: shared memory bandwidth. A thread still loads both operands of nearly every
// multiplication, now from the tiles.
// grid (ceil(N / TILE), ceil(M / TILE)), block (TILE, TILE), dynamic shared 0

#ifndef TILE
#define TILE 16
#endif
constexpr int kTile = TILE;

extern "C" __global__ void sgemm_shared(const float *A, const float *B, float *C, int M, int N,
                                        int K)
{
    __shared__ float tile_a[kTile][kTile];
    __shared__ float tile_b[kTile][kTile];
    int y = threadIdx.y; // index in the tile
    int x = threadIdx.x;
    int row = blockIdx.y * kTile + y; // index in C
    int column = blockIdx.x * kTile + x;

    float sum = 0.0f;
    for (int start = 0; start < K; start += kTile) {
        // Outside the matrices a zero is as good as a number: it adds nothing to the sum.
        tile_a[y][x] = row < M && start + x < K ? A[row * K + start + x] : 0.0f;
        tile_b[y][x] = start + y < K && column < N ? B[(start + y) * N + column] : 0.0f;
        __syncthreads(); // both tiles are complete
        for (int k = 0; k < kTile; ++k) {
            sum += tile_a[y][k] * tile_b[k][x];
        }
        __syncthreads(); // every warp is done with these tiles
    }
    if (row < M && column < N) {
        C[row * N + column] = sum;
    }
}
