// C = A B^T with nearly the error of fp32, on tensor cores: A is 16 x K, B is 8 x K, C is 16 x 8; K is
// a multiple of 8. One warp; mma_tf32 takes A and B 8 columns at a time, drops all bits of a number
// but TF32's, and sums in fp32.
// grid (1), block (32), dynamic shared 0

#include "ptx.cuh" // mma_tf32(sum, a, b0, b1), to_tf32(x): the bits of x rounded to TF32

extern "C" __global__ void three_products(const float *A, const float *B, float *C, int K)
{
    int group = threadIdx.x / 4; // the lane's row in a fragment, and 8 further
    int member = threadIdx.x % 4;
    float sum[4] = {};
    for (int k = 0; k < K; k += 8) {
        float a[4], b[2]; // this lane's numbers
        for (int i = 0; i < 4; ++i) {
            a[i] = A[(group + i % 2 * 8) * K + k + member + i / 2 * 4];
        }
        for (int i = 0; i < 2; ++i) {
            b[i] = B[group * K + k + member + i * 4];
        }
        // TODO: add their products to sum; of each number a high part and a low part count
        // SOLUTION
        unsigned a_high[4], a_low[4], b_high[2], b_low[2];
        for (int i = 0; i < 4; ++i) {
            a_high[i] = to_tf32(a[i]);
            a_low[i] = to_tf32(a[i] - __uint_as_float(a_high[i]));
        }
        for (int i = 0; i < 2; ++i) {
            b_high[i] = to_tf32(b[i]);
            b_low[i] = to_tf32(b[i] - __uint_as_float(b_high[i]));
        }
        mma_tf32(sum, a_low, b_high[0], b_high[1]);
        mma_tf32(sum, a_high, b_low[0], b_low[1]);
        mma_tf32(sum, a_high, b_high[0], b_high[1]);
        // END
    }
    for (int i = 0; i < 4; ++i) {
        C[(group + i / 2 * 8) * 8 + member * 2 + i % 2] = sum[i];
    }
}
