// Five points of a grid, with a halo in shared memory; coefficients in constant memory.
#define TX 16
#define TY 8
#define R 2
#define IDX(y, x) ((y) * nx + (x))

__constant__ float coef[R + 1] = {-0.5f, 0.25f, -0.0625f};

extern "C" __global__ void stencil_2d(float *__restrict__ out, const float *__restrict__ in, int nx, int ny)
{
    __shared__ float s[TY + 2 * R][TX + 2 * R];
    const int gx = blockIdx.x * TX + threadIdx.x, gy = blockIdx.y * TY + threadIdx.y;
    const int lx = threadIdx.x + R, ly = threadIdx.y + R;

    auto at = [&](int y, int x) {
        return (y >= 0 && y < ny && x >= 0 && x < nx) ? in[IDX(y, x)] : 0.f;
    };
    s[ly][lx] = at(gy, gx);
    if (threadIdx.x < R) {
        s[ly][lx - R] = at(gy, gx - R);
        s[ly][lx + TX] = at(gy, gx + TX);
    }
    if (threadIdx.y < R) {
        s[ly - R][lx] = at(gy - R, gx);
        s[ly + TY][lx] = at(gy + TY, gx);
    }
    __syncthreads();
    if (gx >= nx || gy >= ny) return;

    float v = coef[0] * s[ly][lx];
#pragma unroll
    for (int r = 1; r <= R; r++) {
        v += coef[r] * (s[ly][lx - r] + s[ly][lx + r] + s[ly - r][lx] + s[ly + r][lx]);
    }
    out[IDX(gy, gx)] = v;
}
