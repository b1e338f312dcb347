// O = P V for each head: O[i][h] is the sum of all values of the head, weighted with row i of
// P[h]. P is heads x n x n floats, V and O are n x heads x D. Any n, up to 65,535 heads.
// The third of three kernels of attention by its definition: a warp computes 32 columns of a row.
// Limit: reading P, n^2 numbers for each head, and each value n times through the caches.
// grid (ceil(D / 32), ceil(n / 8), heads), block (32, 8), dynamic shared 0

#ifndef D
#define D 64 // numbers of a query, a key and a value
#endif

extern "C" __global__ void attention_values(const float *P, const float *V, float *O, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int query = blockIdx.y * blockDim.y + threadIdx.y;
    int head = blockIdx.z;
    int heads = gridDim.z;
    if (query >= n || column >= D) {
        return;
    }
    const float *weights = P + ((size_t)head * n + query) * n;
    float sum = 0.0f;
    for (int key = 0; key < n; ++key) {
        sum += weights[key] * V[((size_t)key * heads + head) * D + column];
    }
    O[((size_t)query * heads + head) * D + column] = sum;
}
