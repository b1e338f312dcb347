// A matrix as BLAS has it: fp32 numbers stored by columns, ld elements from one column to the next.
#pragma once

// Element (i, j) of op(X): X itself, or its transpose. Nothing is moved, two strides change places.
__device__ inline float of_op(const float *X, int ld, bool transposed, int i, int j)
{
    return transposed ? X[j + (size_t)i * ld] : X[i + (size_t)j * ld];
}

// Element (i, j) of alpha op(A) op(B) + beta C, stored in C. Where beta is 0, C is not read.
__device__ inline void gemm_element(int transa, int transb, int i, int j, int k, float alpha,
                                    const float *A, int lda, const float *B, int ldb, float beta,
                                    float *C, int ldc)
{
    float sum = 0.0f;
    for (int at = 0; at < k; ++at) {
        sum += of_op(A, lda, transa, i, at) * of_op(B, ldb, transb, at, j);
    }
    float *c = C + i + (size_t)j * ldc;
    *c = alpha * sum + (beta == 0.0f ? 0.0f : beta * *c);
}
