// S = scale Q K^T for each head: S[h][i][j] is the product of query i and key j, times scale. Q and
// K are n x heads x D floats, S is heads x n x n; with CAUSAL, keys after the query get -inf. Any n
// and heads, both up to 65,535.
// The first of three kernels of attention by its definition: it stores n^2 scores for each head.
// Limit: writing them, and reading each query and key n times through the caches.
// grid (ceil(n / 16), ceil(n / 16), heads), block (16, 16), dynamic shared 0

#include <math_constants.h>

#ifndef D
#define D 64 // numbers of a query, a key and a value
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif

extern "C" __global__ void attention_scores(const float *Q, const float *K, float *S, int n,
                                            float scale)
{
    int query = blockIdx.y * blockDim.y + threadIdx.y;
    int key = blockIdx.x * blockDim.x + threadIdx.x;
    int head = blockIdx.z;
    int heads = gridDim.z;
    if (query >= n || key >= n) {
        return;
    }
    const float *q = Q + ((size_t)query * heads + head) * D;
    const float *k = K + ((size_t)key * heads + head) * D;
    float sum = 0.0f;
    for (int c = 0; c < D; ++c) {
        sum += q[c] * k[c];
    }
    bool hidden = CAUSAL && key > query;
    S[((size_t)head * n + query) * n + key] = hidden ? -CUDART_INF_F : sum * scale;
}
