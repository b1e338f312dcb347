// y[i] = a long function of x[i]; which of two depends on i / GROUP being even or odd.
// The idea: what counts is not whether threads branch but whether lanes of one warp differ. With
// GROUP = 1 neighbours differ, with GROUP = 32 the branch is uniform in each warp.
// Limit: arithmetic, and divergence where GROUP is less than 32.
// grid (blocks), block (256), dynamic shared 0

#ifndef GROUP
#define GROUP 1
#endif

extern "C" __global__ void split_by(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (i / GROUP % 2 == 0) {
        for (int step = 0; step < 64; ++step) {
            v = sqrtf(v + 1.0f);
        }
    } else {
        for (int step = 0; step < 64; ++step) {
            v = 1.0f / (v + 1.0f);
        }
    }
    y[i] = v;
}
