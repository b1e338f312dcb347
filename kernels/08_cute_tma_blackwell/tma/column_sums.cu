// sums[j] = the sum of column j of a rows x columns matrix of fp32, for columns a multiple of four.
// The tensor map has boxes of BOX_ROWS x 32.
// Adds to box_copied a ring of STAGES boxes: `full` says that a box has arrived, `empty` that all
// have read it. One thread copies, and 32 threads add.
// Limit: latency; a block has one warp that adds.
// grid (ceil(columns / 32)), block (64), dynamic shared 0

#include "ptx.cuh"
#include "tma.cuh"

#ifndef STAGES
#define STAGES 2
#endif
#ifndef BOX_ROWS
#define BOX_ROWS 16
#endif

constexpr int kWidth = 32; // columns of a block
constexpr int kBoxBytes = BOX_ROWS * kWidth * 4;

extern "C" __global__ void column_sums(const __grid_constant__ TensorMap x, float *sums, int rows,
                                       int columns)
{
    __shared__ __align__(128) float ring[STAGES][BOX_ROWS][kWidth];
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    const int boxes = (rows + BOX_ROWS - 1) / BOX_ROWS;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            mbarrier_init(shared_address(&full[stage]), 1);
            mbarrier_init(shared_address(&empty[stage]), kWidth);
        }
        mbarriers_are_ready();
    }
    __syncthreads();

    if (threadIdx.x == kWidth) { // the producer
        for (int box = 0; box < boxes; ++box) {
            const int stage = box % STAGES, lap = box / STAGES;
            mbarrier_wait(shared_address(&empty[stage]), lap % 2 ^ 1); // passes in the first lap
            mbarrier_expect(shared_address(&full[stage]), kBoxBytes);
            tma_load(shared_address(ring[stage]), &x, blockIdx.x * kWidth, box * BOX_ROWS,
                     shared_address(&full[stage]));
        }
    } else if (threadIdx.x < kWidth) { // the consumers
        float sum = 0.0f;
        for (int box = 0; box < boxes; ++box) {
            const int stage = box % STAGES, lap = box / STAGES;
            mbarrier_wait(shared_address(&full[stage]), lap % 2);
            for (int row = 0; row < BOX_ROWS; ++row) {
                sum += ring[stage][row][threadIdx.x]; // zeros below the last row of x
            }
            mbarrier_arrive(shared_address(&empty[stage]));
        }
        const int column = blockIdx.x * kWidth + threadIdx.x;
        if (column < columns) {
            sums[column] = sum;
        }
    }
}
