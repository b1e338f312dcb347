// The two gradients of C = A B, added to what dA and dB hold: dA += dC B^T and dB += A^T dC, in
// fp32 and C order. A and dA are M x K, B and dB are K x N, dC is M x N.
// Takes any shape with fewer than 2^31 elements a matrix (indices are int). A sum of none adds 0.
// One thread has one element of dA, in the first kernel, or of dB, in the second.
// grid (ceil(M K / 256)) and (ceil(K N / 256)), block 256, dynamic shared 0

extern "C" __global__ void gradient_of_a(const float *dC, const float *B, float *dA, int M, int N,
                                         int K)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M * K) {
        return;
    }
    // TODO: add this element's gradient to dA[i]
    // SOLUTION
    int m = i / K;
    int k = i % K;
    float of_a = 0.0f;
    for (int n = 0; n < N; ++n) {
        of_a += dC[m * N + n] * B[k * N + n];
    }
    dA[i] += of_a;
    // END
}

extern "C" __global__ void gradient_of_b(const float *A, const float *dC, float *dB, int M, int N,
                                         int K)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= K * N) {
        return;
    }
    // TODO: add this element's gradient to dB[i]
    // SOLUTION
    int k = i / N;
    int n = i % N;
    float of_b = 0.0f;
    for (int m = 0; m < M; ++m) {
        of_b += A[m * K + k] * dC[m * N + n];
    }
    dB[i] += of_b;
    // END
}
