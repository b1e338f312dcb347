// y[i] = the sum of x[i - 16] to x[i + 16]: a window of 33 fp32 elements; there are 0s beyond the
// ends of x. Takes n up to 2 billion.
// Adds to window_each.cu: the block fetches the 256 + 32 elements that its threads need once, into
// shared memory, and the windows are summed up from there.
// Limit: requests to shared memory, 33 loads for each element.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kRadius = 16;
constexpr int kThreads = 256;
constexpr int kTile = kThreads + 2 * kRadius;

extern "C" __global__ void window_shared(const float *x, float *y, int n)
{
    __shared__ float tile[kTile];
    int first = blockIdx.x * kThreads - kRadius; // the element that tile[0] holds
    for (int element = threadIdx.x; element < kTile; element += kThreads) {
        int j = first + element;
        tile[element] = 0 <= j && j < n ? x[j] : 0.0f;
    }
    __syncthreads();

    int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
        for (int element = threadIdx.x; element <= threadIdx.x + 2 * kRadius; ++element) {
            sum += tile[element];
        }
        y[i] = sum;
    }
}
