// y = max(x + bias, 0)^2 and its gradients. x, y, dy and dx are rows x columns of fp32. A NaN in x or
// bias stays NaN in y. dy is finite. columns is a multiple of 4, and each array begins at a multiple
// of 256 bytes. Rows are dealt to strips in turn: partial, strips x columns, has in row s the sums of
// dx over the rows s, s + strips, s + 2 strips and so on. strips is gridDim.y where it's no parameter.
// dbias is the sum over all rows. Three kernels are extern "C", and have these parameters:
// squared_relu:          const float *x, const float *bias, float *y, int rows, int columns
// squared_relu_backward: const float *y, const float *dy, float *dx, float *partial, int rows,
//                        int columns
// sum_strips:            const float *partial, float *dbias, int strips, int columns
// grid (ceil(columns / 128), strips), block (256), dynamic shared 0, for the first two, and
// grid (ceil(columns / 256)), block (256), dynamic shared 0, for sum_strips

// TODO: the three kernels
// SOLUTION
constexpr int kWarps = 8;
constexpr int kLanes = 32;

__device__ float forward(float x)
{
    const float r = x <= 0 ? 0 : x; // of NaN it is NaN, and fmaxf would drop that
    return r * r;
}

__device__ float backward(float y, float dy)
{
    return 2 * sqrtf(y) * dy; // sqrt(y) is max(x + bias, 0) again
}

__device__ float4 plus(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

extern "C" __global__ void squared_relu(const float *x, const float *bias, float *y, int rows,
                                        int columns)
{
    const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const int four = blockIdx.x * kLanes + lane, fours = columns / 4; // the thread's columns
    if (four >= fours) {
        return;
    }
    const float4 b = reinterpret_cast<const float4 *>(bias)[four];
    for (int row = blockIdx.y + warp * gridDim.y; row < rows; row += kWarps * gridDim.y) {
        const size_t at = (size_t)row * fours + four;
        const float4 a = plus(reinterpret_cast<const float4 *>(x)[at], b);
        reinterpret_cast<float4 *>(y)[at] =
            make_float4(forward(a.x), forward(a.y), forward(a.z), forward(a.w));
    }
}

extern "C" __global__ void squared_relu_backward(const float *y, const float *dy, float *dx,
                                                 float *partial, int rows, int columns)
{
    __shared__ float4 of_warp[kWarps][kLanes];
    const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const int four = blockIdx.x * kLanes + lane, fours = columns / 4;
    float4 sum = make_float4(0, 0, 0, 0);
    if (four < fours) {
        for (int row = blockIdx.y + warp * gridDim.y; row < rows; row += kWarps * gridDim.y) {
            const size_t at = (size_t)row * fours + four;
            const float4 a = reinterpret_cast<const float4 *>(y)[at];
            const float4 g = reinterpret_cast<const float4 *>(dy)[at];
            const float4 d = make_float4(backward(a.x, g.x), backward(a.y, g.y), backward(a.z, g.z),
                                         backward(a.w, g.w));
            reinterpret_cast<float4 *>(dx)[at] = d;
            sum = plus(sum, d);
        }
    }
    of_warp[warp][lane] = sum;
    __syncthreads();

    if (warp == 0 && four < fours) { // in the same order on every run
        for (int other = 1; other < kWarps; ++other) {
            sum = plus(sum, of_warp[other][lane]);
        }
        reinterpret_cast<float4 *>(partial)[(size_t)blockIdx.y * fours + four] = sum;
    }
}

extern "C" __global__ void sum_strips(const float *partial, float *dbias, int strips, int columns)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) {
        return;
    }
    float sum = 0;
    for (int strip = 0; strip < strips; ++strip) {
        sum += partial[(size_t)strip * columns + column];
    }
    dbias[column] = sum;
}
// END
