// stack (parts * n x n) = the triangles R of `parts` factorisations, one on top of another; `qr` is
// parts x rows x n, as geqrf leaves it, with rows at least n. Zeros below each diagonal.
// For a tall matrix: its parts are factored at the same time, then their stacked triangles are a
// matrix with the same R, and far fewer rows.
// Limit: memory bandwidth.
// grid (any), block (256), dynamic shared 0

extern "C" __global__ void qr_stack(const float *qr, float *stack, int parts, int rows, int n)
{
    const int size = parts * n * n;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) {
        const int part = i / (n * n), row = i / n % n, column = i % n;
        stack[i] = row <= column ? qr[((size_t)part * rows + row) * n + column] : 0.0f;
    }
}
