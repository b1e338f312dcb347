// C = A B for row-major A (M x K), B (K x N) and C (M x N), through tiles in shared memory.
// A block loads a 16 x 16 tile of A and of B once, and each of its 256 threads then reads them 16
// times from shared memory instead of from global memory.
// Any shape with fewer than 2^31 elements a matrix.
// grid (ceil(N / 16), ceil(M / 16)), block (16, 16), dynamic shared 0

constexpr int kTile = 16;

extern "C" __global__ void tiled_matmul(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[kTile][kTile];
    __shared__ float tile_b[kTile][kTile];

    const int y = threadIdx.y;  // index inside the tile
    const int x = threadIdx.x;
    const int row = blockIdx.y * kTile + y;
    const int column = blockIdx.x * kTile + x;

    float sum = 0.0f;
    for (int start = 0; start < K; start += kTile) {
        // TODO: load element (row, start + x) of A and (start + y, column) of B into the tiles,
        //       0 where there is none; then wait until the whole block has loaded
        // SOLUTION
        tile_a[y][x] = row < M && start + x < K ? A[row * K + start + x] : 0.0f;
        tile_b[y][x] = start + y < K && column < N ? B[(start + y) * N + column] : 0.0f;
        __syncthreads();  // no thread reads a tile before all have written their part
        // END

        // TODO: add the products of row y of tile_a and column x of tile_b to sum; then wait until
        //       the whole block has read, since the next iteration overwrites the tiles
        // SOLUTION
        for (int k = 0; k < kTile; ++k) {
            sum += tile_a[y][k] * tile_b[k][x];
        }
        __syncthreads();  // no thread overwrites a tile that another still reads
        // END
    }
    if (row < M && column < N) {
        C[row * N + column] = sum;
    }
}
