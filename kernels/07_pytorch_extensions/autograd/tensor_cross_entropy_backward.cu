// dz = the gradient of tensor_cross_entropy, in fp32: z and dz are N x K, label and dloss have N
// elements, and dloss[n] is what the end of the graph does when the loss of row n grows.
// Takes any shape with fewer than 2^31 elements (indices are int), K at least 1, labels 0...K-1.
// One warp has a row, and its lanes every 32nd logit each.
// Limit: memory bandwidth for many classes; at the sizes of a small network the launch.
// grid (ceil(N / 8)), block 256, dynamic shared 0

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void tensor_cross_entropy_backward(const float *z, const int *label,
                                                         const float *dloss, float *dz, int N,
                                                         int K)
{
    int n = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    int lane = threadIdx.x % kWarpSize;
    if (n >= N) {
        return; // the whole warp
    }
    const float *row = z + n * K;
    // TODO: the gradient for each of the row's K logits, worked out by the lanes together
    // SOLUTION
    float largest = row[0];
    for (int k = lane; k < K; k += kWarpSize) {
        largest = fmaxf(largest, row[k]);
    }
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, distance));
    }
    float sum = 0.0f;
    for (int k = lane; k < K; k += kWarpSize) {
        sum += expf(row[k] - largest);
    }
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(kWholeWarp, sum, distance);
    }
    for (int k = lane; k < K; k += kWarpSize) {
        float probability = expf(row[k] - largest) / sum;
        dz[n * K + k] = dloss[n] * (probability - (k == label[n] ? 1.0f : 0.0f));
    }
    // END
}
