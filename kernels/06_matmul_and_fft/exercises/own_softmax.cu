// y = softmax of each row of x, of finite fp32 numbers: exp(x - the row's largest), over the row's
// sum of these. x and y have gridDim.x rows of any number of columns from 1, and a row may be too
// long for shared memory. A block takes one row. The kernel is called
// own_softmax, is extern "C", and has the parameters const float *x, float *y, int columns.
// grid (rows), block 256, dynamic shared 0

// TODO: the whole kernel
// SOLUTION
constexpr int kThreads = 256;

__device__ inline float minus_infinity()
{
    return __int_as_float(0xff800000);
}

// Adds to (largest, sum) another part of the row: its largest number and its sum of exponentials.
__device__ void merge(float &largest, float &sum, float other_largest, float other_sum)
{
    const float higher = fmaxf(largest, other_largest);
    if (higher == minus_infinity()) {
        return; // neither part has a number
    }
    sum = sum * expf(largest - higher) + other_sum * expf(other_largest - higher);
    largest = higher;
}

extern "C" __global__ void own_softmax(const float *x, float *y, int columns)
{
    const float *row = x + (size_t)blockIdx.x * columns;
    float *out = y + (size_t)blockIdx.x * columns;
    float largest = minus_infinity(), sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        merge(largest, sum, row[i], 1.0f);
    }

    __shared__ float largest_of[kThreads], sum_of[kThreads];
    largest_of[threadIdx.x] = largest;
    sum_of[threadIdx.x] = sum;
    __syncthreads(); // every thread's part is there
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            merge(largest, sum, largest_of[threadIdx.x + half], sum_of[threadIdx.x + half]);
            largest_of[threadIdx.x] = largest;
            sum_of[threadIdx.x] = sum;
        }
        __syncthreads(); // this half is merged
    }
    largest = largest_of[0];
    sum = sum_of[0];

    for (int i = threadIdx.x; i < columns; i += kThreads) {
        out[i] = expf(row[i] - largest) / sum;
    }
}
// END
