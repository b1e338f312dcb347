// y[i][j] = x[i][j] + bias[j] for row-major rows x columns matrices of fp32.
// The rung to compare with: a block's tile of 32 x 64 and a thread's eight elements of it, cut out by
// formulas. rows * columns stays below 2^31.
// Limit: memory bandwidth; 4 bytes a load keep it busy less well than 16 (chapter 04).
// grid (ceil(columns / 64), ceil(rows / 32)), block (256), dynamic shared 0

constexpr int BM = 32, BN = 64; // a block's tile
constexpr int TM = 8, TN = 32;  // its threads, row by row

extern "C" __global__ void bias_by_hand(const float* x, const float* bias, float* y, int rows,
                                        int columns)
{
    const int first_row = blockIdx.y * BM + threadIdx.x / TN;
    const int first_column = blockIdx.x * BN + threadIdx.x % TN;
#pragma unroll
    for (int across = 0; across < BN / TN; ++across) {
#pragma unroll
        for (int down = 0; down < BM / TM; ++down) {
            const int row = first_row + down * TM;
            const int column = first_column + across * TN;
            if (row < rows && column < columns) {
                y[row * columns + column] = x[row * columns + column] + bias[column];
            }
        }
    }
}
