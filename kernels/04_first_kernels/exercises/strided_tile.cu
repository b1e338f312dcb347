// y[i] = tile[stride * i], by one warp, after it has filled the tile in shared memory from x.
// grid (1), block (32), dynamic shared 0

constexpr int kWords = 1024;

extern "C" __global__ void strided_tile(const float *x, float *y, int stride)
{
    __shared__ float tile[kWords];
    for (int i = threadIdx.x; i < kWords; i += 32) {
        tile[i] = x[i];
    }
    __syncthreads();
    y[threadIdx.x] = tile[stride * threadIdx.x];
}
