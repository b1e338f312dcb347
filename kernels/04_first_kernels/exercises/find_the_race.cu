// Each block of 256 threads reverses its own 256 floats: y[first + i] = x[first + 255 - i], by
// way of shared memory. Takes n a multiple of 256.
// grid n / 256, block 256, dynamic shared 0

constexpr int kBlock = 256;

extern "C" __global__ void reverse_blocks(const float* x, float* y)
{
    __shared__ float tile[kBlock];
    const int first = blockIdx.x * kBlock;

    tile[threadIdx.x] = x[first + threadIdx.x];
    // BUG
    // SOLUTION
    __syncthreads();  // no thread reads before all have written
    // END
    y[first + threadIdx.x] = tile[kBlock - 1 - threadIdx.x];
}
