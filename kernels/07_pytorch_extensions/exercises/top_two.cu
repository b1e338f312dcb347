// A router of experts: chosen[r][0] and chosen[r][1] are the columns of the largest and of the
// second largest number of row r of x, rows x columns of finite floats. Of equal numbers the one
// with the lower column comes first. At least two columns, fewer than 2^31 elements. A warp has a
// row.
// grid (ceil(rows / 4)), block (128), dynamic shared 0

#include <limits.h>
#include <math_constants.h>

constexpr unsigned kWholeWarp = 0xffffffff;

__device__ bool comes_first(float value, int column, float other, int other_column)
{
    return value > other || (value == other && column < other_column);
}

extern "C" __global__ void top_two(const float *x, int *chosen, int rows, int columns)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) {
        return; // the whole warp
    }
    x += (size_t)row * columns;
    // BUG
    //| int found = -1; // the column of the largest, in the second turn
    //| for (int turn = 0; turn < 2; ++turn) {
    //|     float best = -CUDART_INF_F;
    //|     int at = INT_MAX;
    //|     for (int c = lane; c < columns; c += 32) {
    //|         if (c != found && comes_first(x[c], c, best, at)) {
    //|             best = x[c];
    //|             at = c;
    //|         }
    //|     }
    //|     for (int distance = 16; distance > 0; distance /= 2) {
    //|         float other = __shfl_xor_sync(kWholeWarp, best, distance);
    //|         int other_at = __shfl_xor_sync(kWholeWarp, at, distance);
    //|         if (comes_first(other, other_at, best, at)) {
    //|             best = other;
    //|             at = other_at;
    //|         }
    //|     }
    //|     found = at;
    //|     if (lane == 0) {
    //|         chosen[2 * row + turn] = at;
    //|     }
    //| }
    // SOLUTION
    float best = -CUDART_INF_F, next = -CUDART_INF_F; // the two largest so far
    int at = INT_MAX, next_at = INT_MAX;
    auto meet = [&](float value, int column) {
        if (comes_first(value, column, best, at)) {
            next = best;
            next_at = at;
            best = value;
            at = column;
        } else if (comes_first(value, column, next, next_at)) {
            next = value;
            next_at = column;
        }
    };
    for (int c = lane; c < columns; c += 32) {
        meet(x[c], c);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        float other = __shfl_xor_sync(kWholeWarp, best, distance);
        int other_at = __shfl_xor_sync(kWholeWarp, at, distance);
        float other_next = __shfl_xor_sync(kWholeWarp, next, distance);
        int other_next_at = __shfl_xor_sync(kWholeWarp, next_at, distance);
        meet(other, other_at);
        meet(other_next, other_next_at);
    }
    if (lane == 0) {
        chosen[2 * row] = at;
        chosen[2 * row + 1] = next_at;
    }
    // END
}
