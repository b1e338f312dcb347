// y = sqrt(x) for the elements of n floats that are not negative; the others stay as they are.
// An object counts, in exits[0], how many threads have left the function: its destructor runs on
// each of the three ways out.
// Limit: the atomic additions. They are here to be seen.
// grid (ceil(n / 256)), block (256), dynamic shared 0

class ExitCounter {
public:
    __device__ explicit ExitCounter(int *exits) : exits_(exits) {}
    __device__ ~ExitCounter() { atomicAdd(exits_, 1); }

private:
    int *exits_;
};

extern "C" __global__ void count_exits(const float *x, float *y, int *exits, int n)
{
    const ExitCounter counter(exits);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    if (x[i] < 0.0f) {
        return;
    }
    y[i] = sqrtf(x[i]);
}
