// Rotary positions: y[r] is row r of x, of 64 floats, with numbers i and i + 32 rotated as a pair:
// (a, b) becomes (a cos - b sin, a sin + b cos). Cosine and sine of the row's position p are
// cosine[p][i] and sine[p][i], tables of `length` rows of 32 floats. Rows from 1 on, and positions
// from 0 to length - 1 in any order.
// grid (ceil(rows * 32 / 256)), block (256), dynamic shared 0

constexpr int kHalf = 32;

extern "C" __global__ void rotate_pairs(const float *x, const int *position, const float *cosine,
                                        const float *sine, float *y, int rows)
{
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: rotate one pair of one row
    // SOLUTION
    int row = pair / kHalf, i = pair % kHalf;
    if (row < rows) {
        size_t first = (size_t)row * 2 * kHalf + i;
        size_t at = (size_t)position[row] * kHalf + i;
        float a = x[first], b = x[first + kHalf];
        y[first] = a * cosine[at] - b * sine[at];
        y[first + kHalf] = a * sine[at] + b * cosine[at];
    }
    // END
}
