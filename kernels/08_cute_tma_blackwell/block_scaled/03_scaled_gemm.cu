// D = scale A B^T for row-major A (M x K) and B (N x K) with a scale for each block along K, D (M x
// N) in fp32: NVFP4, numbers of E2M1 and scales in UE4M3, or without -DNVFP4=1 MXFP8, E4M3 and
// UE8M0. Any M, N a multiple of 4, K one of 32. Scales in tiles as scale_tiles.cuh has them; those
// that belong to no block are zeros. The tensor maps have boxes of 128 x 128 and BN x 128 bytes,
// and a swizzle of 128 bytes. BN is 64 or 128.
// Adds to mxfp8_tile and nvfp4_tile the ring and the roles of umma_stages; each stage has its own
// columns for scales, which are not overwritten before the products that read them are done.
// Limit: a block loads all of its A and B itself, and the tensor cores wait while D is stored.
// grid (ceil(N / BN), ceil(M / 128)), block (192), dynamic shared STAGES * kStage (below)

#include "block_scaled.cuh"

#ifndef NVFP4
#define NVFP4 0
#endif
#ifndef BN
#define BN 128
#endif
#ifndef STAGES
#define STAGES 4
#endif

constexpr int kRows = 128, kProducts = 4; // of D; in a box, along K
constexpr int kSteps = NVFP4 ? 256 : 128; // of K in a box, 128 bytes
constexpr int kTiles = NVFP4 ? 4 : 1;     // of scales for them
constexpr int kABytes = kRows * 128, kBoxes = kABytes + BN * 128;
constexpr int kStage = kBoxes + 2 * kTiles * kScaleTile; // bytes
constexpr int kColumns = 2 * kTiles * kScaleColumns;     // of scales in a stage
constexpr int kUsed = BN + STAGES * kColumns;            // of tensor memory
constexpr int kAllocated = kUsed <= 128 ? 128 : kUsed <= 256 ? 256 : 512;
constexpr int kLoader = 4, kMultiplier = 5; // warps; 0 to 3 store

// Start product `k` of a box; `scales` are the columns of its stage, A's tiles and then B's.
__device__ inline void start_product(unsigned sums, unsigned tile, int k, unsigned scales,
                                     int first_column, bool add)
{
    const unsigned long long a = umma_tile(tile) + 2 * k, b = umma_tile(tile + kABytes) + 2 * k;
    const unsigned of_b = scales + kTiles * kScaleColumns + first_column % 128 / 32;
#if NVFP4
    umma_scaled_nvfp4(sums, a, b, umma_nvfp4(kRows, BN), scales + k * kScaleColumns,
                      of_b + k * kScaleColumns, add);
#else
    umma_scaled_mxfp8(sums, a, b, umma_mxfp8(kRows, BN, k), scales, of_b, add);
#endif
}

extern "C" __global__ void __launch_bounds__(192)
    scaled_gemm(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                const unsigned char *scales_a, const unsigned char *scales_b, float scale, float *D,
                int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char ring[];
    __shared__ unsigned long long full[STAGES], empty[STAGES], done;
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32, steps = (K + kSteps - 1) / kSteps;
    const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * BN;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            mbarrier_init(shared_address(&full[stage]), 1);
            mbarrier_init(shared_address(&empty[stage]), 1);
        }
        mbarrier_init(shared_address(&done), 1);
        mbarriers_are_ready();
    }
    if (warp == kMultiplier) {
        tmem_alloc<1>(shared_address(&allocated), kAllocated);
    }
    __syncthreads();
    const unsigned sums = allocated;

    if (warp == kLoader && elected()) {
        const int tiles_along = (K + kSteps / kTiles - 1) / (kSteps / kTiles); // of scales
        const size_t tiles_a = (size_t)(first_row / 128) * tiles_along;
        const size_t tiles_b = (size_t)(first_column / 128) * tiles_along;
        for (int step = 0; step < steps; ++step) {
            const int stage = step % STAGES, lap = step / STAGES, first = step * kTiles;
            const int bytes = min(kTiles, tiles_along - first) * kScaleTile;
            const unsigned tile = shared_address(ring) + stage * kStage;
            const unsigned scales = tile + kBoxes, barrier = shared_address(&full[stage]);
            mbarrier_wait(shared_address(&empty[stage]), lap % 2 ^ 1);
            mbarrier_expect(barrier, kBoxes + 2 * bytes);
            tma_load(tile, &A, step * 128, first_row, barrier);
            tma_load(tile + kABytes, &B, step * 128, first_column, barrier);
            bulk_load(scales, scales_a + (tiles_a + first) * kScaleTile, bytes, barrier);
            bulk_load(scales + kTiles * kScaleTile, scales_b + (tiles_b + first) * kScaleTile,
                      bytes, barrier);
        }
    } else if (warp == kMultiplier && elected()) {
        for (int step = 0; step < steps; ++step) {
            const int stage = step % STAGES, lap = step / STAGES;
            const int left = min(kSteps, K - step * kSteps); // of K
            const unsigned tile = shared_address(ring) + stage * kStage;
            const unsigned scales = sums + BN + stage * kColumns;
            mbarrier_wait(shared_address(&full[stage]), lap % 2);
            tmem_after_sync();
            for (int t = 0; t < kTiles && t * (kSteps / kTiles) < left; ++t) {
                const unsigned from = tile + kBoxes + t * kScaleTile;
                tmem_copy_scales(scales + t * kScaleColumns, scale_tile(from));
                tmem_copy_scales(scales + (kTiles + t) * kScaleColumns,
                                 scale_tile(from + kTiles * kScaleTile));
            }
            for (int k = 0; k < kProducts && k * (kSteps / kProducts) < left; ++k) {
                start_product(sums, tile, k, scales, first_column, step + k > 0);
            }
            umma_commit(shared_address(&empty[stage])); // once they have read the stage
        }
        umma_commit(shared_address(&done));
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
    __syncwarp(); // one lane of warps 4 and 5 was on its own
    __syncthreads();
    if (warp == kMultiplier) {
        tmem_dealloc<1>(sums, kAllocated);
    }
}
