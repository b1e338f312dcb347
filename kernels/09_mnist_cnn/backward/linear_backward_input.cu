// dx = dy w in fp32: dy is N x O, w is O x I and dx is N x I.
// Takes any shape with fewer than 2^31 elements a matrix (indices are int).
// One thread computes one element of dx.
// grid (ceil(N I / 256)), block 256, dynamic shared 0

extern "C" __global__ void linear_backward_input(const float *dy, const float *w, float *dx, int N,
                                                 int I, int O)
{
    int result = blockIdx.x * blockDim.x + threadIdx.x;
    if (result >= N * I) {
        return;
    }
    int n = result / I;
    int i = result % I;
    float sum = 0.0f;
    for (int o = 0; o < O; ++o) {
        sum += dy[n * O + o] * w[o * I + i];
    }
    dx[result] = sum;
}
