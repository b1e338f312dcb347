// y = softmax of each row of x, of finite fp32 numbers: exp(x - the row's largest), over the row's
// sum of these. x and y have any number of rows, of 1 to 32 columns. A block takes eight rows.
// grid (ceil(rows / 8)), block 256, dynamic shared 0

constexpr int kThreads = 256;
constexpr int kRows = 8; // of a block
constexpr float kLowest = -3.4028235e38f;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void short_rows(const float *x, float *y, int rows, int columns)
{
    // TODO: this is right: the whole block takes one row after the other, of at most 32 numbers
    // STARTER
    //| __shared__ float part[kThreads];
    //| const int thread = threadIdx.x;
    //| for (int i = 0; i < kRows && blockIdx.x * kRows + i < rows; ++i) {
    //|     const size_t start = (size_t)(blockIdx.x * kRows + i) * columns;
    //|     const float number = thread < columns ? x[start + thread] : kLowest;
    //|     part[thread] = number;
    //|     __syncthreads(); // all numbers are there
    //|     for (int half = kThreads / 2; half > 0; half /= 2) {
    //|         if (thread < half) {
    //|             part[thread] = fmaxf(part[thread], part[thread + half]);
    //|         }
    //|         __syncthreads(); // this half is done
    //|     }
    //|     const float power = thread < columns ? expf(number - part[0]) : 0.0f;
    //|     __syncthreads(); // all have the largest
    //|     part[thread] = power;
    //|     __syncthreads(); // all powers are there
    //|     for (int half = kThreads / 2; half > 0; half /= 2) {
    //|         if (thread < half) {
    //|             part[thread] += part[thread + half];
    //|         }
    //|         __syncthreads(); // this half is done
    //|     }
    //|     if (thread < columns) {
    //|         y[start + thread] = power / part[0];
    //|     }
    //|     __syncthreads(); // all have the sum
    //| }
    // SOLUTION
    const int row = blockIdx.x * kRows + threadIdx.x / 32;
    const int column = threadIdx.x % 32;
    const bool inside = row < rows && column < columns;
    const size_t at = (size_t)row * columns + column;
    const float number = inside ? x[at] : kLowest;
    float largest = number;
    for (int distance = 16; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, distance));
    }
    const float power = inside ? expf(number - largest) : 0.0f;
    float sum = power;
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(kWholeWarp, sum, distance);
    }
    if (inside) {
        y[at] = power / sum;
    }
    // END
}
