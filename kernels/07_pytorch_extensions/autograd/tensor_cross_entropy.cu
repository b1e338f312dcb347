// loss = the cross entropy of each row of logits, in fp32: z is N x K, label and loss have N
// elements. The loss of a row is log(sum of exp(z)) - z[label]; the largest logit is subtracted
// first, so that no exponential overflows.
// Takes any shape with fewer than 2^31 elements (indices are int), K at least 1, labels 0...K-1.
// One thread has a row: right for a few classes. Limit: at the sizes of a small network the launch.
// grid (ceil(N / 256)), block 256, dynamic shared 0

extern "C" __global__ void tensor_cross_entropy(const float *z, const int *label, float *loss,
                                                int N, int K)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N) {
        return;
    }
    const float *row = z + n * K;
    float largest = row[0];
    for (int k = 1; k < K; ++k) {
        largest = fmaxf(largest, row[k]);
    }
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += expf(row[k] - largest);
    }
    loss[n] = logf(sum) - (row[label[n]] - largest);
}
