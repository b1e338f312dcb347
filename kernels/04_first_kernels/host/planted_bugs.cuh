// Seven kernels with one mistake each, for the tools to find. planted_bugs_host.cu launches them.
// Each gives the right result often enough to be believed.

// y = 2 x for n floats. Mistake: the last block reaches past the end.
extern "C" __global__ void no_guard(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2.0f * x[i];
}

// Each element minus its left neighbour, in one block of 256. Mistake: no barrier.
extern "C" __global__ void no_barrier(const float *x, float *y)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = x[t];
    y[t] = t > 0 ? tile[t] - tile[t - 1] : 0.0f;
}

// sum += x for n floats. Mistake of the host: it never set sum to zero.
extern "C" __global__ void no_zero(const float *x, float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        sum[i] += x[i];
    }
}

// One block of 256 reverses its floats. Mistake: the tile's last element stays uninitialised.
extern "C" __global__ void no_fill(const float *x, float *y)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    if (t < 255) {
        tile[t] = x[t];
    }
    __syncthreads();
    y[t] = tile[255 - t];
}

// y = 2 x for n floats. Mistake: a barrier inside the guard, which not all threads reach.
extern "C" __global__ void barrier_in_guard(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 2.0f * x[i];
        __syncthreads();
    }
}

// y[i] = x[where[i]] for n floats. Mistake of the host: one element of where is no index of x.
extern "C" __global__ void far_index(const float *x, const int *where, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int from = where[i];
        y[i] = x[from];
    }
}

// The same kernel, which asserts what it takes for granted. The mistake is the host's again.
extern "C" __global__ void sure_index(const float *x, const int *where, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int from = where[i];
        assert(0 <= from && from < n);
        y[i] = x[from];
    }
}
