// y = x * h as filter_direct computes it, for filters of at most 128 x 128, with the same
// arguments. Instead of h comes the transpose of its spectrum, 128 x 128 complex numbers divided by
// 128 * 128, where h has been turned up by R - 1 rows and to the left by S - 1 columns. y has up to
// 65,535 rows of tiles.
// Adds to filter_fft the second axis: a block keeps 128 x 128 numbers in shared memory, transforms
// columns, then rows, multiplies, and goes back the same way. Two parts of x side by side are the
// real and the imaginary part.
// Limit: one block fits on a multiprocessor, so nothing hides its loads, stores and barriers.
// grid (ceil(out_columns / (2 (129 - S))), ceil(out_rows / (129 - R))), block (1024), dynamic shared 133120

#include "fft.cuh"

constexpr int kSide = 128;
constexpr int kPitch = kSide + 1; // rows and columns of 8-byte elements are both free of conflicts
constexpr int kHeld = 16;         // points of a thread
constexpr int kTeam = kSide / kHeld;
constexpr int kThreads = kSide * kTeam;

// The transforms of 128 lines in `shared`, elements `pitch` apart: thread u of a line holds the
// points u + 8 m, before and after. `roots` are the 128th ones. All threads of a warp read the same.
__device__ __forceinline__ void transform(float2 *v, int u, float2 *line, int pitch,
                                          const float2 *roots)
{
    dft<16>(v);
    __syncthreads(); // all have read the line
#pragma unroll
    for (int r = 0; r < 16; ++r) {
        line[(16 * u + r) * pitch] = v[r];
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < 16; ++m) {
        v[m] = line[(u + kTeam * m) * pitch];
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int r = 1; r < 8; ++r) {
            v[i + 2 * r] = v[i + 2 * r] * roots[r * (u + 8 * i)];
        }
        dft<8, 2>(v + i);
    }
}

// The thread's points of one line to shared memory, and its points of another line from there.
__device__ __forceinline__ void pass_on(float2 *v, int u, float2 *from, int from_pitch,
                                        const float2 *to, int to_pitch)
{
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        from[(u + kTeam * m) * from_pitch] = v[m];
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        v[m] = to[(u + kTeam * m) * to_pitch];
    }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    filter_fft_2d(const float *x, const float2 *spectrum, float *y, int rows, int columns, int R,
                  int S, int top, int left, int out_rows, int out_columns)
{
    extern __shared__ float2 shared[];
    float2 *roots = shared + kSide * kPitch;
    const int line = threadIdx.x % kSide, u = threadIdx.x / kSide; // u is the same in a warp
    const int step_down = kSide - R + 1, step_across = kSide - S + 1;
    const int first_row = blockIdx.y * step_down, first_column = blockIdx.x * 2 * step_across;
    if (threadIdx.x < kSide) {
        roots[threadIdx.x] = root(threadIdx.x, kSide);
    }

    float2 v[kHeld];
    const int column = first_column + line + left - (S - 1);
    const bool real_there = column >= 0 && column < columns;
    const bool imaginary_there = column + step_across >= 0 && column + step_across < columns;
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        const int row = first_row + u + kTeam * m + top - (R - 1);
        const bool there = row >= 0 && row < rows;
        const float *from = x + (size_t)row * columns + column;
        v[m].x = there && real_there ? from[0] : 0.0f;
        v[m].y = there && imaginary_there ? from[step_across] : 0.0f;
    }
    float2 *of_column = shared + line, *of_row = shared + line * kPitch;
    transform(v, u, of_column, kPitch, roots);
    pass_on(v, u, of_column, kPitch, of_row, 1);
    transform(v, u, of_row, 1, roots);
#pragma unroll
    for (int m = 0; m < kHeld; ++m) { // parts exchanged: the next transforms are the inverse
        const float2 product = v[m] * spectrum[(u + kTeam * m) * kSide + line];
        v[m] = make_float2(product.y, product.x);
    }
    transform(v, u, of_row, 1, roots);
    pass_on(v, u, of_row, 1, of_column, kPitch);
    transform(v, u, of_column, kPitch, roots);

    const int out_column = first_column + line;
#pragma unroll
    for (int m = 0; m < kHeld; ++m) {
        const int down = u + kTeam * m, out_row = first_row + down;
        if (line < step_across && down < step_down && out_row < out_rows) {
            float *to = y + (size_t)out_row * out_columns + out_column;
            if (out_column < out_columns) {
                to[0] = v[m].y;
            }
            if (out_column + step_across < out_columns) {
                to[step_across] = v[m].x;
            }
        }
    }
}
