// One step of heat flow, as in 01_heat_direct.
// The idea: a block loads its 8 * 8 * 8 cells and a halo of one cell on all sides, once.
// Limit: 1000 loads for 512 results. Nearly half of the tile is halo.
// grid (ceil(nx / 8), ceil(ny / 8), ceil(nz / 8)), block (8, 8, 8), dynamic shared 0

constexpr int kSide = 8;
constexpr int kWide = kSide + 2; // with the halo

extern "C" __global__ void heat_tile(const float *u, float *y, float c, int nx, int ny, int nz)
{
    __shared__ float tile[kWide][kWide][kWide];
    const int x0 = blockIdx.x * kSide - 1; // of the tile's first cell
    const int y0 = blockIdx.y * kSide - 1;
    const int z0 = blockIdx.z * kSide - 1;
    const size_t plane = (size_t)nx * ny;
    const int thread = (threadIdx.z * kSide + threadIdx.y) * kSide + threadIdx.x;
    for (int cell = thread; cell < kWide * kWide * kWide; cell += kSide * kSide * kSide) {
        const int a = cell % kWide;
        const int b = cell / kWide % kWide;
        const int d = cell / (kWide * kWide);
        const int i = x0 + a;
        const int j = y0 + b;
        const int k = z0 + d;
        if (i >= 0 && i < nx && j >= 0 && j < ny && k >= 0 && k < nz) {
            tile[d][b][a] = u[k * plane + (size_t)j * nx + i];
        }
    }
    __syncthreads(); // the tile is there, with its halo

    const int a = threadIdx.x + 1; // this thread's cell in the tile
    const int b = threadIdx.y + 1;
    const int d = threadIdx.z + 1;
    const int i = x0 + a;
    const int j = y0 + b;
    const int k = z0 + d;
    if (i < nx && j < ny && k < nz) {
        const float here = tile[d][b][a];
        float result = here;
        if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1 && k > 0 && k < nz - 1) {
            const float around = tile[d][b][a - 1] + tile[d][b][a + 1] + tile[d][b - 1][a] +
                                 tile[d][b + 1][a] + tile[d - 1][b][a] + tile[d + 1][b][a];
            result += c * (around - 6.0f * here);
        }
        y[k * plane + (size_t)j * nx + i] = result;
    }
}
