// D = A B^T for row-major bf16 matrices A (M x K), B (N x K) and D (M x N), with any M, and N and K
// multiples of 8. The tensor maps of A, B and D have boxes of 128 x 64, BN / 2 x 64 and 32 x 64 and
// a swizzle of 128 bytes.
// Adds to umma_boxes cluster launch control: the grid has a pair for each tile. A pair that runs
// asks for the next one that hasn't started, computes its tile, and asks again until it's refused.
// Both blocks get each answer. The loaders ask one tile ahead, and eleven readers free it.
// Limit: not known, since no GPU has run it.
// grid (2 * ceil(M / 256) * ceil(N / BN)), block (192), dynamic shared as umma_boxes

#include "launch_control.cuh"
#include "ptx.cuh"
#include "tcgen05.cuh"
#include "tmem_boxes.cuh"

#ifndef BN
#define BN 256
#endif
#ifndef STAGES
#define STAGES 6
#endif
#ifndef ACCUMULATORS
#define ACCUMULATORS 2
#endif

constexpr int kRows = 128, kSteps = 64; // of D per block, and of K in a box
constexpr int kABytes = kRows * 128, kStage = kABytes + BN / 2 * 128; // bytes in each block
constexpr int kLoader = 4, kMultiplier = 5;                           // warps, and 0 to 3 store
constexpr int kReaders = 11; // of an answer: two loaders, one multiplier, eight storing warps

// Answers to requests for tiles, two that take turns. `answered` and `read` are the first of
// two mbarriers each. A phase of `answered` ends when an answer has come to this block, a phase of
// the even block's `read` when all readers have it.
struct Answers {
    unsigned words, answered, read;

    // The tile of answer number `turn`, or -1 if no pair was cancelled. One lane calls it.
    __device__ int next(int turn) const
    {
        const int slot = turn % 2;
        mbarrier_wait(answered + 8 * slot, turn / 2 % 2);
        const int block = cancelled_block(words + 16 * slot);
        writes_are_ready(); // and the read comes before the answer that overwrites it
        mbarrier_arrive_there(address_in_block(read + 8 * slot, 0));
        return block < 0 ? -1 : block / 2;
    }
};

extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(192)
    umma_clc(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
             const __grid_constant__ TensorMap D, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char ring[];
    __shared__ unsigned long long full[STAGES], empty[STAGES], done[ACCUMULATORS],
        freed[ACCUMULATORS], answered[2], read[2];
    __shared__ __align__(16) unsigned char words[2 * 16];
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32, rank = cluster_rank(), steps = (K + kSteps - 1) / kSteps;
    const int tiles_down = (M + 2 * kRows - 1) / (2 * kRows), own_tile = blockIdx.x / 2;
    const Answers answers = {shared_address(words), shared_address(answered), shared_address(read)};
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            mbarrier_init(shared_address(&full[stage]), 1); // used in the even block
            mbarrier_init(shared_address(&empty[stage]), 1);
        }
        for (int part = 0; part < ACCUMULATORS; ++part) {
            mbarrier_init(shared_address(&done[part]), 1);
            mbarrier_init(shared_address(&freed[part]), 8); // the storing warps of both blocks
        }
        for (int slot = 0; slot < 2; ++slot) {
            mbarrier_init(answers.answered + 8 * slot, 1);
            mbarrier_init(answers.read + 8 * slot, kReaders); // used in the even block
        }
        mbarriers_are_ready();
    }
    cluster_arrive();
    cluster_wait(); // both blocks have started, and their barriers are there
    if (warp == kMultiplier) {
        tmem_alloc<2>(shared_address(&allocated), ACCUMULATORS * BN);
        tmem_relinquish<2>();
    }
    __syncthreads();
    const unsigned sums = allocated;

    if (warp == kLoader && elected()) {
        int n = 0; // steps of all tiles so far
        for (int tile = own_tile, turn = 0; tile >= 0; tile = answers.next(turn++)) {
            const int slot = turn % 2; // of the next tile's answer
            if (rank == 0) {
                mbarrier_wait(answers.read + 8 * slot, turn / 2 % 2 ^ 1);
            }
            mbarrier_expect(answers.answered + 8 * slot, 16);
            if (rank == 0) {
                ask_for_cluster(answers.words + 16 * slot, answers.answered + 8 * slot);
            }
            const int row = tile % tiles_down * 2 * kRows + rank * kRows;
            const int column = tile / tiles_down * BN + rank * BN / 2;
            for (int step = 0; step < steps; ++step, ++n) {
                const int stage = n % STAGES, lap = n / STAGES;
                const unsigned boxes = shared_address(ring) + stage * kStage;
                const unsigned barrier = address_in_block(shared_address(&full[stage]), 0);
                mbarrier_wait(shared_address(&empty[stage]), lap % 2 ^ 1);
                if (rank == 0) {
                    mbarrier_expect(shared_address(&full[stage]), 2 * kStage); // of both blocks
                }
                tma_load_pair(boxes, &A, step * kSteps, row, barrier);
                tma_load_pair(boxes + kABytes, &B, step * kSteps, column, barrier);
            }
        }
        for (int last = n + STAGES; n < last; ++n) { // no commit comes after our end
            mbarrier_wait(shared_address(&empty[n % STAGES]), n / STAGES % 2 ^ 1);
        }
    } else if (warp == kMultiplier && rank == 0 && elected()) {
        for (int tile = own_tile, n = 0, turn = 0; tile >= 0; tile = answers.next(turn++)) {
            const int part = turn % ACCUMULATORS, lap = turn / ACCUMULATORS; // of the columns
            mbarrier_wait(shared_address(&freed[part]), lap % 2 ^ 1);
            for (int step = 0; step < steps; ++step, ++n) {
                const int stage = n % STAGES;
                const unsigned boxes = shared_address(ring) + stage * kStage;
                mbarrier_wait(shared_address(&full[stage]), n / STAGES % 2);
                tmem_after_sync();
                for (int k = 0; k < 4; ++k) {
                    umma<2>(sums + part * BN, umma_tile(boxes) + 2 * k,
                            umma_tile(boxes + kABytes) + 2 * k, umma_bf16(2 * kRows, BN),
                            step + k > 0);
                }
                umma_commit_pair(shared_address(&empty[stage]));
            }
            umma_commit_pair(shared_address(&done[part]));
        }
    } else if (warp < 4) {
        unsigned char *boxes = ring + STAGES * kStage + 2 * warp * kBoxBytes;
        int boxes_so_far = 0;
        for (int tile = own_tile, turn = 0; tile >= 0; ++turn) {
            const int part = turn % ACCUMULATORS, lap = turn / ACCUMULATORS;
            mbarrier_wait(shared_address(&done[part]), lap % 2);
            tmem_after_sync();
            const int row = tile % tiles_down * 2 * kRows + rank * kRows + warp * 32;
            store_boxes(&D, row, tile / tiles_down * BN, BN, N,
                        sums + part * BN + (warp * 32 << 16), boxes, boxes_so_far);
            tmem_before_sync();
            __syncwarp();
            if (elected()) { // for all lanes of the warp, which have fetched
                mbarrier_arrive_there(address_in_block(shared_address(&freed[part]), 0));
            }
            tile = __shfl_sync(~0u, threadIdx.x % 32 == 0 ? answers.next(turn) : 0, 0);
        }
        if (threadIdx.x % 32 == 0) {
            tma_wait_read<0>(); // shared memory lives as long as it is read
        }
    }
    __syncwarp();
    cluster_arrive();
    cluster_wait(); // no block ends while the other one's products read its shared memory
    if (warp == kMultiplier) {
        tmem_dealloc<2>(sums, ACCUMULATORS * BN);
    }
}
