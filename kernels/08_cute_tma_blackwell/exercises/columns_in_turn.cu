// y[j] = the sum of column j of a rows x columns matrix of fp32, and columns is a multiple of
// four. Boxes of 8 x 32 come through a ring of three stages, zeros past the last row. Warp 0 adds,
// a column a lane, and thread 32 loads. `Pipeline` is CUTLASS's: producer_acquire waits for an
// empty stage and expects its bytes, producer_get_barrier gives the mbarrier for the copy,
// consumer_wait waits for the bytes, consumer_release is for every consumer thread.
// SM90_TMA_LOAD::copy takes a map's address, an mbarrier, the cache hint, where to, and the column
// and row of the box.
// grid (ceil(columns / 32)), block (64), dynamic shared 0

#include <cute/tensor.hpp>
#include <cutlass/pipeline/sm90_pipeline.hpp>
#include "tma.cuh"

using namespace cute;

using Pipeline = cutlass::PipelineTmaAsync<3>;
constexpr auto kHint = uint64_t(TMA::CacheHintSm90::EVICT_NORMAL);

extern "C" __global__ void columns_in_turn(const __grid_constant__ TensorMap x, float *y, int rows,
                                           int columns)
{
    __shared__ __align__(128) float ring[3][8][32];
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
    // TODO: thread 32 loads box after box, and the lanes of warp 0 add them, each role by its own
    // state. Lane j stores the sum of column 32 blockIdx.x + j if it exists
    // SOLUTION
    if (threadIdx.x == 32) {
        auto next = cutlass::make_producer_start_state<Pipeline>();
        for (int box = 0; box < boxes; ++box, ++next) {
            pipeline.producer_acquire(next);
            SM90_TMA_LOAD::copy(&x, pipeline.producer_get_barrier(next), kHint, ring[next.index()],
                                blockIdx.x * 32, box * 8);
        }
    } else if (!produces) {
        cutlass::PipelineState<3> read;
        float sum = 0.0f;
        for (int box = 0; box < boxes; ++box, ++read) {
            pipeline.consumer_wait(read);
            for (int row = 0; row < 8; ++row) {
                sum += ring[read.index()][row][threadIdx.x];
            }
            pipeline.consumer_release(read);
        }
        const int column = blockIdx.x * 32 + threadIdx.x;
        if (column < columns) {
            y[column] = sum;
        }
    }
    // END
}
