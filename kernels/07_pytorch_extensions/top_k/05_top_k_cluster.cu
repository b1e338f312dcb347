// The k largest elements of each row of x, rows x columns of fp32, and their indices, the largest
// first if SORTED; order and ties as in top_k_rounds.cu. k is at most columns and 2 * THREADS.
// Adds to top_k_merge.cu: the blocks of a row are a cluster. The first block reads the candidates
// of the others in their shared memory, so that there is one launch, and no list in global memory.
// Limit: latency; for many rows memory bandwidth, where blocks of one row wait for each other.
// grid (rows * CLUSTER), block (THREADS), dynamic shared (16 * STAGES + 8 * OWN) * THREADS

#include "cluster.cuh"
#include "top_k_stream.cuh"

#ifndef THREADS
#define THREADS 1024
#endif
#ifndef GROUPS
#define GROUPS 1
#endif
#ifndef CLUSTER
#define CLUSTER 8
#endif
#ifndef SORTED
#define SORTED 1
#endif

constexpr int kReaders = THREADS / CLUSTER; // threads that read what one block has

// ld.shared::cluster: a pair at an address of address_in_block.
__device__ Pair load_cluster_pair(unsigned from)
{
    Pair pair;
    asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(pair) : "r"(from) : "memory");
    return pair;
}

// ld.shared::cluster: a number at an address of address_in_block.
__device__ int load_cluster_int(unsigned from)
{
    int number;
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(number) : "r"(from) : "memory");
    return number;
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS)
    top_k_cluster(const float *x, float *values, long long *indices, int columns, int k)
{
    extern __shared__ float4 ring[]; // [kStages][THREADS], then the candidates
    Pair *kept = reinterpret_cast<Pair *>(ring + kStages * THREADS);
    __shared__ Room room;
    clear<THREADS>(room);
    int rank = cluster_rank();
    int length = (columns + 4 * CLUSTER - 1) / (4 * CLUSTER) * 4; // of a block's part
    int start = min(rank * length, columns);
    int row = blockIdx.x / CLUSTER;
    Pair bound = stream<THREADS, GROUPS>(x + (long long)row * columns + start,
                                         min(length, columns - start), start, k, ring, kept, room);
    cluster_arrive();
    cluster_wait(); // the candidates of all blocks are there
    if (rank == 0) {
        int most = 0; // candidates of a block
        for (int other = 1; other < CLUSTER; ++other) {
            most =
                max(most, load_cluster_int(address_in_block(shared_address(&room.count), other)));
        }
        int other = threadIdx.x / kReaders;
        int theirs = load_cluster_int(address_in_block(shared_address(&room.count), other));
        __syncthreads(); // all have read, before one is added to this block's
        for (int i = threadIdx.x % kReaders; i - int(threadIdx.x % kReaders) < most;
             i += kReaders) {
            bool there = other > 0 && i < theirs;
            Pair pair = 0;
            if (there) {
                pair = load_cluster_pair(address_in_block(shared_address(&kept[i]), other));
            }
            while (true) {
                there = !add(there && pair >= bound, pair, kept, kOwn * THREADS, &room.count);
                if (!__syncthreads_or(there)) {
                    break;
                }
                bound = make_room<THREADS, kOwn>(kept, k, room);
            }
        }
        long long first = (long long)row * k;
        store_largest<THREADS, kOwn, SORTED>(kept, k, values + first, indices + first, room);
    }
    cluster_arrive();
    cluster_wait(); // all have been read: a block may end
}
