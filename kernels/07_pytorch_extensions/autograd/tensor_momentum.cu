// A step of gradient descent with momentum and weight decay, in place and in fp32, as PyTorch's SGD
// does it: g = dw + decay w, then v = momentum v + g, then w = w - rate v. w, v and dw have n
// elements, v begins with zeros.
// Takes any n below 2^31 (indices are int).
// Limit: memory bandwidth, three reads and two writes an element; at small sizes the launch.
// grid (ceil(n / 256)) or more, block 256, dynamic shared 0

extern "C" __global__ void tensor_momentum(float *w, float *v, const float *dw, float rate,
                                           float momentum, float decay, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    // TODO: the new v[i], and with it the new w[i]
    // SOLUTION
    float velocity = momentum * v[i] + (dw[i] + decay * w[i]);
    v[i] = velocity;
    w[i] -= rate * velocity;
    // END
}
