// C = alpha op(A) op(B) + beta C with the arguments of cublasSgemmStridedBatched, less the handle
// and the count: matrices stored by columns, op(A) m x k, op(B) k x n, C m x n; transa and transb
// are 0 for the matrix itself, 1 for its transpose. Any shape with ld of at least the rows stored.
// The idea: product number z has its matrices z strides further on; a stride of 0 shares one.
// Limit: every product reads a row of op(A) and a column of op(B) of its own, as in sgemm_naive.
// grid (ceil(m / 32), ceil(n / 8), products), block (32, 8), dynamic shared 0

#include "common/blas.cuh"

extern "C" __global__ void gemm_strided(int transa, int transb, int m, int n, int k, float alpha,
                                        const float *A, int lda, long long strideA, const float *B,
                                        int ldb, long long strideB, float beta, float *C, int ldc,
                                        long long strideC)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const long long z = blockIdx.z;
    if (i < m && j < n) {
        gemm_element(transa, transb, i, j, k, alpha, A + z * strideA, lda, B + z * strideB, ldb,
                     beta, C + z * strideC, ldc);
    }
}
