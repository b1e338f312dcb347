// Moves n fp32 elements one place to the left, in place: x[i] = x[i + 1]. The last one stays.
// Adds to shift_left_race.cu: every thread reads first, a barrier waits until all have read, and
// only then does anybody write. The barrier stands outside the ifs, so that all threads meet there.
// Limit: one block. n is at most its size: a barrier reaches no further.
// grid (1), block (n rounded up to 32), dynamic shared 0

extern "C" __global__ void shift_left(float *x, int n)
{
    int i = threadIdx.x;
    float right = 0.0f;
    if (i < n - 1) {
        right = x[i + 1];
    }
    __syncthreads(); // everybody has read
    if (i < n - 1) {
        x[i] = right;
    }
}
