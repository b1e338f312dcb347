// y is the discrete Fourier transform of each row of x: n complex numbers a row, real part first.
// y[k] = sum over j of x[j] exp(-2 pi i j k / n). Any n up to 1,024; a thread for each result.
// grid (rows, ceil(n / 256)), block 256, dynamic shared 0

extern "C" __global__ void dft_rows(const float2* x, float2* y, int n)
{
    const float2* row = x + (size_t)blockIdx.x * n;
    const int k = blockIdx.y * blockDim.x + threadIdx.x;
    if (k >= n) return;
    float2 sum = make_float2(0.0f, 0.0f);
    // TODO: add up x[j] exp(-2 pi i j k / n) for all j. sincospif(a, &s, &c) gives the sine and the
    //       cosine of pi a. Large angles lose digits, and whole turns do not matter: take j k
    //       modulo n.
    // SOLUTION
    int turns = 0;  // j k modulo n
    for (int j = 0; j < n; ++j) {
        float s, c;
        sincospif(-2.0f * turns / n, &s, &c);
        sum.x += row[j].x * c - row[j].y * s;
        sum.y += row[j].x * s + row[j].y * c;
        turns += k;
        if (turns >= n) turns -= n;
    }
    // END
    y[(size_t)blockIdx.x * n + k] = sum;
}
