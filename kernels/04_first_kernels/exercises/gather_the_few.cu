// y[i] = x[i] where x[i] is not negative; what is negative goes through 32 rounds of
// v = sqrt(v * v + 1) first. About one in sixteen is negative. Takes any n.
// grid (ceil(n / 256)) or more, block (256), dynamic shared 0

constexpr int kThreads = 256;

extern "C" __global__ void gather_the_few(const float *x, float *y, int n)
{
    const int i = blockIdx.x * kThreads + threadIdx.x;
    // TODO: nearly every warp has a negative number, and takes the long path. Let each thread
    // only write down i in a list in shared memory if its number is negative; then let the first
    // threads of the block go through the list, a number each
    // STARTER
    //| if (i < n) {
    //|     float v = x[i];
    //|     if (v < 0.0f) {
    //|         for (int round = 0; round < 32; ++round) {
    //|             v = sqrtf(v * v + 1.0f);
    //|         }
    //|     }
    //|     y[i] = v;
    //| }
    // SOLUTION
    __shared__ int list[kThreads];
    __shared__ int count;
    if (threadIdx.x == 0) {
        count = 0;
    }
    __syncthreads(); // the list is empty

    if (i < n) {
        const float v = x[i];
        if (v < 0.0f) {
            list[atomicAdd(&count, 1)] = i;
        } else {
            y[i] = v;
        }
    }
    __syncthreads(); // the list is complete

    if (threadIdx.x < count) {
        const int mine = list[threadIdx.x];
        float v = x[mine];
        for (int round = 0; round < 32; ++round) {
            v = sqrtf(v * v + 1.0f);
        }
        y[mine] = v;
    }
    // END
}
