// weight[0] = 1 / the number of targets that are not `ignored`: what each row counts for in the
// mean of a cross entropy. Infinity where there is none.
// The idea: one block counts them before any loss is known, so that the gradient can be written
// along with it.
// Limit: latency. It is 8 bytes for each row.
// grid (1), block (256), dynamic shared 0

#include "reduce.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void target_weight(const long long *target, float *weight, int rows,
                                         long long ignored)
{
    float counted = 0.0f;
    for (int row = threadIdx.x; row < rows; row += kThreads) {
        counted += target[row] != ignored ? 1.0f : 0.0f;
    }
    counted = block_sum<kThreads>(counted);
    if (threadIdx.x == 0) {
        weight[0] = 1.0f / counted;
    }
}
