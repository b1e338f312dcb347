// y[i] = the largest of x[i] to x[i + 15]. At the end of x the windows are shorter. n is at
// most 2 billion.
// A block of 256 threads needs 256 + 15 elements of x, and loads each of them once.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kBlock = 256;
constexpr int kWindow = 16;
constexpr int kTile = kBlock + kWindow - 1;

extern "C" __global__ void window_max(const float *x, float *y, int n)
{
    __shared__ float tile[kTile];
    const int first = blockIdx.x * kBlock; // tile[0] holds x[first]
    const int i = first + threadIdx.x;

    // TODO: fill all kTile elements of the tile from x, more than there are threads. Past the
    //       end of x, x[n - 1] does no harm: it's in every window that reaches that far
    // SOLUTION
    for (int j = threadIdx.x; j < kTile; j += kBlock) {
        tile[j] = x[min(first + j, n - 1)];
    }
    // END

    // TODO: let no thread read before all have written
    // SOLUTION
    __syncthreads();
    // END

    if (i < n) {
        // TODO: find and store the largest of the 16 elements that begin at this thread's own
        // SOLUTION
        float largest = tile[threadIdx.x];
        for (int k = 1; k < kWindow; ++k) {
            largest = fmaxf(largest, tile[threadIdx.x + k]);
        }
        y[i] = largest;
        // END
    }
}
