// U = G g G^T for each filter g of w, the filters of F(2 x 2, 3 x 3): w is K x C x 3 x 3 and U is C
// x 16 x K, fp32. Fewer than 2^31 elements (indices are int). One thread transforms one filter: 9
// weights become 16.
// grid (ceil(K C / 256)), block 256, dynamic shared 0

extern "C" __global__ void winograd_filters(const float *w, float *U, int C, int K)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= K * C) {
        return;
    }
    int k = i % K;
    int c = i / K;
    const float *g = w + (k * C + c) * 9;
    float t[4][3];
#pragma unroll
    for (int x = 0; x < 3; ++x) {
        float a = g[x], b = g[3 + x], d = g[6 + x];
        t[0][x] = a;
        t[1][x] = 0.5f * (a + b + d);
        t[2][x] = 0.5f * (a - b + d);
        t[3][x] = d;
    }
    float *to = U + c * 16 * K + k;
#pragma unroll
    for (int y = 0; y < 4; ++y) {
        float a = t[y][0], b = t[y][1], d = t[y][2];
        to[(y * 4 + 0) * K] = a;
        to[(y * 4 + 1) * K] = 0.5f * (a + b + d);
        to[(y * 4 + 2) * K] = 0.5f * (a - b + d);
        to[(y * 4 + 3) * K] = d;
    }
}
