// y[256 b + t] = the sum of the elements 255 - t of block b's tiles, which have 256 floats each. The
// next tile is copied while this one is added: two stages of a cuda::pipeline. x is tiles * 256
// floats a block, and begins at a multiple of 16 bytes.
// grid (blocks), block (256), dynamic shared 0

#include <cooperative_groups.h>
#include <cuda/pipeline>
#pragma nv_diag_suppress static_var_with_dynamic_init

constexpr int kTile = 256;
constexpr int kStages = 2;

extern "C" __global__ void add_tiles(const float* x, float* y, int tiles)
{
    __shared__ alignas(16) float tile[kStages][kTile];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
    const auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const float* from = x + (size_t)blockIdx.x * tiles * kTile;

    float sum = 0.0f;
    for (int issued = 0, used = 0; used < tiles; ++used) {
        for (; issued < tiles && issued < used + kStages; ++issued) {
            pipe.producer_acquire(); // wait until a stage is free
            cuda::memcpy_async(block, tile[issued % kStages], from + issued * kTile,
                               cuda::aligned_size_t<16>(sizeof(tile[0])), pipe);
            pipe.producer_commit(); // the stage is complete when its copies are
        }
        pipe.consumer_wait(); // for the oldest stage
        sum += tile[used % kStages][kTile - 1 - threadIdx.x];
        pipe.consumer_release(); // this thread has read the stage
    }
    y[blockIdx.x * kTile + threadIdx.x] = sum;
}
