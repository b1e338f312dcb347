// Y[z] = W[expert[z]] X[token[z]] for row-major fp32 arrays: W (experts, outputs, inputs), X
// (tokens, inputs), Y (count, outputs), each with fewer than 2^31 elements. Neither W nor X is copied:
// a first kernel writes where each product's matrix, vector and result are, a second one, like
// cublasSgemmBatched, follows.
// grid (ceil(count / 64)), block 64, dynamic shared 0 for fill_tables
// grid (ceil(outputs / 32), count), block 32, dynamic shared 0 for follow_tables

constexpr int kMost = 4096; // products
__device__ const float *W_at[kMost];
__device__ const float *X_at[kMost];
__device__ float *Y_at[kMost];

extern "C" __global__ void fill_tables(const float *W, const float *X, float *Y, const int *expert,
                                       const int *token, int outputs, int inputs, int count)
{
    const int z = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: the three pointers of product z
    // SOLUTION
    if (z < count) {
        W_at[z] = W + (size_t)expert[z] * outputs * inputs;
        X_at[z] = X + (size_t)token[z] * inputs;
        Y_at[z] = Y + (size_t)z * outputs;
    }
    // END
}

extern "C" __global__ void follow_tables(int outputs, int inputs)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int z = blockIdx.y;
    if (row < outputs) {
        float sum = 0.0f;
        for (int i = 0; i < inputs; ++i) {
            sum += W_at[z][row * inputs + i] * X_at[z][i];
        }
        Y_at[z][row] = sum;
    }
}
