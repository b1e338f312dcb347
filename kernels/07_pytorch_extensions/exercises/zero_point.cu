// y[r] = the product of row r of W and x, both stored in 8 bits: W[r, k] = w_scales[r] * w[r, k]
// with signed w, and x[k] = x_scale * (q[k] - zero) with unsigned q. Integer sums, rounded only at
// the end. w is M x K. K is a multiple of 4, and w and q begin at multiples of 4 bytes. A warp a
// row.
// grid (ceil(M / 8)), block (256), dynamic shared 0

constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void zero_point(const signed char *w, const float *w_scales,
                                      const unsigned char *q, float x_scale, int zero, float *y,
                                      int M, int K)
{
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= M) {
        return; // the whole warp
    }
    const int *words = reinterpret_cast<const int *>(w + (long long)row * K); // four w each
    const int *words_q = reinterpret_cast<const int *>(q);
    int sum = 0; // of w * (q - zero)
    // TODO: the sum of this lane's words, by __dp4a. It takes four signed bytes on both sides.
    // SOLUTION
    int of_w = 0;
    for (int k = lane; k < K / 4; k += 32) {
        int shifted = words_q[k] ^ 0x80808080; // q - 128, which fits a signed byte
        sum = __dp4a(words[k], shifted, sum);
        of_w = __dp4a(words[k], 0x01010101, of_w);
    }
    sum -= (zero - 128) * of_w;
    // END
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(kWholeWarp, sum, distance);
    }
    if (lane == 0) {
        y[row] = w_scales[row] * x_scale * sum;
    }
}
