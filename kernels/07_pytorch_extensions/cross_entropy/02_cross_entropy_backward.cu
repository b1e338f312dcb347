// The gradient of cross entropy for rows x columns of fp32 logits: dx = weight * (exp(x -
// logsumexp) - 1 at the target), and zeros where the target is `ignored`. dx may be x. `weight` has
// one number, 1 / rows for the gradient of a mean. Any number of columns; the arrays begin at
// multiples of 16 bytes.
// Adds to cross_entropy_forward.cu: the probabilities are made again from one number a row.
// Limit: memory bandwidth. One read and one write for each logit, after the read of the way
// forward.
// grid (ceil(columns / 1024), rows), block (256), dynamic shared 0

#include "row_values.cuh"

extern "C" __global__ void cross_entropy_backward(const float *x, const long long *target,
                                                  const float *logsumexp, const float *weight,
                                                  float *dx, int columns, long long ignored)
{
    int column = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    long long start = (long long)blockIdx.y * columns;
    long long wanted = target[blockIdx.y];
    float scale = *weight, of_row = logsumexp[blockIdx.y];
    float values[4] = {};
    if (wanted != ignored) {
        unpack(values, load_row_16_bytes(x + start, column, columns, true));
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            values[j] = scale * (expf(values[j] - of_row) - (column + j == wanted ? 1.0f : 0.0f));
        }
    }
    store_row_16_bytes(dx + start, column, columns, packed(values));
}
