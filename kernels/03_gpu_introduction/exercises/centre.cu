// y[i] = x[i] minus the first element of its block, for n floats; first[b] is that element of block
// b. Takes any n.
// grid (ceil(n / block)) or more, block any up to 1024, dynamic shared 0

extern "C" __global__ void centre(const float *x, float *y, float *first, int n)
{
    __shared__ float tile[1024];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) {
        y[i] = tile[threadIdx.x] - tile[0];
    }
    if (threadIdx.x == 0) {
        first[blockIdx.x] = tile[0];
    }
}
