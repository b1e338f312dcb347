// y[b] = x[b] + pattern, for `images` pictures of 32 x 32 floats, an even number; x and y are
// images * 32 rows of 32. The maps of x and y have boxes of 32 x 32, that of the pattern of 16 x
// 32.
// Two blocks of a cluster need the same pattern: each loads half of it, for both.
// Limit: latency; a block has one picture.
// grid (images), block (256), dynamic shared 0

#include "ptx.cuh"
#include "tma_multicast.cuh"
#include "tma_store.cuh"

constexpr int kSide = 32, kPicture = kSide * kSide;
constexpr int kBlocks = 2;             // of a cluster
constexpr int kPart = kSide / kBlocks; // rows of the pattern that a block loads

extern "C" __global__ void __cluster_dims__(kBlocks)
    shared_pattern(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap pattern,
                   const __grid_constant__ TensorMap y)
{
    __shared__ __align__(128) float picture[kPicture], shape[kPicture];
    __shared__ unsigned long long arrived;
    const unsigned barrier = shared_address(&arrived);
    const int rank = cluster_rank();
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
        mbarrier_expect(barrier, sizeof(picture) + sizeof(shape)); // all that comes, from anywhere
    }
    cluster_arrive();
    cluster_wait(); // the barriers of both blocks are there
    if (threadIdx.x == 0) {
        tma_load(shared_address(picture), &x, 0, blockIdx.x * kSide, barrier);
        tma_load_multicast(shared_address(shape + rank * kPart * kSide), &pattern, 0, rank * kPart,
                           barrier, (1 << kBlocks) - 1);
    }
    mbarrier_wait(barrier, 0);
    for (int i = threadIdx.x; i < kPicture; i += blockDim.x) {
        picture[i] += shape[i];
    }
    writes_are_ready();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store(&y, 0, blockIdx.x * kSide, shared_address(picture));
        tma_commit();
        tma_wait_read<0>();
    }
    cluster_arrive();
    cluster_wait(); // neither block ends while the other may still send to it
}
