// C = A B for row-major fp32 matrices, A (M x K) with few rows, B (K x N): any shape; all arrays
// begin at multiples of 16 bytes. B is read once for each ROWS rows of A. `partial` has room for a float
// for each slice and element of C, `arrived` one 0 for each column tile and group of rows.
// Adds to split-K: warps, too, share K, each with its own ring of copies in flight. Only a warp reads
// what its lanes copied, so the loop has no barrier of the block. The last block to arrive at a tile
// adds up the slices in their order, in the same launch.
// Limit: with few rows memory, though its bandwidth is not reached; with 32 rows FMAs as well.
// grid (ceil(N / 128), slices, ceil(M / ROWS)), block (256), dynamic shared max(8 * STAGES * DEPTH * (ROWS + 128) * 4, 32768)

#include "ptx.cuh"
#include "split_k.cuh"
#include "tile.cuh"

#ifndef ROWS
#define ROWS 16 // of A that a block has
#endif
#ifndef DEPTH
#define DEPTH 4 // rows of B that a warp copies at once: a multiple of 4
#endif
#ifndef STAGES
#define STAGES 4
#endif
#ifndef BLOCKS
#define BLOCKS 2 // that share a multiprocessor: caps the registers
#endif

constexpr int BN = 128; // columns of a block: four for each lane
constexpr int kWarps = 8;
constexpr int kThreads = kWarps * 32;
constexpr int kStageA = ROWS * DEPTH; // floats of one stage of a warp
constexpr int kStage = kStageA + DEPTH * BN;
constexpr int kAtOnce = 8; // rows that are added up together in the end
static_assert(DEPTH % 4 == 0, "four of k at a time");

// Begin the copies of one stage: `rows` rows of A, which begin at `a`, with `depth` of their columns,
// and as many rows of B with `columns` columns at `b`; zeros in place of what is past them. Width:
// floats of a copy. kAll: nothing is.
template <int Width, bool kAll>
__device__ inline void copy_stage(unsigned to, const float *a, const float *b, int rows, int columns,
                                  int depth, int N, int K)
{
    auto copy = [](unsigned to, const float *from, int offset, bool exists) {
        from += kAll || exists ? offset : 0;
        if (Width == 4) {
            cp_async_16(to, from, kAll || exists);
        } else {
            cp_async_4(to, from, kAll || exists);
        }
    };
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = lane; i < kStageA / Width; i += 32) {
        int y = i / (DEPTH / Width), x = i % (DEPTH / Width) * Width;
        copy(to + i * Width * 4, a, y * K + x, y < rows && x < depth);
    }
    to += kStageA * 4;
#pragma unroll
    for (int i = lane; i < DEPTH * BN / Width; i += 32) {
        int y = i / (BN / Width), x = i % (BN / Width) * Width;
        copy(to + i * Width * 4, b, y * N + x, y < depth && x < columns);
    }
}

// Add to `sum` what the warp has of the slice, which ends at `end` of K: from `k` on DEPTH in every
// kWarps * DEPTH. The block has `rows` rows of A and `columns` columns of B.
template <int Width>
__device__ inline void add_slice(float (&sum)[ROWS][4], const float *ring, const float *A,
                                 const float *B, int k, int end, int rows, int columns, int N,
                                 int K)
{
    unsigned to = shared_address(ring);
    int lane = threadIdx.x % 32, ahead = k;
    bool whole = rows >= ROWS && columns >= BN;
    auto copy_next = [&](int stage) { // one group
        unsigned place = to + stage * kStage * 4;
        const float *a = A + ahead, *b = B + (size_t)ahead * N;
        if (whole && ahead + DEPTH <= end) {
            copy_stage<Width, true>(place, a, b, ROWS, BN, DEPTH, N, K);
        } else if (ahead < end) {
            copy_stage<Width, false>(place, a, b, rows, columns, end - ahead, N, K);
        }
        cp_async_commit();
        ahead += kWarps * DEPTH;
    };
    for (int stage = 0; stage < STAGES - 1; ++stage) {
        copy_next(stage);
    }
    for (int stage = 0; k < end; k += kWarps * DEPTH) {
        cp_async_wait<STAGES - 2>(); // this lane's copies of the stage are complete
        __syncwarp();                // those of all lanes, and no lane reads the stage before
        copy_next(stage == 0 ? STAGES - 1 : stage - 1);
        const float *a = ring + stage * kStage;
        const float *b = a + kStageA + lane * 4;
#pragma unroll
        for (int i = 0; i < DEPTH; i += 4) {
            float4 of_b[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                of_b[j] = *reinterpret_cast<const float4 *>(b + (i + j) * BN);
            }
#pragma unroll
            for (int y = 0; y < ROWS; ++y) { // all lanes read the same four numbers of A
                float4 four = *reinterpret_cast<const float4 *>(a + y * DEPTH + i);
                const float of_a[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    sum[y][0] += of_a[j] * of_b[j].x;
                    sum[y][1] += of_a[j] * of_b[j].y;
                    sum[y][2] += of_a[j] * of_b[j].z;
                    sum[y][3] += of_a[j] * of_b[j].w;
                }
            }
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    cp_async_wait<0>(); // the groups left are empty
}

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    sgemm_few_rows(const float *A, const float *B, float *C, float *partial, int *arrived, int M,
                   int N, int K)
{
    extern __shared__ float4 shared[];
    float *floats = reinterpret_cast<float *>(shared);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int column = blockIdx.x * BN, row = blockIdx.z * ROWS; // the first of the block's
    int slices = gridDim.y, steps = (K + DEPTH - 1) / DEPTH;
    int begin = (int)((long long)steps * blockIdx.y / slices) * DEPTH;
    int end = min((int)((long long)steps * (blockIdx.y + 1) / slices) * DEPTH, K);

    float sum[ROWS][4] = {};
    float *ring = floats + warp * STAGES * kStage;
    int k = begin + warp * DEPTH;
    const float *from_a = A + (size_t)row * K, *from_b = B + column;
    if (K % 4 == 0 && N % 4 == 0) { // then all rows begin at a multiple of 16 bytes
        add_slice<4>(sum, ring, from_a, from_b, k, end, M - row, N - column, N, K);
    } else {
        add_slice<1>(sum, ring, from_a, from_b, k, end, M - row, N - column, N, K);
    }

    float *out = slices == 1 ? C : partial + (size_t)blockIdx.y * M * N;
    int y = threadIdx.x / 32, x = column + lane * 4; // of the four results the thread adds up
#pragma unroll
    for (int first = 0; first < ROWS; first += kAtOnce) {
        __syncthreads(); // every warp is done with the rings and the rows before
#pragma unroll
        for (int i = 0; i < kAtOnce && first + i < ROWS; ++i) {
            shared[(warp * kAtOnce + i) * 32 + lane] = make_float4(
                sum[first + i][0], sum[first + i][1], sum[first + i][2], sum[first + i][3]);
        }
        __syncthreads(); // the sums of all warps are there
        if (first + y < ROWS && row + first + y < M) {
            float4 total = {};
            for (int other = 0; other < kWarps; ++other) {
                float4 addend = shared[(other * kAtOnce + y) * 32 + lane];
                total.x += addend.x;
                total.y += addend.y;
                total.z += addend.z;
                total.w += addend.w;
            }
            store_row4(out + (size_t)(row + first + y) * N, x, N, total);
        }
    }
    if (slices == 1 || !last_to_arrive(arrived + blockIdx.z * gridDim.x + blockIdx.x, slices)) {
        return;
    }
    for (int i = threadIdx.x; i < ROWS * BN; i += kThreads) {
        int in_row = row + i / BN, in_column = column + i % BN;
        if (in_row < M && in_column < N) {
            size_t element = (size_t)in_row * N + in_column;
            float total = 0.0f;
#pragma unroll 4
            for (int slice = 0; slice < slices; ++slice) {
                total += __ldcg(partial + (size_t)slice * M * N + element);
            }
            C[element] = total;
        }
    }
}
