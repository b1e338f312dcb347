// Multiplies n floats by a factor: y = gain x. A block of 256 threads takes 1024 elements, a thread
// four of them. Takes any n.
// grid (ceil(n / 1024)) or more, block (256), dynamic shared 0

constexpr int kThreads = 256;
constexpr int kEach = 4;

extern "C" __global__ void brighten(const float *x, float *y, float gain, int n)
{
    const int start = blockIdx.x * kThreads * kEach;
    for (int k = 0; k < kEach; ++k) {
        // BUG
        //| const int i = start + kEach * threadIdx.x + k;
        // SOLUTION
        const int i = start + k * kThreads + threadIdx.x;
        // END
        if (i < n) {
            y[i] = gain * x[i];
        }
    }
}
