// The gradients of polynomial_value.cu, from dy, the gradient of y (n elements of T each):
// dx[i] = dy[i] (c[1] + 2 c[2] x[i] + ...), and for each coefficient the sum of dy[i] x[i]^k over the
// elements of a block, in partial[block][k]; whoever adds those up in order gets the same bits again.
// New beside polynomial_value.cu: one read of x and dy serves all gradients. A block waits twice for
// each coefficient, until all its warps have summed; its time is not measured yet.
// grid (ceil(n / 256)), block (256), dynamic shared 0
constexpr int kWarps = 8;

template <typename T>
__global__ void polynomial_gradient(
    const T* x, const T* coefficients, const T* dy, T* dx, T* partial, int count, size_t n)
{
    __shared__ T of_warp[kWarps];
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const T at = i < n ? x[i] : T(0);
    T term = i < n ? dy[i] : T(0); // dy x^k, from k = 0 on
    T slope = 0;
    for (int k = 0; k < count; ++k) {
        if (k + 1 < count) slope += T(k + 1) * coefficients[k + 1] * term;
        T sum = term;
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, distance);
        }
        if (lane == 0) of_warp[warp] = sum;
        __syncthreads(); // every warp's sum is there
        if (threadIdx.x == 0) {
            for (int other = 1; other < kWarps; ++other) sum += of_warp[other];
            partial[size_t(blockIdx.x) * count + k] = sum;
        }
        __syncthreads(); // and has been read
        term *= at;
    }
    if (i < n) dx[i] = slope;
}
