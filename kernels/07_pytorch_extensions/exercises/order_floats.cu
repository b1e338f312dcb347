// order[i] = an integer for x[i] that is the larger, the larger x[i] is: -inf first, then negative
// numbers, -0, +0, positive numbers, +inf, and last every NaN, with the one order 0xffffffff.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void order_floats(const float *x, unsigned *order, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned bits = __float_as_uint(x[i]);
    // TODO: store the order of x[i]
    // SOLUTION
    if (x[i] != x[i]) {
        order[i] = 0xffffffff;
    } else {
        order[i] = bits >> 31 ? ~bits : bits | 0x80000000;
    }
    // END
}
