// y[i] = c[0] + c[1] x[i] + ... + c[count - 1] x[i]^(count - 1), for n elements of T (float or
// double): any polynomial, by Horner's rule. New beside polynomial.cu: the coefficients are an array,
// a template serves both types, and size_t indexes more than 2^31 elements.
// It reads and writes each element once: DRAM bandwidth is its bound, as long as count is small. Its
// time is not measured yet.
// grid (ceil(n / 256)), block (256), dynamic shared 0
template <typename T>
__global__ void polynomial_value(const T* x, const T* coefficients, T* y, int count, size_t n)
{
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const T at = x[i];
    T value = coefficients[count - 1];
    for (int k = count - 2; k >= 0; --k) value = value * at + coefficients[k];
    y[i] = value;
}
