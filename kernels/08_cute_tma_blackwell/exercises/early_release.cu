// y[j] = the sum of x[i][j] w[i][j] over the rows of two rows x columns matrices of fp32, and
// columns is a multiple of four. A stage of the ring holds a box of 8 x 32 of each, zeros past the
// last row. Warp 0 adds, a column a lane, and thread 32 loads.
// grid (ceil(columns / 32)), block (64), dynamic shared 0

#include <cute/tensor.hpp>
#include <cutlass/pipeline/sm90_pipeline.hpp>
#include "tma.cuh"

using namespace cute;

using Pipeline = cutlass::PipelineTmaAsync<2>;
constexpr auto kHint = uint64_t(TMA::CacheHintSm90::EVICT_NORMAL);

extern "C" __global__ void early_release(const __grid_constant__ TensorMap x,
                                         const __grid_constant__ TensorMap w, float *y, int rows,
                                         int columns)
{
    __shared__ __align__(128) float ring[2][2][8][32]; // stage, matrix, row, column
    __shared__ __align__(16) unsigned char room[sizeof(Pipeline::SharedStorage)];
    const bool produces = threadIdx.x >= 32;
    Pipeline::Params params;
    params.transaction_bytes = sizeof(ring[0]);
    params.role =
        produces ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
    params.is_leader = threadIdx.x == 32;
    params.num_consumers = 32;
    Pipeline pipeline(*reinterpret_cast<Pipeline::SharedStorage *>(room), params,
                      Shape<_1, _1, _1>{});
    __syncthreads();
    const int boxes = ceil_div(rows, 8);
    if (threadIdx.x == 32) {
        auto next = cutlass::make_producer_start_state<Pipeline>();
        for (int box = 0; box < boxes; ++box, ++next) {
            pipeline.producer_acquire(next);
            uint64_t *full = pipeline.producer_get_barrier(next);
            SM90_TMA_LOAD::copy(&x, full, kHint, ring[next.index()][0], blockIdx.x * 32, box * 8);
            SM90_TMA_LOAD::copy(&w, full, kHint, ring[next.index()][1], blockIdx.x * 32, box * 8);
        }
    } else if (!produces) {
        cutlass::PipelineState<2> read;
        float sum = 0.0f;
        for (int box = 0; box < boxes; ++box) {
            pipeline.consumer_wait(read);
            const auto &stage = ring[read.index()];
            // BUG
            //| pipeline.consumer_release(read);
            //| ++read;
            //| for (int row = 0; row < 8; ++row) {
            //|     sum += stage[0][row][threadIdx.x] * stage[1][row][threadIdx.x];
            //| }
            // SOLUTION
            for (int row = 0; row < 8; ++row) {
                sum += stage[0][row][threadIdx.x] * stage[1][row][threadIdx.x];
            }
            pipeline.consumer_release(read);
            ++read;
            // END
        }
        const int column = blockIdx.x * 32 + threadIdx.x;
        if (column < columns) {
            y[column] = sum;
        }
    }
}
