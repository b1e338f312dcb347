// The layers that multiply, by their definition: 3 x 3 convolution with a border of zeros, and the
// linear layer, forward and backward. layers.h names their arrays.
// The idea: one result after the other, each a sum of products.
// Limit: each sum is one long chain of additions, so nothing runs in vectors; and each tap of the
// convolution asks whether it lies in the image.

#include "layers.h"

// Pixel (r, s) of a plane of H x W, 0 around it.
static real pixel(const real *plane, int r, int s, int H, int W)
{
    return r >= 0 && r < H && s >= 0 && s < W ? plane[r * W + s] : 0;
}

void conv_forward(const real *x, const real *w, real *y, int N, int C, int H, int W, int F)
{
    for (int n = 0; n < N; ++n) {
        for (int f = 0; f < F; ++f) {
            for (int i = 0; i < H * W; ++i) {
                real sum = 0;
                for (int c = 0; c < C; ++c) {
                    const real *plane = x + (n * C + c) * H * W, *taps = w + (f * C + c) * 9;
                    for (int t = 0; t < 9; ++t) {
                        sum += taps[t] * pixel(plane, i / W + t / 3 - 1, i % W + t % 3 - 1, H, W);
                    }
                }
                y[(n * F + f) * H * W + i] = sum;
            }
        }
    }
}

// Pixel i went into nine results of each filter, by tap t into the one that lies the other way.
void conv_backward_input(const real *dy, const real *w, real *dx, int N, int C, int H, int W, int F)
{
    for (int n = 0; n < N; ++n) {
        for (int c = 0; c < C; ++c) {
            for (int i = 0; i < H * W; ++i) {
                real sum = 0;
                for (int f = 0; f < F; ++f) {
                    const real *plane = dy + (n * F + f) * H * W, *taps = w + (f * C + c) * 9;
                    for (int t = 0; t < 9; ++t) {
                        sum += taps[t] * pixel(plane, i / W + 1 - t / 3, i % W + 1 - t % 3, H, W);
                    }
                }
                dx[(n * C + c) * H * W + i] = sum;
            }
        }
    }
}

// Tap t of a filter met each pixel of each image once: its gradient is the sum over all of them.
void conv_backward_weight(const real *x, const real *dy, real *dw, int N, int C, int H, int W,
                          int F)
{
    for (int f = 0; f < F; ++f) {
        for (int c = 0; c < C; ++c) {
            for (int t = 0; t < 9; ++t) {
                real sum = 0;
                for (int n = 0; n < N; ++n) {
                    const real *plane = x + (n * C + c) * H * W, *flow = dy + (n * F + f) * H * W;
                    for (int i = 0; i < H * W; ++i) {
                        sum += flow[i] * pixel(plane, i / W + t / 3 - 1, i % W + t % 3 - 1, H, W);
                    }
                }
                dw[(f * C + c) * 9 + t] = sum;
            }
        }
    }
}

void linear_forward(const real *x, const real *w, const real *b, real *y, int N, int I, int O)
{
    for (int n = 0; n < N; ++n) {
        for (int o = 0; o < O; ++o) {
            real sum = 0;
            for (int i = 0; i < I; ++i) {
                sum += x[n * I + i] * w[o * I + i];
            }
            y[n * O + o] = sum + b[o];
        }
    }
}

void linear_backward_input(const real *dy, const real *w, real *dx, int N, int I, int O)
{
    for (int n = 0; n < N; ++n) {
        for (int i = 0; i < I; ++i) {
            real sum = 0;
            for (int o = 0; o < O; ++o) {
                sum += dy[n * O + o] * w[o * I + i];
            }
            dx[n * I + i] = sum;
        }
    }
}

void linear_backward_weight(const real *dy, const real *x, real *dw, real *db, int N, int I, int O)
{
    for (int o = 0; o < O; ++o) {
        db[o] = 0;
        for (int n = 0; n < N; ++n) {
            db[o] += dy[n * O + o];
        }
        for (int i = 0; i < I; ++i) {
            real sum = 0;
            for (int n = 0; n < N; ++n) {
                sum += dy[n * O + o] * x[n * I + i];
            }
            dw[o * I + i] = sum;
        }
    }
}
