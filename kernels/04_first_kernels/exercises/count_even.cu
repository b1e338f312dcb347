// count[0] += how many of n integers are even.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void count_even(const int* x, int* count, int n)
{
    __shared__ int mine;
    if (threadIdx.x == 0) {
        mine = 0;
    }
    __syncthreads();

    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] % 2 == 0) {
        atomicAdd(&mine, 1);
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        atomicAdd(count, mine);
    }
}
