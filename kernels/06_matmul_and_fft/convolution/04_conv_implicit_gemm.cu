// y = x * w, the convolution of a neural network in fp32: x is N x C x H x W, w is K x C x R x S
// and y is N x K x OH x OW; zeros lie `pad` deep around x. Any shape, filter, stride and padding
// with fewer than 2^31 elements a tensor (indices are int) and at most 65535 * 64 filters.
// The idea: a matrix product. w is a matrix of K rows and C R S columns, one for each (channel,
// tap); x becomes one of C R S rows and N OH OW columns, one for each pixel of y. Nobody stores
// that matrix: it would have R S copies of x. Each thread works out where an element lies in x as
// it loads its tile.
// Limit: three divisions for each element that is loaded, and a block loads nothing while it
// multiplies.
// grid (ceil(N OH OW / 64), ceil(K / 64)), block 256, dynamic shared 0

constexpr int BM = 64; // filters of a block
constexpr int BN = 64; // pixels
constexpr int BK = 16;
constexpr int TM = 4; // of a thread
constexpr int TN = 4;
constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kRowsA = kThreads / BK; // that the block loads at once
constexpr int kRowsB = kThreads / BN;

extern "C" __global__ void __launch_bounds__(kThreads)
    conv_implicit_gemm(const float *x, const float *w, float *y, int N, int C, int H, int W, int K,
                       int R, int S, int stride, int pad)
{
    __shared__ float tile_a[BK][BM + 4]; // transposed; 4 keeps 16-byte loads aligned
    __shared__ float tile_b[BK][BN];
    int OH = (H + 2 * pad - R) / stride + 1;
    int OW = (W + 2 * pad - S) / stride + 1;
    int pixels = N * OH * OW;
    int depth = C * R * S; // the k of the product
    int first_filter = blockIdx.y * BM;
    int first_pixel = blockIdx.x * BN;
    int row = threadIdx.x / (BN / TN) * TM; // of the thread's tile in the block's
    int column = threadIdx.x % (BN / TN) * TN;

    int a_row = threadIdx.x / BK; // what this thread loads
    int a_k = threadIdx.x % BK;
    int b_k = threadIdx.x / BN;
    int b_column = threadIdx.x % BN;
    int pixel = first_pixel + b_column;
    int image = pixel / (OH * OW);
    int top = pixel % (OH * OW) / OW * stride - pad;
    int left = pixel % OW * stride - pad;

    float sum[TM][TN] = {};
    for (int start = 0; start < depth; start += BK) {
#pragma unroll
        for (int i = 0; i < BM; i += kRowsA) {
            int filter = first_filter + a_row + i;
            int k = start + a_k;
            tile_a[a_k][a_row + i] = filter < K && k < depth ? w[filter * depth + k] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < BK; i += kRowsB) {
            int k = start + b_k + i;
            int c = k / (R * S);
            int yy = top + k % (R * S) / S;
            int xx = left + k % S;
            bool inside = k < depth && pixel < pixels && yy >= 0 && yy < H && xx >= 0 && xx < W;
            tile_b[b_k + i][b_column] = inside ? x[((image * C + c) * H + yy) * W + xx] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float4 a = *reinterpret_cast<float4 *>(&tile_a[k][row]);
            float4 b = *reinterpret_cast<float4 *>(&tile_b[k][column]);
            const float weight[TM] = {a.x, a.y, a.z, a.w};
            const float in[TN] = {b.x, b.y, b.z, b.w};
#pragma unroll
            for (int i = 0; i < TM; ++i) {
#pragma unroll
                for (int j = 0; j < TN; ++j) {
                    sum[i][j] += weight[i] * in[j];
                }
            }
        }
        __syncthreads(); // before the next step overwrites the tiles
    }
#pragma unroll
    for (int j = 0; j < TN; ++j) {
        int out = first_pixel + column + j;
        if (out < pixels) {
            float *at = y + (out / (OH * OW)) * K * OH * OW + out % (OH * OW);
#pragma unroll
            for (int i = 0; i < TM; ++i) {
                if (first_filter + row + i < K) {
                    at[(first_filter + row + i) * OH * OW] = sum[i][j];
                }
            }
        }
    }
}
