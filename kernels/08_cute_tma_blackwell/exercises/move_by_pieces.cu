// Moves x to y in another order: a block of one warp takes 128 floats, and a thread takes four that
// are neighbours in x and 32 apart in y. n is a multiple of 128.
// grid (n / 128), block (32), dynamic shared 0
extern "C" __global__ void move_by_pieces(const float* x, float* y)
{
    const int first = blockIdx.x * 128;
    float four[4];
    for (int k = 0; k < 4; ++k) four[k] = x[first + 4 * threadIdx.x + k];
    for (int k = 0; k < 4; ++k) y[first + 32 * k + threadIdx.x] = four[k];
}
