// y += A x, fp32, for a sparse matrix A in CSR, as in 01_spmv_rows; y is 0 before the launch.
// Rows and elements together are fewer than 2^31 - 896.
// The idea: the merge path. It has one step for each element and one for the end of each row, and
// every thread takes seven steps, wherever rows begin and end.
// Limit: a row that several threads share is added up by atomics, in no fixed order.
// grid (ceil((rows + elements) / 896)), block (128), dynamic shared 0

constexpr int kThreads = 128;
constexpr int kSteps = 7; // odd: the threads' first products are in different banks
constexpr int kTile = kThreads * kSteps;

// A point of the path: so many rows are finished, so many elements are added.
struct Point {
    int row;
    int element;
};

// Where the path crosses diagonal d, after d steps. A row ends at once where it can.
__device__ Point crossing(const int *ends, int rows, int elements, int d)
{
    int low = max(d - elements, 0);
    int high = min(d, rows);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (ends[middle] < d - middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return {low, d - low};
}

extern "C" __global__ void spmv_merge(const int *offsets, const int *columns, const float *values,
                                      const float *x, float *y, int rows)
{
    __shared__ Point corners[2];
    __shared__ int ends[kTile]; // of the tile's rows, counted from its first element
    __shared__ float products[kTile];
    const int elements = offsets[rows];
    const int first = blockIdx.x * kTile;
    const int steps = min(kTile, rows + elements - first); // of this block
    if (threadIdx.x < 2) {
        corners[threadIdx.x] = crossing(offsets + 1, rows, elements, first + threadIdx.x * steps);
    }
    __syncthreads(); // both corners are there
    const Point from = corners[0];
    const int tile_rows = corners[1].row - from.row;
    const int tile_elements = corners[1].element - from.element;
    for (int r = threadIdx.x; r < tile_rows; r += kThreads) {
        ends[r] = offsets[from.row + r + 1] - from.element;
    }
    for (int k = threadIdx.x; k < tile_elements; k += kThreads) {
        const int element = from.element + k;
        products[k] = values[element] * x[columns[element]];
    }
    __syncthreads(); // ends and products are there

    const int begin = min((int)threadIdx.x * kSteps, steps);
    const int end = min(begin + kSteps, steps);
    Point at = crossing(ends, tile_rows, tile_elements, begin);
    float sum = 0.0f;
    bool whole = false; // the row at.row begins with this thread
    for (int step = begin; step < end; ++step) {
        if (at.row < tile_rows && ends[at.row] <= at.element) {
            if (whole) {
                y[from.row + at.row] = sum;
            } else {
                atomicAdd(&y[from.row + at.row], sum);
            }
            sum = 0.0f;
            whole = true;
            ++at.row;
        } else {
            sum += products[at.element];
            ++at.element;
        }
    }
    if (sum != 0.0f) { // the row goes on in the next thread
        atomicAdd(&y[from.row + at.row], sum);
    }
}
