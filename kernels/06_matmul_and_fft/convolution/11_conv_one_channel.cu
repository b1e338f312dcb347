// y = x * w, a convolution of 3 x 3 in fp32 of images with one channel, stride 1, padding 1: x is N
// x H x W, w is K x 3 x 3 and y is N x K x H x W. W is a multiple of 4, K of FILTERS, and x, w and y
// begin at multiples of 16 bytes. Fewer than 2^31 elements a tensor (indices are int), and at most
// 65535 * FILTERS * GROUPS filters.
// The idea: nearly all bytes are those of y, and everything serves its stores. Lanes have neighbours
// in a plane of y, four pixels each, so a store of a warp is 512 bytes in a row. Nothing goes through
// shared memory, and a thread asks for all that it needs at once.
// Limit: writing y; with few images the latency of a launch and of one read of memory.
// grid (ceil(N H W / 4 / QUADS), ceil(K / (FILTERS * GROUPS))), block (QUADS, GROUPS), dynamic shared 0

#ifndef FILTERS
#define FILTERS 8 // of a thread: a multiple of 4
#endif
#ifndef QUADS
#define QUADS 32 // of pixels, of a block
#endif
#ifndef GROUPS
#define GROUPS 2 // of filters, of a block
#endif

extern "C" __global__ void __launch_bounds__(QUADS *GROUPS)
    conv_one_channel(const float *x, const float *w, float *y, int N, int H, int W, int K)
{
    int plane = H * W / 4; // quads
    int quad = blockIdx.x * QUADS + threadIdx.x;
    int first_filter = (blockIdx.y * GROUPS + threadIdx.y) * FILTERS;
    if (quad >= N * plane || first_filter >= K) {
        return;
    }
    int image = quad / plane, of_image = quad % plane;
    int row = of_image / (W / 4), column = of_image % (W / 4) * 4;

    float weights[9 * FILTERS];
    const float4 *from_w = reinterpret_cast<const float4 *>(w + first_filter * 9);
#pragma unroll
    for (int i = 0; i < 9 * FILTERS / 4; ++i) {
        *reinterpret_cast<float4 *>(&weights[i * 4]) = __ldg(from_w + i);
    }
    float in[3][6];
    const float *center = x + quad * 4;
#pragma unroll
    for (int r = 0; r < 3; ++r) {
        const float *from = center + (r - 1) * W;
        bool exists = row + r >= 1 && row + r <= H;
        float4 four = exists ? *reinterpret_cast<const float4 *>(from) : float4{};
        in[r][0] = exists && column > 0 ? from[-1] : 0.0f;
        in[r][1] = four.x;
        in[r][2] = four.y;
        in[r][3] = four.z;
        in[r][4] = four.w;
        in[r][5] = exists && column + 4 < W ? from[4] : 0.0f;
    }
    float4 *to = reinterpret_cast<float4 *>(y) + (image * K + first_filter) * plane + of_image;
#pragma unroll
    for (int f = 0; f < FILTERS; ++f) {
        float sum[4] = {};
#pragma unroll
        for (int tap = 0; tap < 9; ++tap) {
#pragma unroll
            for (int p = 0; p < 4; ++p) {
                sum[p] += in[tap / 3][p + tap % 3] * weights[f * 9 + tap];
            }
        }
        to[f * plane] = make_float4(sum[0], sum[1], sum[2], sum[3]);
    }
}
