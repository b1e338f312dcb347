// Moves n fp32 elements one place to the left, in place: x[i] = x[i + 1]. The last one stays.
// The idea: WRONG on purpose. Nothing says whether a thread reads x[i + 1] before or after its
// neighbour writes it: a data race. Threads of one warp happen to agree; two warps need not.
// Limit: one block. n is at most the size of the one block.
// grid (1), block (n rounded up to 32), dynamic shared 0

extern "C" __global__ void shift_left_race(float *x, int n)
{
    int i = threadIdx.x;
    if (i < n - 1) {
        x[i] = x[i + 1];
    }
}
