// outputs[r][i] = the sum over all ranks s of inputs[s][i], for n floats, on every rank r.
// The idea, beside all_reduce_push: a float and its flag travel as one word of eight bytes, so what
// shows the flag holds the float, and no ranks meet: the time of one store over the link.
// boxes[r] is memory of rank r, at 0 at first: two halves, which turns use alternately, each of
// `most` words for each rank. turns[r]: as in peers.cuh. The grid is the same at every launch.
// Limit: half of what travels is flags: for small n. Takes 1 <= n <= most; resident at once.
// grid (any, 1 or ranks), block (any), dynamic shared 0

#include <cuda/atomic>

using Word = unsigned long long;
using SharedWord = cuda::atomic_ref<Word, cuda::thread_scope_system>;

extern "C" __global__ void all_reduce_flagged(const float *const *inputs, float *const *outputs,
                                              Word *const *boxes, unsigned *const *turns,
                                              int first_rank, int ranks, int n, int most)
{
    const int rank = first_rank + blockIdx.y;
    const int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    const unsigned turn = turns[rank][blockIdx.x] + 1;
    const size_t half = static_cast<size_t>(turn % 2) * ranks * most;
    const float *const input = inputs[rank];

    for (int i = first; i < n; i += stride) {
        const Word word = static_cast<Word>(turn) << 32 | __float_as_uint(input[i]);
        for (int step = 1; step < ranks; ++step) {
            Word *const theirs = boxes[(rank + step) % ranks] + half;
            SharedWord(theirs[static_cast<size_t>(rank) * most + i])
                .store(word, cuda::memory_order_relaxed);
        }
    }
    for (int i = first; i < n; i += stride) {
        float sum = 0.0f;
        for (int other = 0; other < ranks; ++other) {
            if (other == rank) {
                sum += input[i];
                continue;
            }
            SharedWord mine(boxes[rank][half + static_cast<size_t>(other) * most + i]);
            Word word = mine.load(cuda::memory_order_relaxed);
            while (word >> 32 != turn) {
                word = mine.load(cuda::memory_order_relaxed);
            }
            sum += __uint_as_float(static_cast<unsigned>(word));
        }
        outputs[rank][i] = sum;
    }
    __syncthreads(); // all threads have read the turn
    if (threadIdx.x == 0) {
        turns[rank][blockIdx.x] = turn;
    }
}
