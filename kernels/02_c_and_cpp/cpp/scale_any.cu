// y = factor * x for n numbers of any type T.
// One text, and a kernel of its own for each type that is asked for: "scale_any<float>".
// Limit: memory bandwidth.
// grid (ceil(n / 256)), block (256), dynamic shared 0

template <typename T>
__global__ void scale_any(const T *x, T *y, T factor, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = factor * x[i];
    }
}
