// Moving sums of tiles that cuda::memcpy_async brings two stages ahead of their use.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

constexpr int kStages = 2, kThreads = 64;

extern "C" __global__ void sums_with_pipeline(const float *in, float *out, int tiles)
{
    __shared__ alignas(16) float buffer[kStages][kThreads * 4];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);

    const float *mine = in + (size_t)blockIdx.x * tiles * kThreads * 4;
    int fetched = 0;
    float sum = 0;
    for (int t = 0; t < tiles; ++t) {
        for (; fetched < tiles && fetched < t + kStages; ++fetched) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[fetched % kStages], mine + fetched * kThreads * 4,
                               cuda::aligned_size_t<16>(sizeof(float) * kThreads * 4), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        for (int i = 0; i < 4; ++i) sum += buffer[t % kStages][(block.thread_rank() * 4 + i * 65) % 256];
        pipe.consumer_release();
    }
    out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

// A producer warp and three consumer warps with two cuda::barriers for each stage.
extern "C" __global__ void scale_by_producer(const float *in, float *out, int tiles)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ float buffer[2][96];
    __shared__ barrier ready[2], filled[2];
    auto block = cg::this_thread_block();
    if (block.thread_rank() < 2) {
        init(&ready[block.thread_rank()], block.size());
        init(&filled[block.thread_rank()], block.size());
    }
    block.sync();

    const int tid = threadIdx.x;
    if (tid < 32) {
        for (int t = 0; t < tiles; ++t) {
            ready[t % 2].arrive_and_wait();  // the buffer is free
            for (int i = tid; i < 96; i += 32) buffer[t % 2][i] = in[t * 96 + i];
            barrier::arrival_token token = filled[t % 2].arrive();
            (void)token;
        }
    } else {
        barrier::arrival_token t0 = ready[0].arrive();
        barrier::arrival_token t1 = ready[1].arrive();
        (void)t0, (void)t1;
        for (int t = 0; t < tiles; ++t) {
            filled[t % 2].arrive_and_wait();
            out[t * 96 + tid - 32] = 2 * buffer[t % 2][95 - (tid - 32)];
            barrier::arrival_token again = ready[t % 2].arrive();
            (void)again;
        }
    }
}

// Rows summed by tiles of a block that cooperative groups made.
#include <cooperative_groups/reduce.h>

extern "C" __global__ void sums_of_groups(const int *in, int *of_tiles, int *of_block, int *odd)
{
    __shared__ int partial[4];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    const int v = in[block.group_index().x * block.size() + block.thread_rank()];

    const int sum = cg::reduce(eight, v, cg::plus<int>());
    if (eight.thread_rank() == 0) {
        of_tiles[(blockIdx.x * block.size() + block.thread_rank()) / 8] = sum;
    }
    const int most = cg::reduce(warp, v, cg::greater<int>());
    if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = most;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        const int m = warp.thread_rank() < warp.meta_group_size() ? partial[warp.thread_rank()] : -1;
        const int all = cg::reduce(warp, m, cg::greater<int>());
        if (warp.thread_rank() == 0) of_block[blockIdx.x] = all;
    }
    if (v & 1) {
        auto active = cg::coalesced_threads();
        const int count = cg::reduce(active, 1, cg::plus<int>());
        if (active.thread_rank() == 0) atomicAdd(odd, count);
    }
}
