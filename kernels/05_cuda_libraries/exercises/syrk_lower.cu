// The lower triangle of C = alpha op(A) op(A)^T + beta C, as BLAS has it under the name of syrk: fp32
// matrices stored by columns, C n x n with ldc, op(A) n x k. Where trans is 0, A is n x k as it is
// stored, with lda; where it is 1, k x n, and op(A) is its transpose. Only elements of the lower
// triangle and the diagonal are read or written, and where beta is 0 none of C is read.
// grid (ceil(n / 32), ceil(n / 8)), block (32, 8), dynamic shared 0

extern "C" __global__ void syrk_lower(int trans, int n, int k, float alpha, const float *A, int lda,
                                      float beta, float *C, int ldc)
{
    // TODO: all of it
    // SOLUTION
    const int i = blockIdx.x * blockDim.x + threadIdx.x; // row
    const int j = blockIdx.y * blockDim.y + threadIdx.y; // column
    if (i >= n || j > i) return;
    float sum = 0.0f;
    for (int at = 0; at < k; ++at) {
        const float left = trans ? A[at + (size_t)i * lda] : A[i + (size_t)at * lda];
        const float right = trans ? A[at + (size_t)j * lda] : A[j + (size_t)at * lda];
        sum += left * right;
    }
    float *c = C + i + (size_t)j * ldc;
    *c = alpha * sum + (beta == 0.0f ? 0.0f : beta * *c);
    // END
}
