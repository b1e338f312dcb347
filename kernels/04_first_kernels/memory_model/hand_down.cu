// y[i] = 2 * x[i] + 1 for n ints, by a cluster of two blocks: block 0 doubles 32 numbers at a time
// and leaves them in the shared memory of block 1, which adds 1 and stores them.
// The idea: a block arrives at a barrier in the other block's memory. `full` is in block 1, `empty`
// in block 0; the last arrival at `empty` is waited for by nobody, and needs a block that is there.
// Limit: latency. Takes any n; needs sm_90.
// grid (2), block (32), dynamic shared 0

#include "cluster.cuh"
#include "ptx.cuh"
#include "tma.cuh"

constexpr int kLanes = 32;

// mbarrier.arrive: one arrival at an address of address_in_block, which releases in the cluster.
__device__ void arrive_at(unsigned barrier)
{
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier)
                 : "memory");
}

// mbarrier.try_wait.parity: as mbarrier_wait, and acquires in the cluster.
__device__ void wait_in_cluster(unsigned barrier, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred ended;\n"
                 "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 ended, [%0], %1;\n"
                 "@!ended bra again;\n"
                 "}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

// st.shared::cluster: an int to an address of address_in_block.
__device__ void store_cluster(unsigned to, int value)
{
    asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) hand_down(const int *x, int *y, int n)
{
    __shared__ int box[kLanes];
    __shared__ unsigned long long full, empty;
    const int lane = threadIdx.x, pieces = (n + kLanes - 1) / kLanes;
    if (lane == 0) {
        mbarrier_init(shared_address(&full), kLanes);
        mbarrier_init(shared_address(&empty), kLanes);
        mbarriers_are_ready();
    }
    cluster_arrive();
    cluster_wait(); // the barriers are there
    const unsigned their_box = address_in_block(shared_address(&box[lane]), 1);
    const unsigned their_full = address_in_block(shared_address(&full), 1);
    const unsigned their_empty = address_in_block(shared_address(&empty), 0);
    for (int piece = 0; piece < pieces; ++piece) {
        const int i = piece * kLanes + lane;
        if (cluster_rank() == 0) {
            if (piece > 0) wait_in_cluster(shared_address(&empty), (piece - 1) % 2);
            store_cluster(their_box, i < n ? 2 * x[i] : 0);
            arrive_at(their_full);
        } else {
            wait_in_cluster(shared_address(&full), piece % 2);
            if (i < n) y[i] = box[lane] + 1;
            arrive_at(their_empty);
        }
    }
    cluster_arrive();
    cluster_wait(); // the last arrival has come: a block may end
}
