// y[thread] is a sum over `steps` values of a table in constant memory.
// The idea: the threads of a warp read `different` different addresses in each step, 1 to 32. One
// address is broadcast to all that read it. Several are serialised.
// Limit: the constant cache.
// grid (any), block (any), dynamic shared 0

constexpr int kTable = 256;
__constant__ float table[kTable];

extern "C" __global__ void constant_read(float *y, int steps, int different)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int first = threadIdx.x % different;
    float sum = 0.0f;
#pragma unroll 16
    for (int step = 0; step < steps; ++step) {
        sum += table[(first + step) % kTable];
    }
    y[thread] = sum;
}
