// One step of heat flow, as in 01_heat_direct.
// The idea: 2.5-D. A block keeps one plane of 32 * 8 cells and its halo in shared memory and walks
// along z through `planes` planes. Each thread carries the cells below and above in registers.
// Limit: two barriers per plane.
// grid (ceil(nx / 32), ceil(ny / 8), ceil(nz / planes)), block (32, 8), dynamic shared 0

constexpr int kWidth = 32;
constexpr int kHeight = 8;

extern "C" __global__ void heat_stream(const float *u, float *y, float c, int nx, int ny, int nz,
                                       int planes)
{
    __shared__ float tile[kHeight + 2][kWidth + 2];
    const int a = threadIdx.x + 1; // this thread's cell in the tile
    const int b = threadIdx.y + 1;
    const int i = blockIdx.x * kWidth + threadIdx.x;
    const int j = blockIdx.y * kHeight + threadIdx.y;
    const bool exists = i < nx && j < ny;
    const size_t plane = (size_t)nx * ny;
    const int k0 = blockIdx.z * planes;
    const int k1 = min(k0 + planes, nz);
    size_t at = k0 * plane + (size_t)j * nx + i;
    float below = exists && k0 > 0 ? u[at - plane] : 0.0f;
    float here = exists ? u[at] : 0.0f;
    for (int k = k0; k < k1; ++k) {
        const float above = exists && k + 1 < nz ? u[at + plane] : 0.0f; // in flight meanwhile
        tile[b][a] = here;
        if (exists) { // the edges of the tile also load its halo
            if (threadIdx.x == 0 && i > 0) {
                tile[b][0] = u[at - 1];
            }
            if (threadIdx.x == kWidth - 1 && i + 1 < nx) {
                tile[b][kWidth + 1] = u[at + 1];
            }
            if (threadIdx.y == 0 && j > 0) {
                tile[0][a] = u[at - nx];
            }
            if (threadIdx.y == kHeight - 1 && j + 1 < ny) {
                tile[kHeight + 1][a] = u[at + nx];
            }
        }
        __syncthreads(); // the plane is there
        if (exists) {
            float result = here;
            if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1 && k > 0 && k < nz - 1) {
                const float around =
                    tile[b][a - 1] + tile[b][a + 1] + tile[b - 1][a] + tile[b + 1][a] + below + above;
                result += c * (around - 6.0f * here);
            }
            y[at] = result;
        }
        __syncthreads(); // all have read it: the next plane may come
        below = here;
        here = above;
        at += plane;
    }
}
