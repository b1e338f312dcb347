// Who writes what in an array of rows x columns: block (bx, by) and thread (tx, ty).
// Adds to thread_ids.cu: the global index is computed twice, once for the row and once for the
// column, and both are guarded.
// Limit: memory bandwidth. Sixteen bytes are written for each element, little is computed.
// grid (ceil(columns / 4), ceil(rows / 2)), block (4, 2), dynamic shared 0

extern "C" __global__ void thread_ids_2d(int *bx, int *by, int *tx, int *ty, int rows, int columns)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        int linear = row * columns + column;
        bx[linear] = blockIdx.x;
        by[linear] = blockIdx.y;
        tx[linear] = threadIdx.x;
        ty[linear] = threadIdx.y;
    }
}
