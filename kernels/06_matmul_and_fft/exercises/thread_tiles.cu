// One warp multiplies through registers: for each of 8 values of k a thread reads TM operands and
// TN others from shared memory, and makes TM x TN products of them. `shape` chooses TM and TN.
// grid 1, block 32, dynamic shared 0

constexpr int BK = 8;
constexpr int kRow = 48;  // floats in a row of a tile

template <int TM, int TN>
__device__ void multiply(float tile_a[BK][kRow], float tile_b[BK][kRow], float* y)
{
    float sum[TM][TN] = {};
    for (int k = 0; k < BK; ++k) {
        float a[TM], b[TN];
#pragma unroll
        for (int i = 0; i < TM; ++i) a[i] = tile_a[k][threadIdx.x + i];
#pragma unroll
        for (int j = 0; j < TN; ++j) b[j] = tile_b[k][threadIdx.x + j];
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
            for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) y[(i * TN + j) * 32 + threadIdx.x] = sum[i][j];
}

extern "C" __global__ void thread_tiles(const float* x, float* y, int shape)
{
    __shared__ float tile_a[BK][kRow], tile_b[BK][kRow];
    for (int element = threadIdx.x; element < BK * kRow; element += 32) {
        tile_a[element / kRow][element % kRow] = x[element];
        tile_b[element / kRow][element % kRow] = x[element];
    }
    __syncwarp();
    if (shape == 1) multiply<8, 1>(tile_a, tile_b, y);
    if (shape == 2) multiply<4, 4>(tile_a, tile_b, y);
    if (shape == 3) multiply<16, 4>(tile_a, tile_b, y);
    if (shape == 4) multiply<8, 8>(tile_a, tile_b, y);
}
