// dw = dy^T x and db = the sum of dy's rows, in fp32: dy is N x O, x is N x I, dw is O x I and db
// has O elements. Takes any shape with fewer than 2^31 elements a matrix (indices are int).
// One thread computes one element of dw; those of the first column also sum up for db.
// grid (ceil(O I / 256)), block 256, dynamic shared 0

extern "C" __global__ void linear_backward_weight(const float *dy, const float *x, float *dw,
                                                  float *db, int N, int I, int O)
{
    int result = blockIdx.x * blockDim.x + threadIdx.x;
    if (result >= O * I) {
        return;
    }
    int o = result / I;
    int i = result % I;
    // TODO: the gradient of w[o][i], and in the threads of the first column also that of b[o]
    // SOLUTION
    float sum = 0.0f;
    for (int n = 0; n < N; ++n) {
        sum += dy[n * O + o] * x[n * I + i];
    }
    dw[result] = sum;
    if (i == 0) {
        float of_bias = 0.0f;
        for (int n = 0; n < N; ++n) {
            of_bias += dy[n * O + o];
        }
        db[o] = of_bias;
    }
    // END
}
