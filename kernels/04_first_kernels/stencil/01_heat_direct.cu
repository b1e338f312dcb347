// One step of heat flow in a box of nx * ny * nz fp32, x fastest: each inner cell takes
// y = u + c * (the sum of its six neighbours - 6 u), and the cells of the six faces stay.
// The idea: one thread per cell, seven loads.
// Limit: all seven go to global memory, and only caches save bytes.
// grid (ceil(nx / 32), ceil(ny / 8), nz), block (32, 8), dynamic shared 0

extern "C" __global__ void heat_direct(const float *u, float *y, float c, int nx, int ny, int nz)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int k = blockIdx.z;
    if (i < nx && j < ny) {
        const size_t plane = (size_t)nx * ny;
        const size_t at = k * plane + (size_t)j * nx + i;
        const float here = u[at];
        float result = here;
        if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1 && k > 0 && k < nz - 1) {
            const float around = u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx] + u[at - plane] +
                                 u[at + plane];
            result += c * (around - 6.0f * here);
        }
        y[at] = result;
    }
}
