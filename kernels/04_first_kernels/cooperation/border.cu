// Writes 1 to the border of a matrix of rows x columns bytes, and 0 inside.
// The idea: an index is computed in the type of its factors. rows and columns fit an int, and their
// product need not. An 8-bit INDEX (-D) is a small pretend size: what happens to an int beyond
// 2,147,483,647 happens to it beyond 127.
// Limit: memory bandwidth. Takes rows * columns up to what INDEX counts.
// grid (ceil(columns / 32), ceil(rows / 8)), block (32, 8), dynamic shared 0

#ifndef INDEX
#define INDEX long long
#endif

extern "C" __global__ void border(unsigned char *x, int rows, int columns)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        const INDEX at = static_cast<INDEX>(row) * columns + column;
        x[at] = row == 0 || column == 0 || row == rows - 1 || column == columns - 1;
    }
}
