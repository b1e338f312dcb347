// y holds the rows x columns matrix x column by column, x row by row. A thread an element.
// The rung to compare with: two index formulas, written where they are needed.
// Its writes are not coalesced (chapter 04 mends that); here only the addresses matter.
// grid (ceil(columns / 32), ceil(rows / 8)), block (32, 8), dynamic shared 0
extern "C" __global__ void reorder_by_hand(const float* x, float* y, int rows, int columns)
{
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows && j < columns) y[j * rows + i] = x[i * columns + j];
}
