// y[i] = the largest of x[i] to x[i + 15]. At the end of x the windows are shorter. n is at
// most 2 billion.
// A block of 256 threads needs 256 + 15 elements of x, and loads each of them once.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kBlock = 256;
constexpr int kWindow = 16;
constexpr int kTile = kBlock + kWindow - 1;

extern "C" __global__ void window_max(const float *x, float *y, int n)
{
    // TODO: fill a tile together, wait, and find the largest of the 16 that begin at each element
    // SOLUTION
    __shared__ float tile[kTile];
    const int first = blockIdx.x * kBlock; // tile[0] holds x[first]
    const int i = first + threadIdx.x;

    for (int j = threadIdx.x; j < kTile; j += kBlock) {
        tile[j] = x[min(first + j, n - 1)]; // x[n - 1] is in every window that reaches past the end
    }

    __syncthreads();

    if (i < n) {
        float largest = tile[threadIdx.x];
        for (int k = 1; k < kWindow; ++k) {
            largest = fmaxf(largest, tile[threadIdx.x + k]);
        }
        y[i] = largest;
    }
    // END
}
