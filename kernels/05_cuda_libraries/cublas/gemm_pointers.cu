// C = alpha op(A) op(B) + beta C with the arguments of cublasSgemmBatched, less the handle and the
// count: as gemm_strided, but A, B and C are arrays of pointers, in the device's memory.
// The idea: product number z has its matrices wherever its three pointers lead, in any order.
// Limit: that of gemm_strided; the pointers are three loads more for each thread.
// grid (ceil(m / 32), ceil(n / 8), products), block (32, 8), dynamic shared 0

#include "common/blas.cuh"

extern "C" __global__ void gemm_pointers(int transa, int transb, int m, int n, int k, float alpha,
                                         const float *const *A, int lda, const float *const *B,
                                         int ldb, float beta, float *const *C, int ldc)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z;
    if (i < m && j < n) {
        gemm_element(transa, transb, i, j, k, alpha, A[z], lda, B[z], ldb, beta, C[z], ldc);
    }
}
