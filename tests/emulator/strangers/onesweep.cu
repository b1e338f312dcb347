// One pass of a radix sort by 4 bits: tiles learn where their digits go from the tiles before them
// while those still work (decoupled look-back). Tiles are numbered in the order of their start.
#include <cstdint>

constexpr int RADIX = 16, THREADS = 128, PER_THREAD = 4, TILE = THREADS * PER_THREAD;
constexpr uint32_t FLAG_NONE = 0, FLAG_REDUCTION = 1, FLAG_INCLUSIVE = 2, FLAG_MASK = 3;

extern "C" __global__ __launch_bounds__(THREADS) void digit_binning_pass(
    const uint32_t *sort, uint32_t *alt, const uint32_t *global_first, volatile uint32_t *pass_histogram,
    uint32_t *index, uint32_t size, uint32_t shift)
{
    __shared__ uint32_t s_warp_hists[THREADS / 32][RADIX];
    __shared__ uint32_t s_first[RADIX];
    __shared__ uint32_t s_partition;
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;

    if (threadIdx.x == 0) s_partition = atomicAdd(index, 1);
    if (lane < RADIX) s_warp_hists[warp][lane] = 0;
    __syncthreads();
    const uint32_t partition = s_partition;

    uint32_t keys[PER_THREAD], offsets[PER_THREAD];
#pragma unroll
    for (int i = 0; i < PER_THREAD; ++i) {
        const uint32_t at = partition * TILE + warp * 32 * PER_THREAD + i * 32 + lane;
        keys[i] = at < size ? sort[at] : 0xffffffff;
    }
#pragma unroll
    for (int i = 0; i < PER_THREAD; ++i) {  // warp-level multi-split
        const uint32_t digit = (keys[i] >> shift) & (RADIX - 1);
        const uint32_t peers = __match_any_sync(0xffffffff, digit);
        const uint32_t before = __popc(peers & ((1u << lane) - 1));
        const uint32_t seen = s_warp_hists[warp][digit];
        __syncwarp();
        if (before == 0) s_warp_hists[warp][digit] = seen + __popc(peers);
        __syncwarp();
        offsets[i] = seen + before;
    }
    __syncthreads();

    if (threadIdx.x < RADIX) {
        uint32_t sum = 0;
        for (int w = 0; w < THREADS / 32; ++w) {
            const uint32_t mine = s_warp_hists[w][threadIdx.x];
            s_warp_hists[w][threadIdx.x] = sum;
            sum += mine;
        }
        const uint32_t flag = partition == 0 ? FLAG_INCLUSIVE : FLAG_REDUCTION;
        pass_histogram[partition * RADIX + threadIdx.x] = sum << 2 | flag;

        uint32_t prefix = 0;  // look back
        for (int k = (int)partition - 1; k >= 0;) {
            const uint32_t payload = pass_histogram[k * RADIX + threadIdx.x];
            if ((payload & FLAG_MASK) == FLAG_NONE) continue;
            prefix += payload >> 2;
            if ((payload & FLAG_MASK) == FLAG_INCLUSIVE) break;
            --k;
        }
        if (partition) pass_histogram[partition * RADIX + threadIdx.x] = (prefix + sum) << 2 | FLAG_INCLUSIVE;
        s_first[threadIdx.x] = global_first[threadIdx.x] + prefix;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < PER_THREAD; ++i) {
        const uint32_t digit = (keys[i] >> shift) & (RADIX - 1);
        const uint32_t to = s_first[digit] + s_warp_hists[warp][digit] + offsets[i];
        if (to < size) alt[to] = keys[i];
    }
}
