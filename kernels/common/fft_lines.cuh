// The pieces of the four-step transform: N = N1 N2 points as a matrix of N1 rows, transforms along
// its columns, a factor for each element, transforms along its rows. A thread holds 16 points of a
// line.

#pragma once

#include "fft.cuh"

// The second half of a transform of kPoints = 128 or 256 points, after a DFT of 16 points and an
// exchange: thread u of kPoints / 16 holds the points u + m kPoints / 16, before and after.
template <int kPoints>
__device__ __forceinline__ void rest_of_line(float2 *v, int u)
{
    constexpr int R = kPoints / 16;
#pragma unroll
    for (int i = 0; i < 16 / R; ++i) {
#pragma unroll
        for (int r = 1; r < R; ++r) {
            v[i + r * (16 / R)] = v[i + r * (16 / R)] * root_fast(r * (u + R * i), kPoints);
        }
        dft<R, 16 / R>(v + i);
    }
}

// Transforms of kPoints points, kLines of them side by side in `shared` (kPoints kLines elements).
template <int kPoints, int kLines>
__device__ __forceinline__ void transform_lines(float2 *v, int u, int line, float2 *shared)
{
    dft<16>(v);
#pragma unroll
    for (int r = 0; r < 16; ++r) {
        shared[(16 * u + r) * kLines + line] = v[r];
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < 16; ++m) {
        v[m] = shared[(u + kPoints / 16 * m) * kLines + line];
    }
    rest_of_line<kPoints>(v, u);
}

// The factors between columns and rows: element (row u + kStep m, column) of the matrix, m < 16,
// times exp(-2 pi i row column / N). Two roots, and products of them.
template <int N, int kStep>
__device__ __forceinline__ void factors_between(float2 *v, int u, int column)
{
    float2 w = root(column * u, N), one = root(column * kStep, N);
    float2 two = one * one, three = two * one, four = two * two;
#pragma unroll
    for (int m = 0; m < 16; m += 4) {
        v[m] = v[m] * w;
        v[m + 1] = v[m + 1] * (w * one);
        v[m + 2] = v[m + 2] * (w * two);
        v[m + 3] = v[m + 3] * (w * three);
        w = w * four;
    }
}
