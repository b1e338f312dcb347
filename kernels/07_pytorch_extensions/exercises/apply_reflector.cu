// D = H C for a reflector H = I - tau v v^T; C and D are m x n. v has m numbers, of which the first
// is 1 but not stored: v[0] holds something else. A thread a column.
// grid (ceil(n / 128)), block (128), dynamic shared 0

extern "C" __global__ void apply_reflector(const float *v, float tau, const float *C, float *D,
                                           int m, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) {
        return;
    }
    // TODO: this thread's column of D
    // SOLUTION
    if (tau == 0.0f) { // whatever is in v
        for (long long i = column; i < (long long)m * n; i += n) D[i] = C[i];
        return;
    }
    float dot = C[column];
    for (int i = 1; i < m; ++i) {
        dot += v[i] * C[(long long)i * n + column];
    }
    float w = tau * dot;
    D[column] = C[column] - w;
    for (int i = 1; i < m; ++i) {
        D[(long long)i * n + column] = C[(long long)i * n + column] - v[i] * w;
    }
    // END
}
