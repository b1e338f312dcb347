// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// The idea: one block a row, which reads it three times: for the largest, the sum and the quotients.
// Whoever needs a number again loads it again. Takes 1 to 2 billion rows, and as many columns.
// Limit: memory bandwidth. Three reads and one write for each element.
// grid (rows), block (256), dynamic shared 0

constexpr int kThreads = 256;

extern "C" __global__ void softmax_rows(const float *x, float *y, int columns)
{
    __shared__ float parts[kThreads];
    int thread = threadIdx.x;
    const float *row = x + (long long)blockIdx.x * columns;
    float *out = y + (long long)blockIdx.x * columns;

    float largest = row[0];
    for (int i = thread; i < columns; i += kThreads) {
        largest = fmaxf(largest, row[i]);
    }
    parts[thread] = largest;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (thread < half) {
            parts[thread] = fmaxf(parts[thread], parts[thread + half]);
        }
        __syncthreads();
    }
    largest = parts[0];
    __syncthreads(); // everyone has read it before parts is used again

    float sum = 0.0f;
    for (int i = thread; i < columns; i += kThreads) {
        sum += expf(row[i] - largest);
    }
    parts[thread] = sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (thread < half) {
            parts[thread] += parts[thread + half];
        }
        __syncthreads();
    }
    float scale = 1.0f / parts[0];

    for (int i = thread; i < columns; i += kThreads) {
        out[i] = expf(row[i] - largest) * scale;
    }
}
