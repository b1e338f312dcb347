// largest[j] = the largest element of column j of a rows x columns matrix of fp32; columns is a
// multiple of four. Boxes of 8 x 32 come through a ring of two stages; where a box goes past the
// last row, TMA fills it with NaN, which fmaxf leaves out.
// grid (ceil(columns / 32)), block (64), dynamic shared 0

#include "ptx.cuh"
#include "tma.cuh"

constexpr int kStages = 2, kBytes = 8 * 32 * 4;

extern "C" __global__ void stuck_ring(const __grid_constant__ TensorMap x, float *largest, int rows,
                                      int columns)
{
    __shared__ __align__(128) float ring[kStages][8][32];
    __shared__ unsigned long long full[kStages], empty[kStages];
    const int lane = threadIdx.x % 32, boxes = (rows + 7) / 8;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < kStages; ++stage) {
            mbarrier_init(shared_address(&full[stage]), 1);
            // BUG
            //| mbarrier_init(shared_address(&empty[stage]), 32);
            // SOLUTION
            mbarrier_init(shared_address(&empty[stage]), 1); // lane 0 arrives for all
            // END
        }
        mbarriers_are_ready();
    }
    __syncthreads();
    if (threadIdx.x == 32) {
        for (int box = 0; box < boxes; ++box) {
            const int stage = box % kStages, lap = box / kStages;
            mbarrier_wait(shared_address(&empty[stage]), lap % 2 ^ 1);
            mbarrier_expect(shared_address(&full[stage]), kBytes);
            tma_load(shared_address(ring[stage]), &x, blockIdx.x * 32, box * 8,
                     shared_address(&full[stage]));
        }
    } else if (threadIdx.x < 32) {
        float most = __int_as_float(0xff800000); // -inf
        for (int box = 0; box < boxes; ++box) {
            const int stage = box % kStages, lap = box / kStages;
            mbarrier_wait(shared_address(&full[stage]), lap % 2);
            for (int row = 0; row < 8; ++row) {
                most = fmaxf(most, ring[stage][row][lane]);
            }
            __syncwarp(); // all lanes have read the stage
            if (lane == 0) {
                mbarrier_arrive(shared_address(&empty[stage]));
            }
        }
        if (blockIdx.x * 32 + lane < columns) {
            largest[blockIdx.x * 32 + lane] = most;
        }
    }
}
