// y[i] is x[i] halved and then increased by a[i], `rounds` times in a row, for n floats. Warpgroup
// 0 halves and warpgroup 1 increases, in turns: each waits for its turn and passes it on without
// waiting.
// grid (ceil(n / 128)), block (256), dynamic shared 0

// barrier.sync, barrier.arrive: barrier 1 + group is the turn of a group. Its 128 threads wait for
// the 128 threads that pass it.
__device__ inline void wait_for_turn(int group)
{
    asm volatile("barrier.sync %0, 256;" ::"r"(group + 1) : "memory");
}

__device__ inline void pass_turn(int group)
{
    asm volatile("barrier.arrive %0, 256;" ::"r"(group + 1) : "memory");
}

extern "C" __global__ void stuck_turns(const float *x, const float *a, float *y, int n, int rounds)
{
    __shared__ float value[128];
    const int group = threadIdx.x / 128, at = threadIdx.x % 128, i = blockIdx.x * 128 + at;
    const float addend = i < n ? a[i] : 0.0f;
    if (group == 0) {
        value[at] = i < n ? x[i] : 0.0f;
    }
    // BUG
    // SOLUTION
    if (group == 1) {
        pass_turn(0); // the first turn
    }
    // END
    for (int round = 0; round < rounds; ++round) {
        wait_for_turn(group);
        if (group == 0) {
            value[at] *= 0.5f;
        } else {
            value[at] += addend;
        }
        pass_turn(1 - group);
    }
    if (group == 0) {
        wait_for_turn(0); // the last turn, which nobody else takes
        if (i < n) {
            y[i] = value[at];
        }
    }
}
