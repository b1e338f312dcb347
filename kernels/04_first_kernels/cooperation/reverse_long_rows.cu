// Reverses each row of a matrix of rows x columns floats in place. A row goes through shared memory.
// The idea: dynamic shared memory, whose size is given at the launch: 4 * columns bytes. More than
// 48 KB of it has to be asked for before.
// Limit: blocks on an SM: with 200 KB each there is one. columns is at most 58,112 on sm_90.
// grid (rows), block (any), dynamic shared (4 * columns)

extern "C" __global__ void reverse_long_rows(float *x, int columns)
{
    extern __shared__ float row[]; // one array, however often it is declared
    float *mine = x + static_cast<size_t>(blockIdx.x) * columns;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        row[i] = mine[i];
    }
    __syncthreads(); // the row is there
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        mine[i] = row[columns - 1 - i];
    }
}
