// slices[(s * rows + r) * columns + c] is slice s of element (r, c) of x, rows x columns doubles by rows:
// first x * 2^(6 - exponent[r]) rounded to the nearest integer, then 128 times what is left over, rounded
// likewise, and so on for count slices. rows * columns * count is below 2^31.
// grid ceil(rows * columns / 256), block 256, dynamic shared 0

extern "C" __global__ void int8_slices(const double *x, const int *exponent, signed char *slices,
                                       int rows, int columns, int count)
{
    // TODO: all of it
    // SOLUTION
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= rows * columns) return;
    double rest = scalbn(x[i], 6 - exponent[i / columns]);
    for (int s = 0; s < count; ++s) {
        const double slice = rint(rest);
        slices[(size_t)s * rows * columns + i] = (signed char)(int)slice;
        rest = (rest - slice) * 128.0;
    }
    // END
}
