// y[i] = a long function of x[i], for n positive floats: one function where i is even, another where
// i is odd. Each block owns 256 elements in a row. Takes any n.
// grid ceil(n / 256) or more, block 256, dynamic shared 0

extern "C" __global__ void branch_by_warp(const float *x, float *y, int n)
{
    const int first = blockIdx.x * 256;
    const int t = threadIdx.x;
    // TODO: give the elements of the block to its threads in another order, so that all lanes of a
    // warp take the same path
    // STARTER
    //| const int i = first + t;
    // SOLUTION
    const int odd = t / 128;  // warps 0 to 3 take the even elements, warps 4 to 7 the odd ones
    const int i = first + 2 * (t % 128) + odd;
    // END
    if (i < n) {
        float v = x[i];
        if (i % 2 == 0) {
            for (int step = 0; step < 16; ++step) {
                v = sqrtf(v * v + 1.0f);
            }
        } else {
            for (int step = 0; step < 16; ++step) {
                v = v + 1.0f / (v + 1.0f);
            }
        }
        y[i] = v;
    }
}
