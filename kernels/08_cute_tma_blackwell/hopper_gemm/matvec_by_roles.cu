// y = A x for a row-major A (8 x K), x (K) and y (8), all fp32; K a multiple of 4. A comes as a
// tensor map with boxes of 8 x 4.
// The roles of gemm_two_consumers, small enough to watch: one thread fills a ring of STAGES boxes,
// and each of two consumer warps uses every box for its four rows. A stage is free again after one
// arrival of each consumer.
// Limit: four lanes of a consumer compute, without tensor cores.
// grid 1, block (65), dynamic shared 0

#include "ptx.cuh"
#include "tma.cuh"

#ifndef STAGES
#define STAGES 2
#endif

constexpr int kRows = 8;                 // of A and of a box
constexpr int kColumns = 4;              // of a box, which is 128 bytes
constexpr int kConsumers = 2;            // warps
constexpr int kOwn = kRows / kConsumers; // rows of a consumer, one for each of its first lanes

extern "C" __global__ void matvec_by_roles(const __grid_constant__ TensorMap A, const float *x,
                                           float *y, int K)
{
    __shared__ __align__(128) float ring[STAGES][kRows][kColumns];
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            mbarrier_init(shared_address(&full[stage]), 1);
            mbarrier_init(shared_address(&empty[stage]), kConsumers);
        }
        mbarriers_are_ready();
    }
    __syncthreads();

    if (warp == kConsumers) { // the producer
        for (int box = 0; box < K / kColumns; ++box) {
            const int stage = box % STAGES, parity = box / STAGES % 2;
            const unsigned tile = shared_address(ring[stage]);
            const unsigned arrived = shared_address(&full[stage]);
            mbarrier_wait(shared_address(&empty[stage]), parity ^ 1); // a new ring is empty
            mbarrier_expect(arrived, sizeof(ring[stage]));
            tma_load(tile, &A, box * kColumns, 0, arrived);
        }
    } else if (lane < kOwn) { // a consumer
        const int row = warp * kOwn + lane;
        float sum = 0.0f;
        for (int box = 0; box < K / kColumns; ++box) {
            const int stage = box % STAGES, parity = box / STAGES % 2;
            mbarrier_wait(shared_address(&full[stage]), parity);
            const float4 a = *reinterpret_cast<const float4 *>(ring[stage][row]);
            const float4 b = reinterpret_cast<const float4 *>(x)[box];
            sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
            __syncwarp((1u << kOwn) - 1); // the consumer's lanes have read
            if (lane == 0) {
                mbarrier_arrive(shared_address(&empty[stage]));
            }
        }
        y[row] = sum;
    }
}
