// W (k x n) for k reflectors, so that H_k ... H_2 H_1 C = C - V W, where column i of V is v_i. Given
// are Y = V^T C (k x n), tau (k), and `crossed` (k x k): row i, column j > i holds v_i . v_j. What it
// holds elsewhere has no meaning. A tau may be 0. A thread a column.
// grid (ceil(n / 128)), block (128), dynamic shared 0

extern "C" __global__ void many_reflectors(const float *crossed, const float *tau, const float *Y,
                                           float *W, int k, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) {
        return;
    }
    // TODO: this thread's column of W, from the first reflector to the last
    // SOLUTION
    for (int i = 0; i < k; ++i) {
        float dot = Y[i * n + column]; // of v_i and C
        for (int before = 0; before < i; ++before) {
            dot -= crossed[before * k + i] * W[before * n + column];
        }
        W[i * n + column] = tau[i] * dot;
    }
    // END
}
