// U = G g G^T for each 3 x 3 filter: w is K x C x 3 x 3, U is C x 16 x K.
// grid (ceil(K C / 256)), block (256), dynamic shared 0
extern "C" __global__ void winograd_filters(const float *w, float *U, int C, int K)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= K * C) {
        return;
    }
    int k = i % K, c = i / K;
    const float *g = w + ((long long)k * C + c) * 9;
    float t[4][3];
#pragma unroll
    for (int x = 0; x < 3; ++x) {
        float a = g[x], b = g[3 + x], d = g[6 + x];
        t[0][x] = a;
        t[1][x] = 0.5f * (a + b + d);
        t[2][x] = 0.5f * (a - b + d);
        t[3][x] = d;
    }
    float *to = U + (long long)c * 16 * K + k;
#pragma unroll
    for (int y = 0; y < 4; ++y) {
        float a = t[y][0], b = t[y][1], d = t[y][2];
        to[(y * 4 + 0) * K] = a;
        to[(y * 4 + 1) * K] = 0.5f * (a + b + d);
        to[(y * 4 + 2) * K] = 0.5f * (a - b + d);
        to[(y * 4 + 3) * K] = d;
    }
}
