// G = Xt X of 64 features: G[a][b] is the sum over all rows of X[row][a] * X[row][b], in fp32. X has n
// rows of 64 floats and begins at a multiple of 256 bytes. G, 64 x 64, is zero before the launch.
// The kernel is called gram, is extern "C", and has the parameters const float *X, float *G, int n.
// grid (4), or any other, block 256, dynamic shared 0

// TODO: the whole kernel
// SOLUTION
constexpr int kFeatures = 64;
constexpr int kRows = 16; // of a tile
constexpr int kEach = 4;  // features of a thread, along each side of G

extern "C" __global__ void gram(const float *X, float *G, int n)
{
    __shared__ float4 tile[kRows][kFeatures / 4];
    const int down = threadIdx.x / 16, across = threadIdx.x % 16;
    float sums[kEach][kEach] = {};

    for (int first = kRows * blockIdx.x; first < n; first += kRows * gridDim.x) {
        const int row = first + down;
        const float4 *from = reinterpret_cast<const float4 *>(X) + (size_t)row * (kFeatures / 4);
        tile[down][across] = row < n ? from[across] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < kRows; ++k) {
            const float4 a = tile[k][down], b = tile[k][across];
            const float left[] = {a.x, a.y, a.z, a.w}, right[] = {b.x, b.y, b.z, b.w};
            for (int i = 0; i < kEach; ++i) {
                for (int j = 0; j < kEach; ++j) {
                    sums[i][j] += left[i] * right[j];
                }
            }
        }
        __syncthreads(); // before the next tile replaces this one
    }

    for (int i = 0; i < kEach; ++i) {
        for (int j = 0; j < kEach; ++j) {
            atomicAdd(&G[(kEach * down + i) * kFeatures + kEach * across + j], sums[i][j]);
        }
    }
}
// END
