// C = A B in fp32: A is M x K, B is K x N, C is M x N in C order. An element of A or B is found by
// its strides (in elements), so a transposed matrix is the same array with its strides exchanged:
// the two gradients of a product, dC B^T and A^T dC, need no kernel of their own.
// Along z each block takes the next `slice` elements of K (a multiple of 16) and stores a matrix of
// its own, C being slices x M x N: a long K with a small C would otherwise be one block's work.
// Takes any shape with fewer than 2^31 elements a matrix (indices are int) and at most 65535 blocks
// along y and z; K = 0 gives zeros.
// A block shares tiles of A and B, as sgemm_shared of chapter 06 does.
// Limit: shared memory bandwidth, or at small sizes the launch. A transposed matrix is read down
// its columns, with every lane in a sector of its own.
// grid (ceil(N / 16), ceil(M / 16), ceil(K / slice)), block (16, 16), dynamic shared 0

constexpr int kTile = 16;

extern "C" __global__ void tensor_matmul(const float *A, const float *B, float *C, int M, int N,
                                         int K, int slice, int a_row, int a_column, int b_row,
                                         int b_column)
{
    __shared__ float tile_a[kTile][kTile];
    __shared__ float tile_b[kTile][kTile];
    int y = threadIdx.y; // index in the tile
    int x = threadIdx.x;
    int row = blockIdx.y * kTile + y; // index in C
    int column = blockIdx.x * kTile + x;
    int begin = blockIdx.z * slice;
    int end = slice < K - begin ? begin + slice : K;

    float sum = 0.0f;
    for (int start = begin; start < end; start += kTile) {
        int k_a = start + x;
        int k_b = start + y;
        tile_a[y][x] = row < M && k_a < end ? A[row * a_row + k_a * a_column] : 0.0f;
        tile_b[y][x] = k_b < end && column < N ? B[k_b * b_row + column * b_column] : 0.0f;
        __syncthreads(); // both tiles are complete
        for (int k = 0; k < kTile; ++k) {
            sum += tile_a[y][k] * tile_b[k][x];
        }
        __syncthreads(); // every warp is done with these tiles
    }
    if (row < M && column < N) {
        C[(blockIdx.z * M + row) * N + column] = sum;
    }
}
