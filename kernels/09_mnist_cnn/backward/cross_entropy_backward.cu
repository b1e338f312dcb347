// dz = the gradient of a batch's mean cross entropy for its logits z, in fp32: z and dz are N x K,
// label has N elements, 0...K-1.
// Takes any shape with fewer than 2^31 elements (indices are int), K at least 1. (A label of
// 8 bits names one of the first 256.)
// grid (ceil(N / 256)), block 256, dynamic shared 0

extern "C" __global__ void cross_entropy_backward(const float *z, const unsigned char *label,
                                                  float *dz, int N, int K)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N) {
        return;
    }
    const float *row = z + n * K;
    // TODO: the gradient of the batch's mean loss for each of the row's K logits
    // SOLUTION
    float largest = row[0];
    for (int k = 1; k < K; ++k) {
        largest = fmaxf(largest, row[k]);
    }
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += expf(row[k] - largest);
    }
    for (int k = 0; k < K; ++k) {
        float probability = expf(row[k] - largest) / sum;
        dz[n * K + k] = (probability - (k == label[n] ? 1.0f : 0.0f)) / N;
    }
    // END
}
