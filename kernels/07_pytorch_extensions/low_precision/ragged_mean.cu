// y[s] = the mean of the tokens of sequence s, each of D numbers in fp32: sequence s is the rows
// offsets[s] to offsets[s + 1] of x, and y has a row for each sequence. One without tokens gets
// zeros. All sequences lie one after the other, without padding: what is read is what counts.
// Limit: memory bandwidth, unless one sequence is much longer than the others: its block works on
// while the rest of the GPU waits.
// grid (ceil(D / 32), sequences), block (32, 8), dynamic shared 0

constexpr int kColumns = 32, kTokens = 8; // that a block reads at a time

extern "C" __global__ void ragged_mean(const float *x, const int *offsets, float *y, int D)
{
    __shared__ float sums[kTokens][kColumns];
    int column = blockIdx.x * kColumns + threadIdx.x, sequence = blockIdx.y;
    int first = offsets[sequence], end = offsets[sequence + 1];
    float sum = 0.0f;
    if (column < D) {
        for (int token = first + threadIdx.y; token < end; token += kTokens) {
            sum += x[(long long)token * D + column];
        }
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads(); // the sums of all eight are there
    if (threadIdx.y == 0 && column < D) {
        for (int other = 1; other < kTokens; ++other) {
            sum += sums[other][threadIdx.x];
        }
        y[(long long)sequence * D + column] = end > first ? sum / (end - first) : 0.0f;
    }
}
