// out = in transposed: `in` is rows x columns, `out` columns x rows, fp32, row-major. Any shape
// with at most 65,535 blocks along y.
// The idea: one thread moves one element, and x runs along the rows of `in`: the warp reads 32
// neighbours.
// Limit: stores. The 32 elements of a warp go to 32 rows of `out`, each to a different sector.
// grid (ceil(columns / 32), ceil(rows / 32)), block (32, 32), dynamic shared 0

extern "C" __global__ void transpose_naive(const float *in, float *out, int rows, int columns)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        out[(size_t)column * rows + row] = in[(size_t)row * columns + column];
    }
}
