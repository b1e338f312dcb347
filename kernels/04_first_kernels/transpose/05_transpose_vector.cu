// out = in transposed: `in` is rows x columns, `out` columns x rows, fp32, row-major; rows and
// columns are multiples of four.
// Adds to transpose_swizzled.cu: every access moves 16 bytes. A thread loads a patch of 4 x 4,
// transposes it in its registers and keeps it in a tile that is already transposed. The swizzle now
// permutes groups of four elements: eight threads at a time cover all banks. blockIdx.x runs down
// the rows, so that blocks with consecutive numbers write next to each other.
// Limit: memory bandwidth, at nearly the rate of a copy.
// grid (ceil(rows / 64), ceil(columns / 64)), block (256), dynamic shared 0

constexpr int kTile = 64;
constexpr int kGroups = kTile / 4; // of four elements, in a row of the tile
constexpr int kBankGroups = 8;     // 32 banks take eight groups of four words at a time

__device__ int swizzled(int row, int group)
{
    return row * kGroups + (group ^ row / 4 % kBankGroups);
}

extern "C" __global__ void transpose_vector(const float *in, float *out, int rows, int columns)
{
    __shared__ float4 tile[kTile * kGroups];
    int across = threadIdx.x % kGroups; // which group of four
    int down = threadIdx.x / kGroups;   // which four rows
    int first_row = blockIdx.x * kTile; // of the tile, in `in`
    int first_column = blockIdx.y * kTile;

    int row = first_row + 4 * down;
    int column = first_column + 4 * across;
    if (row < rows && column < columns) {
        float4 patch[4];
        for (int i = 0; i < 4; ++i) {
            patch[i] = *reinterpret_cast<const float4 *>(&in[(size_t)(row + i) * columns + column]);
        }
        const float4 &a = patch[0], &b = patch[1], &c = patch[2], &d = patch[3];
        tile[swizzled(4 * across + 0, down)] = make_float4(a.x, b.x, c.x, d.x);
        tile[swizzled(4 * across + 1, down)] = make_float4(a.y, b.y, c.y, d.y);
        tile[swizzled(4 * across + 2, down)] = make_float4(a.z, b.z, c.z, d.z);
        tile[swizzled(4 * across + 3, down)] = make_float4(a.w, b.w, c.w, d.w);
    }
    __syncthreads(); // the tile is complete

    for (int i = 0; i < 4; ++i) {
        int y = down + i * kGroups; // a row of `out` in the tile
        if (first_column + y < columns && first_row + 4 * across < rows) {
            size_t linear = (size_t)(first_column + y) * rows + first_row + 4 * across;
            *reinterpret_cast<float4 *>(&out[linear]) = tile[swizzled(y, across)];
        }
    }
}
