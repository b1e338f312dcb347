// line[i] = a[0] + a[1] * x[i] and square[i] = a[0] + a[1] * x[i]^2, for n floats.
// The idea: may a store to `line` change a or x? As long as that is possible they are read again for
// `square`. __restrict__ (-DRESTRICT=__restrict__) is a promise that it is not.
// Limit: memory bandwidth. Takes any n.
// grid (ceil(n / 256)), block (256), dynamic shared 0

#ifndef RESTRICT
#define RESTRICT
#endif

extern "C" __global__ void line_and_square(const float *RESTRICT a, const float *RESTRICT x,
                                           float *RESTRICT line, float *RESTRICT square, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        line[i] = a[0] + a[1] * x[i];
        square[i] = a[0] + a[1] * x[i] * x[i];
    }
}
