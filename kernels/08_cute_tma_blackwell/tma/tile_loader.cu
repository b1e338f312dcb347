// C = A B^T for row-major bf16 matrices, A (M x K), B (N x K), C (M x N) in fp32. Any M and N; K a
// multiple of eight. A and B come as tensor maps with boxes of 64 x 64 and a swizzle of 128 bytes.
// Adds to column_sums two operands and tensor cores: one thread fills a ring of STAGES pairs of
// tiles, and four warps multiply, each 32 x 32 of the tile. TMA puts zeros where a matrix has
// ended, along K too.
// Limit: the small tile, and mma.sync; gemm_bf16_specialized of chapter 06 is this loader grown up.
// grid (ceil(N / 64), ceil(M / 64)), block (160), dynamic shared STAGES * 16384

#include "ptx.cuh"
#include "tma.cuh"

#ifndef STAGES
#define STAGES 3
#endif

constexpr int kTile = 64;               // rows of A, rows of B, and steps of K: 128 bytes of a row
constexpr int kTileBytes = kTile * 128; // of A, then as many of B
constexpr int kWarps = 4;               // that multiply

// Where chunk `chunk` of row `row` of a tile begins, in bytes: TMA's swizzle of 128 bytes.
__device__ inline int place_of(int row, int chunk)
{
    return row * 128 + (chunk ^ row % 8) * 16;
}

extern "C" __global__ void tile_loader(const __grid_constant__ TensorMap A,
                                       const __grid_constant__ TensorMap B, float *C, int M, int N,
                                       int K)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
    const int steps = (K + kTile - 1) / kTile;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            mbarrier_init(shared_address(&full[stage]), 1);
            mbarrier_init(shared_address(&empty[stage]), kWarps);
        }
        mbarriers_are_ready();
    }
    __syncthreads();

    if (warp == kWarps) { // the loader
        for (int step = 0; lane == 0 && step < steps; ++step) {
            const int stage = step % STAGES, lap = step / STAGES;
            const unsigned tile = shared_address(tiles) + stage * 2 * kTileBytes;
            const unsigned barrier = shared_address(&full[stage]);
            mbarrier_wait(shared_address(&empty[stage]), lap % 2 ^ 1);
            mbarrier_expect(barrier, 2 * kTileBytes);
            tma_load(tile, &A, step * kTile, first_row, barrier);
            tma_load(tile + kTileBytes, &B, step * kTile, first_column, barrier);
        }
        return;
    }

    // ldmatrix: of A lanes 0-15 give 16 rows, left half, lanes 16-31 the right half; of B lanes 0-7
    // and 16-23 give 16 rows (columns of C), left half, the others the right half.
    const int a_row = warp / 2 * 32 + lane % 16, a_half = lane / 16;
    const int b_row = warp % 2 * 32 + lane % 8 + lane / 16 * 8, b_half = lane / 8 % 2;
    float sum[2][4][4] = {};
    for (int step = 0; step < steps; ++step) {
        const int stage = step % STAGES, lap = step / STAGES;
        const unsigned tile_a = shared_address(tiles) + stage * 2 * kTileBytes;
        const unsigned tile_b = tile_a + kTileBytes;
        mbarrier_wait(shared_address(&full[stage]), lap % 2);
        for (int k = 0; k < 4; ++k) {
            unsigned a[2][4], b[2][4];
            for (int i = 0; i < 2; ++i) {
                ldmatrix_4(a[i], tile_a + place_of(a_row + i * 16, k * 2 + a_half));
                ldmatrix_4(b[i], tile_b + place_of(b_row + i * 16, k * 2 + b_half));
            }
            for (int i = 0; i < 2; ++i) {
                for (int j = 0; j < 4; ++j) {
                    mma_bf16(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
                }
            }
        }
        __syncwarp(); // lane 0 speaks for what all lanes have read
        if (lane == 0) {
            mbarrier_arrive(shared_address(&empty[stage]));
        }
    }

    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 4; ++j) {
            for (int n = 0; n < 4; ++n) {
                const int row = first_row + warp / 2 * 32 + i * 16 + lane / 4 + n / 2 * 8;
                const int column = first_column + warp % 2 * 32 + j * 8 + lane % 4 * 2 + n % 2;
                if (row < M && column < N) {
                    C[(size_t)row * N + column] = sum[i][j][n];
                }
            }
        }
    }
}
