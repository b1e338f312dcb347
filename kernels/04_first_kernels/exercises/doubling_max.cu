// high[i] = the largest of x[0] to x[i], for n integers, in rounds: in round r each element takes the
// larger of itself and the one 2^r places before, as long as 2^r < n. The rounds alternate between
// `a`, which holds x at first, and `b`; the result ends in `a` after an even number of rounds, else in
// `b`. arrived[0] is 0 before the launch, and so is done[0], which counts blocks that have ended; the
// last of them sets both to 1. Takes any n, any grid that is resident at once, any block.
// grid (any), block (any), dynamic shared 0

constexpr int kPiece = 100;  // elements that a block takes at a time

// Waits until all blocks of the grid have come here for the time-th time, from 1 on.
__device__ void wait_for_grid(unsigned* arrived, unsigned time)
{
    // TODO: a barrier for the whole grid. Anything that a thread of the grid stored before it, every
    // thread can load after it. It is used again and again, and arrived[0] is never set back
    // SOLUTION
    __syncthreads();  // the block's threads have stored
    if (threadIdx.x == 0) {
        __threadfence();  // release
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < time * gridDim.x) {
        }
        __threadfence();  // acquire
    }
    __syncthreads();  // no thread goes on before thread 0 has seen all blocks
    // END
}

extern "C" __global__ void doubling_max(
    int* a, int* b, unsigned* arrived, unsigned* done, int n)
{
    unsigned time = 0;
    for (int distance = 1; distance < n; distance *= 2) {
        for (int piece = blockIdx.x * kPiece; piece < n; piece += gridDim.x * kPiece) {
            for (int i = piece + threadIdx.x; i < min(piece + kPiece, n); i += blockDim.x) {
                b[i] = i < distance ? a[i] : max(a[i], a[i - distance]);
            }
        }
        time += 1;
        wait_for_grid(arrived, time);
        int* other = a;
        a = b;
        b = other;
    }
    if (threadIdx.x == 0 && atomicAdd(done, 1u) == gridDim.x - 1) {
        atomicExch(arrived, 1u);
        atomicExch(done, 1u);
    }
}
