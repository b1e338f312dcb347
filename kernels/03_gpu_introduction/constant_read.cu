// y[thread] is a sum over `steps` values of a table in constant memory.
// The idea: SCATTERED 0 makes all threads of a warp ask for the same value, which is broadcast;
// SCATTERED 1 makes each lane ask for another, and the requests are served one after another.
// Limit: the constant cache.
// grid (any), block (any), dynamic shared 0

#ifndef SCATTERED
#define SCATTERED 0
#endif
constexpr int kTable = 256;
__constant__ float table[kTable];

extern "C" __global__ void constant_read(float *y, int steps)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    float sum = 0.0f;
#pragma unroll 16
    for (int step = 0; step < steps; ++step) {
        int place = SCATTERED ? step + lane : step;
        sum += table[place % kTable];
    }
    y[thread] = sum;
}
