// y[i] = the sum of the first trips[i] numbers of x.
// The idea: a loop is a branch too. The warp iterates until its last lane is done.
// Limit: divergence. A warp pays for the largest trip count among its 32 lanes.
// grid (blocks), block (any), dynamic shared 0

extern "C" __global__ void trip_counts(const float *x, const int *trips, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int last = trips[i];
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < last; ++k) {
        sum += x[k];
    }
    y[i] = sum;
}
