// dx = dy where y = relu(x) is positive, else 0, in fp32: at 0 the slope is taken to be 0, as in
// PyTorch. Takes any n below 2^31 (indices are int). dx may be dy.
// Limit: memory bandwidth, or at small sizes the launch.
// grid (ceil(n / 256)), block 256, dynamic shared 0

extern "C" __global__ void tensor_relu_backward(const float *y, const float *dy, float *dx, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        dx[i] = y[i] <= 0.0f ? 0.0f : dy[i];
    }
}
