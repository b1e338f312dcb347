// Lanes below `limit` store the square root of their number, the others its inverse.
// The idea: both paths of an if belong to one warp, so the warp executes both, one after the other,
// each with the lanes that chose it.
// Limit: divergence. While one path runs, the lanes of the other are inactive.
// grid (blocks), block (any), dynamic shared 0

extern "C" __global__ void two_paths(const float *x, float *y, int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    float v = x[i];
    if (lane < limit) {
        v = sqrtf(v);
        v = v + 1.0f;
    } else {
        v = 1.0f / v;
        v = v - 1.0f;
    }
    y[i] = v;
}
