// The functions of products_plain.c in fp32, with the same results up to rounding.
// Three ideas: zeros are laid around each image once, so that no tap asks where it is and all rows
// of an image are one long loop; the loops are ordered so that the innermost runs along memory and
// adds to many sums, which the compiler turns into vectors; and where one sum is what is wanted,
// each lane of a vector keeps a part of it.
// Limit: one core.

#include <stdlib.h>
#include <string.h>

#include "../../06_matmul_and_fft/host/simd.h"
#include "layers.h"

static float *zeros(size_t count)
{
    float *found = calloc(count, sizeof *found);
    if (found == NULL) {
        abort();
    }
    return found;
}

// How an image of H x W lies with zeros around it: rows of W + 2, H + 2 of them, and some zeros
// behind, since the loop over all rows goes to the end of a whole vector.
struct Frame {
    int line, length, plane;
};

static struct Frame frame(int H, int W)
{
    const int line = W + 2, length = (H * line + LANES - 1) / LANES * LANES;
    return (struct Frame){line, length, length + 2 * line + 2};
}

static void copy_rows(const float *from, int from_line, float *to, int to_line, int H, int W)
{
    for (int row = 0; row < H; ++row) {
        memcpy(to + row * to_line, from + row * from_line, W * sizeof *to);
    }
}

// sum[i] += the nine products around pixel i, for all pixels of a plane. In the two columns of a
// row that belong to no pixel the result means nothing, and is not copied out.
static void add_taps(const float *restrict x, const float *restrict w, float *restrict sum,
                     struct Frame at)
{
    const float *upper = x, *middle = x + at.line, *lower = x + 2 * at.line;
    for (int i = 0; i < at.length; ++i) {
        sum[i] += w[0] * upper[i] + w[1] * upper[i + 1] + w[2] * upper[i + 2] +
                  w[3] * middle[i] + w[4] * middle[i + 1] + w[5] * middle[i + 2] +
                  w[6] * lower[i] + w[7] * lower[i + 1] + w[8] * lower[i + 2];
    }
}

void conv_forward(const float *x, const float *w, float *y, int N, int C, int H, int W, int F)
{
    const struct Frame at = frame(H, W);
    float *framed = zeros((size_t)C * at.plane), *sum = zeros(at.length);
    for (int n = 0; n < N; ++n) {
        for (int c = 0; c < C; ++c) {
            copy_rows(x + (n * C + c) * H * W, W, framed + c * at.plane + at.line + 1, at.line, H,
                      W);
        }
        for (int f = 0; f < F; ++f) {
            memset(sum, 0, at.length * sizeof *sum);
            for (int c = 0; c < C; ++c) {
                add_taps(framed + c * at.plane, w + (f * C + c) * 9, sum, at);
            }
            copy_rows(sum, at.line, y + (n * F + f) * H * W, W, H, W);
        }
    }
    free(framed);
    free(sum);
}

// The filters turned by 180 degrees, and their two axes swapped: then it is a convolution.
void conv_backward_input(const float *dy, const float *w, float *dx, int N, int C, int H, int W,
                         int F)
{
    float *turned = zeros((size_t)C * F * 9);
    for (int f = 0; f < F; ++f) {
        for (int c = 0; c < C; ++c) {
            for (int t = 0; t < 9; ++t) {
                turned[(c * F + f) * 9 + 8 - t] = w[(f * C + c) * 9 + t];
            }
        }
    }
    conv_forward(dy, turned, dx, N, F, H, W, C);
    free(turned);
}

// dw[t] += the sum of dy times the pixel that tap t met; nine vectors hold the parts.
static void nine_sums(const float *x, const float *dy, float *dw, struct Frame at)
{
    vec sum[9] = {0};
    for (int i = 0; i < at.length; i += LANES) {
        const vec flow = load(dy + i);
        for (int t = 0; t < 9; ++t) {
            sum[t] += flow * load(x + i + t / 3 * at.line + t % 3);
        }
    }
    for (int t = 0; t < 9; ++t) {
        for (int lane = 0; lane < LANES; ++lane) {
            dw[t] += sum[t][lane];
        }
    }
}

void conv_backward_weight(const float *x, const float *dy, float *dw, int N, int C, int H, int W,
                          int F)
{
    const struct Frame at = frame(H, W);
    float *framed = zeros((size_t)C * at.plane), *flow = zeros(at.length);
    memset(dw, 0, (size_t)F * C * 9 * sizeof *dw);
    for (int n = 0; n < N; ++n) {
        for (int c = 0; c < C; ++c) {
            copy_rows(x + (n * C + c) * H * W, W, framed + c * at.plane + at.line + 1, at.line, H,
                      W);
        }
        for (int f = 0; f < F; ++f) {
            copy_rows(dy + (n * F + f) * H * W, W, flow, at.line, H, W);
            for (int c = 0; c < C; ++c) {
                nine_sums(framed + c * at.plane, flow, dw + (f * C + c) * 9, at);
            }
        }
    }
    free(framed);
    free(flow);
}

enum { TOGETHER = 4 }; // images that one row of w meets at a time

// sum[k] = the product of row k of x with w, for `rows` rows of I elements.
static void products(const float *x, const float *w, float *sum, int rows, int I)
{
    vec part[TOGETHER] = {0};
    const int whole = I / LANES * LANES;
    for (int i = 0; i < whole; i += LANES) {
        const vec weights = load(w + i);
        for (int k = 0; k < TOGETHER; ++k) {
            part[k] += weights * load(x + (k < rows ? k : 0) * I + i);
        }
    }
    for (int k = 0; k < rows; ++k) {
        sum[k] = 0;
        for (int lane = 0; lane < LANES; ++lane) {
            sum[k] += part[k][lane];
        }
        for (int i = whole; i < I; ++i) {
            sum[k] += w[i] * x[k * I + i];
        }
    }
}

void linear_forward(const float *x, const float *w, const float *b, float *y, int N, int I, int O)
{
    float sum[TOGETHER];
    for (int o = 0; o < O; ++o) {
        for (int n = 0; n < N; n += TOGETHER) {
            const int rows = N - n < TOGETHER ? N - n : TOGETHER;
            products(x + n * I, w + o * I, sum, rows, I);
            for (int k = 0; k < rows; ++k) {
                y[(n + k) * O + o] = sum[k] + b[o];
            }
        }
    }
}

static void add_scaled(float *restrict to, const float *restrict from, float factor, int n)
{
    for (int i = 0; i < n; ++i) {
        to[i] += factor * from[i];
    }
}

void linear_backward_input(const float *dy, const float *w, float *dx, int N, int I, int O)
{
    memset(dx, 0, (size_t)N * I * sizeof *dx);
    for (int n = 0; n < N; ++n) {
        for (int o = 0; o < O; ++o) {
            add_scaled(dx + n * I, w + o * I, dy[n * O + o], I);
        }
    }
}

void linear_backward_weight(const float *dy, const float *x, float *dw, float *db, int N, int I,
                            int O)
{
    memset(dw, 0, (size_t)O * I * sizeof *dw);
    for (int o = 0; o < O; ++o) {
        db[o] = 0;
        for (int n = 0; n < N; ++n) {
            db[o] += dy[n * O + o];
            add_scaled(dw + o * I, x + n * I, dy[n * O + o], I);
        }
    }
}
