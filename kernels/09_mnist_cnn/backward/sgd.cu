// w -= rate dw, in fp32: a step of plain stochastic gradient descent. Takes any n below 2^31
// (indices are int).
// grid (ceil(n / 256)), block 256, dynamic shared 0

extern "C" __global__ void sgd(float *w, const float *dw, float rate, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        w[i] -= rate * dw[i];
    }
}
