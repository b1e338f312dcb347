// Reads n4 float4 elements and keeps nothing of them: how fast memory can be read at all.
// The idea: four loads of sixteen bytes are in flight in each thread before the first is used. A
// sum that is NaN would be stored, so the compiler cannot leave the loads out.
// Limit: memory bandwidth. It is the ceiling for every kernel that reads much and writes little.
// grid (any), block (256), dynamic shared 0

extern "C" __global__ void read_only(const float4 *x, float *never, size_t n4)
{
    constexpr int kAtOnce = 4;
    size_t stride = (size_t)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += kAtOnce * stride) {
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
            if (i + k * stride < n4) {
                float4 value = x[i + k * stride];
                sum += value.x + value.y + value.z + value.w;
            }
        }
    }
    if (sum != sum) { // only NaN differs from itself
        *never = sum;
    }
}
