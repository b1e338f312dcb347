// The running sums of each tile of 4096 elements of n fp32, and the tile's own sum in sums[b].
// The same as scan_tiles, by CUB: BlockLoad and BlockStore turn between the order of memory and 16
// elements in a row for each thread, BlockScan adds up. Their room in shared memory is shared too.
// grid (ceil(n / 4096)), block (256), dynamic shared 0

#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

constexpr int kThreads = 256;
constexpr int kItems = 16;

extern "C" __global__ void scan_cub_block(const float *x, float *out, float *sums, int n)
{
    using Load = cub::BlockLoad<float, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<float, kThreads>;
    using Store = cub::BlockStore<float, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Scan::TempStorage scan;
        typename Store::TempStorage store;
    } room;
    const int first = blockIdx.x * kThreads * kItems;
    float item[kItems], sum;
    Load(room.load).Load(x + first, item, n - first, 0.0f);
    __syncthreads(); // the room may be used again
    Scan(room.scan).InclusiveSum(item, item, sum);
    __syncthreads();
    Store(room.store).Store(out + first, item, n - first);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}
