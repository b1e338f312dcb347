// The row of each assignment in the permuted array: places[i] = the expert's offset + its
// assignments in earlier chunks (`before`, chunks x EXPERTS) + those before i in i's chunk. So the
// rows of an expert stay in the order of tokens: a stable sort by expert. Any n.
// The idea: the rank inside of a chunk, as sort_pass finds it for digits: match_any in a warp, and
// the counts of earlier warps.
// Limit: an integer for each warp and expert in shared memory.
// grid (ceil(n / CHUNK)), block (CHUNK), dynamic shared 0

#include "experts.cuh"

constexpr int kWarps = CHUNK / 32;

extern "C" __global__ void place_tokens(const int *chosen, const int *offsets, const int *before,
                                        int *places, int n)
{
    __shared__ int count[kWarps][EXPERTS]; // then: of earlier warps and chunks
    for (int j = threadIdx.x; j < kWarps * EXPERTS; j += CHUNK) {
        count[0][j] = 0;
    }
    __syncthreads();
    const int i = blockIdx.x * CHUNK + threadIdx.x;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int expert = i < n ? chosen[i] : -1;
    const unsigned same = __match_any_sync(0xffffffff, expert);
    const int rank = __popc(same & ((1u << lane) - 1));
    if (expert >= 0 && rank == 0) { // the first of its expert in the warp
        count[warp][expert] = __popc(same);
    }
    __syncthreads();
    for (int e = threadIdx.x; e < EXPERTS; e += CHUNK) {
        int sum = offsets[e] + before[(size_t)blockIdx.x * EXPERTS + e];
        for (int w = 0; w < kWarps; ++w) {
            const int own = count[w][e];
            count[w][e] = sum;
            sum += own;
        }
    }
    __syncthreads();
    if (expert >= 0) {
        places[i] = count[warp][expert] + rank;
    }
}
