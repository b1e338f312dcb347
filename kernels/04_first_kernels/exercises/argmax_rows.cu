// Where the largest element of each row is: index[row] is its column; of several equal ones, the
// first. x is a matrix of rows x columns floats without NaN, columns < 2^31 - 32; a warp takes one
// row.
// grid (ceil(rows / 8)), block (256), dynamic shared 0

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void argmax_rows(const float *x, int *index, int rows, int columns)
{
    const int row = blockIdx.x * (blockDim.x / kWarpSize) + threadIdx.x / kWarpSize;
    const int lane = threadIdx.x % kWarpSize;
    if (row >= rows) {
        return; // a whole warp leaves, or none of it
    }
    float best = -__int_as_float(0x7f800000); // minus infinity: nothing is less
    int where = columns;
    for (int column = lane; column < columns; column += kWarpSize) {
        const float value = x[(size_t)row * columns + column];
        if (value > best || where == columns) { // the first one in any case: it may be -infinity
            best = value;
            where = column;
        }
    }
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        // TODO: fetch the other lane's best and where, and take both over if they win; of two equal
        // values the one further to the left wins
        // SOLUTION
        const float other = __shfl_down_sync(kWholeWarp, best, distance);
        const int there = __shfl_down_sync(kWholeWarp, where, distance);
        if (other > best || (other == best && there < where)) {
            best = other;
            where = there;
        }
        // END
    }
    if (lane == 0) {
        index[row] = where;
    }
}
