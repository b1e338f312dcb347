// Segment s of x (n numbers) begins at s * step and has `points` numbers; those from x[n] on are
// zeros. Row r of out, `points` complex numbers, has segment 2 r as its real part and segment 2 r + 1
// as its imaginary part. Any n, step and points from 1 on, points up to 8,388,480.
// grid (rows, ceil(points / 128)), block 128, dynamic shared 0

extern "C" __global__ void two_segments(const float *x, float2 *out, int n, int points, int step)
{
    const int k = blockIdx.y * blockDim.x + threadIdx.x;
    if (k >= points) {
        return;
    }
    float2 *row = out + (size_t)blockIdx.x * points;
    // TODO: store row[k]. Each of the two numbers may lie beyond the end, or both
    // SOLUTION
    const int a = 2 * blockIdx.x * step + k, b = a + step;
    row[k] = make_float2(a < n ? x[a] : 0.0f, b < n ? x[b] : 0.0f);
    // END
}
