// y[i] = GELU of x[i] for n floats, by the formula with tanh that many networks use. Takes any n.
// grid ceil(n / 256) or more, block 256, dynamic shared 0

extern "C" __global__ void gelu(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float v = x[i];
        // BUG
        //| const float inner = 0.7978846 * (v + 0.044715 * v * v * v);
        //| y[i] = 0.5 * v * (1.0 + tanh(inner));
        // SOLUTION
        const float inner = 0.7978846f * (v + 0.044715f * v * v * v);
        y[i] = 0.5f * v * (1.0f + tanhf(inner));
        // END
    }
}
