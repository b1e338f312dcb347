// D = scale A B^T for row-major A (M x K) and B (N x K) with a scale for each block along K, D (M x
// N) in fp32: NVFP4, or without -DNVFP4=1 MXFP8, as scaled_gemm. Any M, N a multiple of 4, K one of
// 32. The tensor maps of A and B have boxes of 128 x 128 and BN / 2 x 128 bytes, swizzle 128. The
// maps of the scales see rows of 128 bytes, four to a tile, in boxes of 4 kTiles x 128 bytes.
// Scales that belong to no block are zeros. BN is 64, 128 or 256.
// Adds to scaled_gemm the pair of umma_pair. Each block holds its half of A and of B, the scales of
// its own rows of A and of all rows of B, since it multiplies with all of B.
// Limit: the tensor cores wait while D is stored. No GPU has run it.
// grid (2 * ceil(M / 256), ceil(N / BN)), block (192), dynamic shared STAGES * kStageBytes

#include "block_scaled.cuh"

#ifndef NVFP4
#define NVFP4 0
#endif
#ifndef BN
#define BN 256
#endif
#ifndef STAGES
#define STAGES 4
#endif

constexpr int kRows = 128, kProducts = 4; // of D per block, and in a box along K
constexpr int kSteps = NVFP4 ? 256 : 128; // of K in a box, 128 bytes
constexpr int kTiles = NVFP4 ? 4 : 1;     // of scales for them, for each 128 rows
constexpr int kParts = (BN + 127) / 128;  // of B's rows, 128 to a tile of scales
constexpr int kABytes = kRows * 128, kBoxes = kABytes + BN / 2 * 128;
constexpr int kScaleBytes = kTiles * kScaleTile;                // of 128 rows
constexpr int kStage = kBoxes + (1 + kParts) * kScaleBytes;     // bytes in each block
constexpr int kStageBytes = (kStage + 1023) / 1024 * 1024;      // from stage to stage
constexpr int kColumns = (1 + kParts) * kTiles * kScaleColumns; // of scales in a stage
constexpr int kUsed = BN + STAGES * kColumns;                   // of tensor memory
constexpr int kAllocated = kUsed <= 128 ? 128 : kUsed <= 256 ? 256 : 512;
constexpr int kLoader = 4, kMultiplier = 5; // warps, and 0 to 3 store
static_assert(kUsed <= 512, "fewer stages: their scales need columns, too");

// Start product `k` of a box for both blocks. `scales` are the columns of its stage: a group of four
// for each of A's tiles, then kParts groups for each of B's, side by side.
__device__ inline void start_product(unsigned sums, unsigned tile, int k, unsigned scales,
                                     int first_column, bool add)
{
    const unsigned long long a = umma_tile(tile) + 2 * k, b = umma_tile(tile + kABytes) + 2 * k;
    const unsigned of_b = scales + kTiles * kScaleColumns + first_column % 128 / 32;
#if NVFP4
    umma_scaled_nvfp4<2>(sums, a, b, umma_nvfp4(2 * kRows, BN), scales + k * kScaleColumns,
                         of_b + k * kParts * kScaleColumns, add);
#else
    umma_scaled_mxfp8<2>(sums, a, b, umma_mxfp8(2 * kRows, BN, k), scales, of_b, add);
#endif
}

extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(192)
    scaled_pair(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                const __grid_constant__ TensorMap scales_a,
                const __grid_constant__ TensorMap scales_b, float scale, float *D, int M, int N,
                int K)
{
    extern __shared__ __align__(1024) unsigned char ring[];
    __shared__ unsigned long long full[STAGES], empty[STAGES], done;
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32, rank = cluster_rank(), steps = (K + kSteps - 1) / kSteps;
    const int first_row = blockIdx.x * kRows, first_column = blockIdx.y * BN;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            mbarrier_init(shared_address(&full[stage]), 1); // used in the even block
            mbarrier_init(shared_address(&empty[stage]), 1);
        }
        mbarrier_init(shared_address(&done), 1);
        mbarriers_are_ready();
    }
    cluster_arrive();
    cluster_wait(); // both blocks have started, and their barriers are there
    if (warp == kMultiplier) {
        tmem_alloc<2>(shared_address(&allocated), kAllocated);
        tmem_relinquish<2>();
    }
    __syncthreads();
    const unsigned sums = allocated;

    if (warp == kLoader && elected()) {
        const int tiles_along = (K + kSteps / kTiles - 1) / (kSteps / kTiles); // of scales
        const int tiles_a = first_row / 128 * tiles_along;
        const int tiles_b = first_column / 128 * tiles_along;
        for (int step = 0; step < steps; ++step) {
            const int stage = step % STAGES, lap = step / STAGES, first = step * kTiles;
            const unsigned tile = shared_address(ring) + stage * kStageBytes;
            const unsigned scales = tile + kBoxes;
            const unsigned barrier = address_in_block(shared_address(&full[stage]), 0);
            mbarrier_wait(shared_address(&empty[stage]), lap % 2 ^ 1);
            if (rank == 0) {
                mbarrier_expect(shared_address(&full[stage]), 2 * kStage); // of both blocks
            }
            tma_load_pair(tile, &A, step * 128, first_row, barrier);
            tma_load_pair(tile + kABytes, &B, step * 128, first_column + rank * BN / 2, barrier);
            tma_load_pair(scales, &scales_a, 0, 4 * (tiles_a + first), barrier);
            for (int part = 0; part < kParts; ++part) { // of all of B's rows, in both blocks
                tma_load_pair(scales + (1 + part) * kScaleBytes, &scales_b, 0,
                              4 * (tiles_b + part * tiles_along + first), barrier);
            }
        }
        for (int step = steps; step < steps + STAGES; ++step) { // no commit comes after our end
            mbarrier_wait(shared_address(&empty[step % STAGES]), step / STAGES % 2 ^ 1);
        }
    } else if (warp == kMultiplier && rank == 0 && elected()) {
        for (int step = 0; step < steps; ++step) {
            const int stage = step % STAGES, lap = step / STAGES;
            const int left = min(kSteps, K - step * kSteps); // of K
            const unsigned tile = shared_address(ring) + stage * kStageBytes;
            const unsigned scales = sums + BN + stage * kColumns;
            const unsigned of_b = scales + kTiles * kScaleColumns;
            mbarrier_wait(shared_address(&full[stage]), lap % 2);
            tmem_after_sync();
            for (int t = 0; t < kTiles && t * (kSteps / kTiles) < left; ++t) {
                const unsigned from = tile + kBoxes + t * kScaleTile;
                tmem_copy_scales<2>(scales + t * kScaleColumns, scale_tile(from));
                for (int part = 0; part < kParts; ++part) {
                    tmem_copy_scales<2>(of_b + (t * kParts + part) * kScaleColumns,
                                        scale_tile(from + (1 + part) * kScaleBytes));
                }
            }
            for (int k = 0; k < kProducts && k * (kSteps / kProducts) < left; ++k) {
                start_product(sums, tile, k, scales, first_column, step + k > 0);
            }
            umma_commit_pair(shared_address(&empty[stage])); // once they have read the stage
        }
        umma_commit_pair(shared_address(&done));
    } else if (warp < 4) {
        mbarrier_wait(shared_address(&done), 0);
        tmem_after_sync();
        const int row = first_row + threadIdx.x;
        for (int column = 0; column < BN; column += 16) {
            unsigned value[16];
            tmem_load_16(value, sums + (warp * 32 << 16) + column);
            tmem_wait_load(value);
            for (int i = 0; i < 16; i += 4) {
                if (row < M && first_column + column + i < N) {
                    *reinterpret_cast<float4 *>(D + (size_t)row * N + first_column + column + i) =
                        make_float4(scale * __uint_as_float(value[i]),
                                    scale * __uint_as_float(value[i + 1]),
                                    scale * __uint_as_float(value[i + 2]),
                                    scale * __uint_as_float(value[i + 3]));
                }
            }
        }
    }
    __syncwarp();
    cluster_arrive();
    cluster_wait(); // no block ends while the other one's products read its shared memory
    if (warp == kMultiplier) {
        tmem_dealloc<2>(sums, kAllocated);
    }
}
