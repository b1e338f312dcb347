// codes[i] = the code of x[i] in a format of 1 sign bit, `exponent_bits` and `fraction_bits`, at
// most 8 together, in the lowest bits. All codes are numbers: there is no infinity and no NaN. The
// bias is 2^(exponent_bits - 1) - 1. To the nearest number, of two equally near ones the even code,
// and no further than the largest number. A zero has the sign of x.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void small_floats(const float *x, unsigned char *codes, int n,
                                        int exponent_bits, int fraction_bits)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned bits = __float_as_uint(x[i]);
    unsigned sign = bits >> 31;
    unsigned size = bits & 0x7fffffff;          // of |x|: exponent + 127, fraction
    int least = 2 - (1 << (exponent_bits - 1)); // exponent of the smallest normal number
    unsigned largest = (1 << (exponent_bits + fraction_bits)) - 1; // code
    unsigned code = 0;
    // TODO: the code of |x|. Between 0 and the smallest normal number the numbers are as far
    // apart as just above it.
    // SOLUTION
    if (int(size >> 23) - 127 < least) {
        float steps = __uint_as_float(size) * exp2f(float(fraction_bits - least));
        code = __float2int_rn(steps);
    } else {
        int dropped = 23 - fraction_bits; // bits
        unsigned half = (1u << (dropped - 1)) - 1 + (size >> dropped & 1);
        code = ((size + half) >> dropped) - ((least + 126) << fraction_bits);
    }
    code = min(code, largest);
    // END
    codes[i] = code | sign << (exponent_bits + fraction_bits);
}
