// The inputs of the transforms in Bluestein's algorithm for n points, any n. With the chirp
// w[j] = exp(-i pi j j / n), a[j] = x[j] w[j], and b[j] = b[m - j] = conj(w[j]), for j below n.
// Both have m elements, m at least 2 n - 1, and are zero elsewhere. Complex numbers are pairs.
// grid (ceil(m / 256)), block 256, dynamic shared 0

extern "C" __global__ void chirp(const float2* x, float2* a, float2* b, int n, int m)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= m) return;
    // TODO: store element j of a and of b. sincospif(t, &s, &c) gives the sine and cosine of pi t;
    //       j j does not fit an int, and a float has no digits left for the turns that count.
    // SOLUTION
    const int distance = j < n ? j : m - j; // from place 0, round the end
    float2 w = make_float2(0.0f, 0.0f);
    if (distance < n) {
        const long long square = (long long)distance * distance;
        sincospif(-(float)(square % (2 * n)) / n, &w.y, &w.x);
    }
    const float2 point = j < n ? x[j] : make_float2(0.0f, 0.0f);
    a[j] = make_float2(point.x * w.x - point.y * w.y, point.x * w.y + point.y * w.x);
    b[j] = make_float2(w.x, -w.y);
    // END
}
