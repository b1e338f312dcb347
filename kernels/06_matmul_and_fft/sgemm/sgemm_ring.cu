// C = A B for row-major fp32 matrices: A is 2 x K, B is K x 2, C is 2 x 2, for any K.
// The pipeline of sgemm_cp_async, small enough to watch: kStages pairs of tiles, and the copies of
// two steps in flight while a third is multiplied. Each thread has one element of C.
// Limit: four threads.
// grid 1, block (4), dynamic shared 0

#include "ptx.cuh"

constexpr int kTile = 2; // rows and columns of C and of each tile
constexpr int kStages = 3;

extern "C" __global__ void sgemm_ring(const float *A, const float *B, float *C, int K)
{
    __shared__ float tile_a[kStages][kTile][kTile];
    __shared__ float tile_b[kStages][kTile][kTile];
    const int row = threadIdx.x / kTile, column = threadIdx.x % kTile;

    auto copy_tiles = [&](int stage, int start) { // zeros where A and B have ended
        const int a_k = start + column, b_k = start + row;
        const float *a = a_k < K ? A + row * K + a_k : A;
        const float *b = b_k < K ? B + b_k * kTile + column : B;
        cp_async_4(shared_address(&tile_a[stage][row][column]), a, a_k < K);
        cp_async_4(shared_address(&tile_b[stage][row][column]), b, b_k < K);
        cp_async_commit();
    };

    copy_tiles(0, 0);
    copy_tiles(1, kTile);
    float sum = 0.0f;
    int stage = 0;
    for (int start = 0; start < K; start += kTile) {
        cp_async_wait<kStages - 2>(); // this thread's copies of this step are there
        __syncthreads();              // so are all threads', and the step before has been read
        copy_tiles((stage + 2) % kStages, start + 2 * kTile);
        for (int k = 0; k < kTile; ++k) {
            sum += tile_a[stage][row][k] * tile_b[stage][k][column];
        }
        stage = (stage + 1) % kStages;
    }
    cp_async_wait<0>(); // the last copies, of zeros, must not outlive the block
    C[row * kTile + column] = sum;
}
