// A whole program in C++: C = A B for row-major fp32 matrices (37 x 29 times 29 x 45) by cuBLAS,
// checked on the host. Then a call that is refused, and its status in words.
// The library reads our rows as columns: it is asked for B's transpose times A's, with B first.
// Build and run: nvcc -O2 -arch=native -I kernels gemm_host.cu -lcublas -o gemm && ./gemm

#include <cublas_v2.h>

#include <cmath>
#include <vector>

#include "04_first_kernels/host/check.h"

#define BLAS_CHECK(call)                                                                       \
    do {                                                                                       \
        cublasStatus_t status = (call);                                                        \
        if (status != CUBLAS_STATUS_SUCCESS) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cublasGetStatusString(status)); \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

// An array of the device with the numbers of x.
float *on_device(const std::vector<float> &x)
{
    float *d_x;
    CHECK(cudaMalloc(&d_x, x.size() * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
    return d_x;
}

int main()
{
    const int M = 37, N = 45, K = 29;
    std::vector<float> A(M * K), B(K * N), C(M * N, NAN);
    for (size_t i = 0; i < A.size(); ++i) {
        A[i] = static_cast<float>(i % 7) - 3;
    }
    for (size_t i = 0; i < B.size(); ++i) {
        B[i] = static_cast<float>(i % 5) - 2;
    }
    float *d_A = on_device(A), *d_B = on_device(B), *d_C = on_device(C);

    cublasHandle_t handle; // once in a program, or once for each thread and stream
    cudaStream_t stream;
    BLAS_CHECK(cublasCreate(&handle));
    CHECK(cudaStreamCreate(&stream));
    BLAS_CHECK(cublasSetStream(handle, stream));

    const float one = 1, zero = 0;
    BLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, d_B, N, d_A, K, &zero,
                           d_C, N)); // returns at once: the product runs in the stream
    CHECK(cudaMemcpyAsync(C.data(), d_C, C.size() * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));

    int wrong = 0;
    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
            float sum = 0; // of integers: exact
            for (int k = 0; k < K; ++k) {
                sum += A[i * K + k] * B[k * N + j];
            }
            wrong += C[i * N + j] != sum; // a NaN is different from all
        }
    }
    printf("%d of %d elements differ from the host's product\n", wrong, M * N);

    const int too_small = N - 1;
    const cublasStatus_t status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, d_B,
                                              too_small, d_A, K, &zero, d_C, N);
    printf("with an lda of N - 1: %s, %s\n", cublasGetStatusName(status),
           cublasGetStatusString(status));

    BLAS_CHECK(cublasDestroy(handle));
    CHECK(cudaStreamDestroy(stream));
    for (float *array : {d_A, d_B, d_C}) {
        CHECK(cudaFree(array));
    }
    return wrong || status != CUBLAS_STATUS_INVALID_VALUE;
}
