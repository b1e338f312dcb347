// blocks[i][j] and threads[i][j] = the numbers of the block and of the thread that take element
// (i, j) of a rows x columns matrix, which is row-major like both results. A block has a tile of
// 8 x 16 elements, and its number is blockIdx.y * gridDim.x + blockIdx.x. In the tile the 32 threads
// are arranged by the layout (t0,t1):(s0,s1): thread a * s0 + b * s1 is at row a, column b of the
// arrangement, which is repeated down and across. t0 divides 8, t1 divides 16, and t0 * t1 is 32.
// Both numbers are counted from `first`.
// The kernel is
//     extern "C" __global__ void taken_by(int *blocks, int *threads, int first, int rows,
//                                         int columns, int t0, int t1, int s0, int s1)
// grid (ceil(columns / 16), ceil(rows / 8)), block (32), dynamic shared 0

// TODO: the whole kernel, by hand: each thread marks its own elements, as far as they exist
// SOLUTION
extern "C" __global__ void taken_by(int *blocks, int *threads, int first, int rows, int columns,
                                    int t0, int t1, int s0, int s1)
{
    const int thread = threadIdx.x;
    const int a = thread / s0 % t0, b = thread / s1 % t1; // its position in the arrangement
    for (int row = blockIdx.y * 8 + a; row < min(rows, int(blockIdx.y + 1) * 8); row += t0) {
        for (int column = blockIdx.x * 16 + b; column < min(columns, int(blockIdx.x + 1) * 16);
             column += t1) {
            blocks[(size_t)row * columns + column] = first + blockIdx.y * gridDim.x + blockIdx.x;
            threads[(size_t)row * columns + column] = first + thread;
        }
    }
}
// END
