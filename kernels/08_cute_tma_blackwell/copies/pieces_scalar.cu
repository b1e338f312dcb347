// y[i] = x[i] for n floats, n a multiple of 4. A thread has four neighbours and moves them one by one.
// The rung to compare with: each of its requests touches every sector of 512 bytes and takes a
// quarter of it.
// grid (ceil(n / 1024)), block (256), dynamic shared 0

constexpr int kPiece = 4;

extern "C" __global__ void pieces_scalar(const float* x, float* y, int n)
{
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * kPiece;
    if (first >= n) return;
#pragma unroll
    for (int k = 0; k < kPiece; ++k) {
        y[first + k] = x[first + k];
    }
}
