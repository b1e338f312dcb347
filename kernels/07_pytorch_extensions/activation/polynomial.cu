// y[i] = x[i]² + x[i] + 1, for n floats: an activation function, the smallest kernel that a user of
// PyTorch may want. It adds nothing to a vector addition but its caller: this chapter makes an
// operator of it that autograd, the compiler and the allocator of PyTorch know.
// It reads and writes each element once, so DRAM bandwidth is its bound. It stays below: a thread
// moves 4 bytes in and 4 out (polynomial_vector.cu moves 16). Any n.
// grid (ceil(n / 256)), block (256), dynamic shared 0
extern "C" __global__ void polynomial(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (x[i] + 1.0f) * x[i] + 1.0f;
}
