// c[i] = sqrt(a[i]^2 + b[i]^2) for n floats: the long side of n right-angled triangles.
// The loop that it replaces, in C:
//     for (int i = 0; i < n; ++i) { c[i] = sqrtf(a[i] * a[i] + b[i] * b[i]); }
// grid ceil(n / 256) or more, block 256, dynamic shared 0

extern "C" __global__ void hypotenuse(const float *a, const float *b, float *c, int n)
{
    // TODO: which iteration of the loop is this thread's?
    // SOLUTION
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // END
    // TODO: do this iteration, if the loop has it
    // SOLUTION
    if (i < n) {
        c[i] = sqrtf(a[i] * a[i] + b[i] * b[i]);
    }
    // END
}
