// An if within an if: lanes 0 to 7 store a square root, 8 to 15 an inverse, the others a cosine.
// The idea: a warp that has diverged can diverge again; three paths are three passes.
// Limit: divergence. A warp with 32 different paths would need 32 passes.
// grid (blocks), block (any), dynamic shared 0

extern "C" __global__ void nested_paths(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    float v = x[i];
    if (lane < 16) {
        if (lane < 8) {
            v = sqrtf(v);
        } else {
            v = 1.0f / v;
        }
        v = v + 1.0f;
    } else {
        v = __cosf(v);
    }
    y[i] = v;
}
