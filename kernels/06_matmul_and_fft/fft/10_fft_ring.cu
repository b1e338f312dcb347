// The transforms of batch rows of N = M M complex points, M = 256. `middle` has room for `ring`
// rows, `counters` for 2 batch integers, 0 before every launch.
// Adds to fft_cluster: blocks that are independent, in one launch. Tiles of columns leave their
// results in `middle`; tiles of rows follow `lag` rows of `in` behind (lag < ring), so that what
// they fetch still lies in the L2 cache. Counters say when a row may be fetched, and when
// overwritten.
// Limit: four trips through the L2 cache, two of them on to memory. All blocks must run at once:
// an ordinary launch on a GPU that does nothing else.
// grid (at most as many blocks as run at once), block (256), dynamic shared 8 * 16 * (256 + 256 / 16 + 1)

#include "fft_lines.cuh"

constexpr int M = 256, N = M * M;
constexpr int kHeld = 16;        // points a thread
constexpr int kLines = 16;       // lines of a tile: whole 128-byte lines of memory
constexpr int kStep = M / kHeld; // between the points of a thread
constexpr int kTiles = M / kLines;
constexpr int kStride = M + M / 16 + 1; // of a row in shared memory

// ld.acquire: what the threads wrote whose add_release this number includes is seen from here on.
__device__ inline int load_acquire(const int *counter)
{
    int value;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
    return value;
}

// red.release: one more, after all that this thread, and its block before a barrier, has done.
__device__ inline void add_release(int *counter)
{
    asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(counter) : "memory");
}

// Until all blocks that raise `counter` have done so; then what they wrote before is seen.
__device__ inline void wait_for(const int *counter, int value)
{
    if (threadIdx.x == 0) {
        while (load_acquire(counter) < value) {
        }
    }
    __syncthreads();
}

__device__ inline void raise(int *counter)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        add_release(counter);
    }
}

// Blocks take tiles in turn, and a tile waits only for tiles before it: with all blocks running at
// once the first tile that is not done can always go on.
extern "C" __global__ void __launch_bounds__(kLines *kStep, 4)
    fft_ring(const float2 *in, float2 *out, float2 *middle, int *counters, int batch, int lag,
             int ring)
{
    extern __shared__ float2 shared[];
    int *written = counters, *fetched = counters + batch;
    for (int item = blockIdx.x; item < (batch + lag) * 2 * kTiles; item += gridDim.x) {
        int tile = item % kTiles;
        bool rows = item / kTiles % 2;
        int number = item / (2 * kTiles) - (rows ? lag : 0);
        if (number < 0 || number >= batch) {
            continue;
        }
        float2 *place = middle + (size_t)(number % ring) * N;
        float2 v[kHeld];
        int line = threadIdx.x % kLines, u = threadIdx.x / kLines;
        if (!rows) {
            const float2 *from = in + (size_t)number * N + u * M + tile * kLines + line;
#pragma unroll
            for (int m = 0; m < kHeld; ++m) {
                v[m] = __ldcs(from + m * kStep * M);
            }
            __syncthreads(); // the tile before has been read
            transform_lines<M, kLines>(v, u, line, shared);
            factors_between<N, kStep>(v, u, tile * kLines + line);
            if (number >= ring) {
                wait_for(&fetched[number - ring], kTiles);
            }
#pragma unroll
            for (int m = 0; m < kHeld; ++m) {
                __stcg(place + (u + kStep * m) * M + tile * kLines + line, v[m]);
            }
            raise(&written[number]);
        } else {
            int t = threadIdx.x % kStep, row = threadIdx.x / kStep; // neighbours along a row
            wait_for(&written[number], kTiles);
#pragma unroll
            for (int m = 0; m < kHeld; ++m) {
                v[m] = __ldcg(place + (tile * kLines + row) * M + t + kStep * m);
            }
            dft<16>(v);
            __syncthreads(); // the tile before has been read
#pragma unroll
            for (int r = 0; r < kHeld; ++r) {
                shared[row * kStride + 17 * t + r] = v[r]; // 16 t + r, padded
            }
            raise(&fetched[number]);
#pragma unroll
            for (int m = 0; m < kHeld; ++m) {
                v[m] = shared[line * kStride + (u + kStep * m) + m]; // (u + 16 m), padded
            }
            rest_of_line<M>(v, u);
            float2 *to = out + (size_t)number * N + tile * kLines + line;
#pragma unroll
            for (int m = 0; m < kHeld; ++m) {
                __stcs(to + M * (u + kStep * m), v[m]);
            }
        }
    }
}
