// Second link of a chain of four: y[i] = y[i] / (1 + exp(-y[i])), in place, for n fp32 elements.
// The idea: the activation function SiLU, again in a pass of its own.
// Limit: bytes in flight, as in copy.cu. Eight bytes move for some ten instructions.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void chain_silu(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = y[i] / (1.0f + __expf(-y[i]));
    }
}
