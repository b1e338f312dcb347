// y = x * w as conv_bf16_halo computes it, of the same shapes. x and y come as tensor maps with
// boxes of 1 x 16 x 8 x 64 and 1 x 14 x 8 x 64 and a swizzle of 128 bytes, w as it is.
// Adds to conv_bf16_halo wgmma, with the filters on the left: their weights of all taps stay in
// registers, so that shared memory serves the pixels alone. A tile has 14 x 8 pixels, and TMA
// brings it three times with its halo, moved by a column each. So every tap begins at a whole row
// of pixels, where a pattern of the swizzle begins.
// Limit: the tensor cores, two fifths above their clocks for these products. sm_90a.
// grid (at most multiprocessors, K / 64), block (384), dynamic shared STAGES * 49152 + 2 * 14336

#include "bf16_box.cuh"
#include "ptx.cuh"
#include "tma_store.cuh"
#include "tma_tensor.cuh"
#include "wgmma.cuh"

constexpr int TH = 14; // of y: a tile
constexpr int TW = 8;
constexpr int BN = 64; // filters of a block
constexpr int STAGES = 4;
constexpr int kGroups = 2;              // warpgroups that multiply, each its own tiles
constexpr int kPixel = 128;             // bytes: 64 channels
constexpr int kRow = TW * kPixel;       // of pixels: one pattern of the swizzle
constexpr int kMoved = (TH + 2) * kRow; // a tile with its halo, moved by a column
constexpr int kStage = 3 * kMoved;
constexpr int kResults = TH * kRow;
constexpr int kSteps = 9 * 4; // taps, and 16 of 64 channels
constexpr int kSums = TH * TW / 2;
constexpr int kThreads = (kGroups + 1) * 128;

// wgmma.mma_async: sum = a b^T, plus sum where `add` is not 0. a is 64 x 16, in registers, and b is
// 112 x 16, in shared memory.
#define WGMMA_56(c, i) WGMMA_32(c, i), WGMMA_16(c, i + 32), WGMMA_8(c, i + 48)
#define WGMMA_NUMBERS_56 \
    WGMMA_TEN() WGMMA_TEN(1) WGMMA_TEN(2) WGMMA_TEN(3) WGMMA_TEN(4) "%50, %51, %52, %53, %54, %55"
__device__ inline void multiply(float (&sum)[56], const unsigned *a, unsigned long long b, int add)
{
    asm volatile("{\n"
                 ".reg .pred add;\n"
                 "setp.ne.b32 add, %61, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n112k16.f32.bf16.bf16 {" WGMMA_NUMBERS_56
                 "}, {%56, %57, %58, %59}, %60, add, 1, 1, 0;\n"
                 "}"
                 : WGMMA_56("+f", 0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

// stmatrix.x4.trans: as stmatrix_4, of the transposed tiles.
__device__ inline void stmatrix_4_transposed(unsigned row, const unsigned (&tiles)[4])
{
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
        "r"(tiles[0]), "r"(tiles[1]), "r"(tiles[2]), "r"(tiles[3])
        : "memory");
}

// cp.async.bulk.tensor: the box to (channel, column, row, image), without its pixels outside of y.
__device__ inline void tma_store_4(const TensorMap *to, int channel, int column, int row, int image,
                                   unsigned from)
{
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group "
                 "[%0, {%1, %2, %3, %4}], [%5];" ::"l"(to),
                 "r"(channel), "r"(column), "r"(row), "r"(image), "r"(from)
                 : "memory");
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    conv_bf16_wgmma(const __grid_constant__ TensorMap x, const __nv_bfloat16 *w,
                    const __grid_constant__ TensorMap y, int N, int H, int W, int K)
{
    extern __shared__ __align__(1024) float4 memory[];
    __shared__ unsigned long long barriers[2 * STAGES];
    const unsigned stages = shared_address(memory), results = stages + STAGES * kStage;
    const unsigned full = shared_address(barriers); // a stage's tile is there
    const unsigned empty = full + STAGES * 8;       // its warpgroup has read it
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, group = threadIdx.x / 128;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, 4);
        }
        mbarriers_are_ready();
    }
    __syncthreads();
    const int across = (W + TW - 1) / TW;
    const int of_image = across * ((H + TH - 1) / TH);
    const int tiles = N * of_image;
    const int first_filter = blockIdx.y * BN;

    if (group == kGroups) { // the producer
        fewer_registers<24>();
        if (threadIdx.x == kGroups * 128) {
            for (int i = 0, tile = blockIdx.x; tile < tiles; ++i, tile += gridDim.x) {
                const int stage = i % STAGES, place = tile % of_image;
                mbarrier_wait(empty + stage * 8, i / STAGES % 2 ^ 1);
                mbarrier_expect(full + stage * 8, kStage);
                for (int s = 0; s < 3; ++s) { // zeros outside of the image
                    tma_load_4(stages + stage * kStage + s * kMoved, &x, 0,
                               place % across * TW - 1 + s, place / across * TH - 1,
                               tile / of_image, full + stage * 8);
                }
            }
        }
        return;
    }

    more_registers<240>();
    // Filters are rows: of 16 a thread has those at lane / 4 and 8 on, of 16 channels 2 (lane % 4),
    // the next, and those 8 on.
    unsigned weights[kSteps][4];
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
        for (int part = 0; part < 4; ++part) {
            const int filter = first_filter + warp * 16 + lane / 4 + part % 2 * 8;
            const int channel = step % 4 * 16 + lane % 4 * 2 + part / 2 * 8;
            weights[step][part] =
                *reinterpret_cast<const unsigned *>(w + (filter * 9 + step / 4) * 64 + channel);
        }
    }
    const unsigned own = results + group * kResults;
    for (int i = group, tile = blockIdx.x + group * gridDim.x; tile < tiles;
         i += kGroups, tile += kGroups * gridDim.x) {
        const int stage = i % STAGES;
        float sum[kSums];
        mbarrier_wait(full + stage * 8, i / STAGES % 2);
        wgmma_fence();
        const unsigned long long pixels = wgmma_tile(stages + stage * kStage);
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
            const int tap = step / 4;
            const int from = tap % 3 * kMoved + tap / 3 * kRow + step % 4 * 32;
            multiply(sum, weights[step], pixels + from / 16, step > 0);
        }
        wgmma_commit();
        wgmma_wait<0>();
        keep_in_order(sum);
        if (lane == 0) {
            mbarrier_arrive(empty + stage * 8);
        }

        if (threadIdx.x % 128 == 0) {
            tma_wait_read<0>(); // the results before have left
        }
        asm volatile("barrier.sync %0, 128;" ::"r"(group + 1) : "memory");
#pragma unroll
        for (int row = 0; row < TH; row += 2) { // of the tile, 128 bytes a pixel
            unsigned packed[4];
#pragma unroll
            for (int part = 0; part < 4; ++part) { // filters 8 on, then the next row
                packed[part] = packed_bf16(sum[row * 4 + part * 2], sum[row * 4 + part * 2 + 1]);
            }
            const int pixel = (row + lane / 16) * TW + lane % 8;
            const int chunk = warp * 2 + lane / 8 % 2;
            stmatrix_4_transposed(own + pixel * kPixel + (chunk ^ pixel % 8) * 16, packed);
        }
        writes_are_ready();
        asm volatile("barrier.sync %0, 128;" ::"r"(group + 1) : "memory");
        if (threadIdx.x % 128 == 0) {
            const int place = tile % of_image;
            tma_store_4(&y, first_filter, place % across * TW, place / across * TH, tile / of_image,
                        own);
            tma_commit();
        }
    }
    if (threadIdx.x % 128 == 0) {
        tma_wait<0>();
    }
}
