// quotient[i] = a[i] // b[i] and rest[i] = a[i] % b[i] as Python has them, for n int32 numbers: the
// quotient is rounded down, and a = quotient * b + rest. No b is 0; a // b fits into an int.
// grid (ceil(n / 256)) or more, block (256), dynamic shared 0
extern "C" __global__ void floor_division(const int *a, const int *b, int *quotient, int *rest,
                                          int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: C rounds a quotient towards 0, and the rest has the sign of a. When does Python get
    // another number?
    // SOLUTION
    if (i < n) {
        const int towards_zero = a[i] / b[i], left = a[i] % b[i];
        const bool down = left != 0 && (left < 0) != (b[i] < 0);
        quotient[i] = towards_zero - down;
        rest[i] = left + (down ? b[i] : 0);
    }
    // END
}
