// The main function of the exercise on the convolution's gradient by its input. The input is
// N C H W F and the number of the run. The right gradient is made the other way round: each result
// hands its own to the pixels that it came from.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void conv_backward_input(const float *dy, const float *w, float *dx, int N, int C, int H, int W,
                         int F);

enum { MOST = 16, FILTERS = 4 }; // pixels and filters' planes that are printed

static unsigned state;

static float *drawn(int n, int parts) // few bits each: all sums are exact, in any order
{
    float *found = malloc(n * sizeof *found);
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        found[i] = (float)((int)(state >> 24) % 15 - 7) / parts;
    }
    return found;
}

// Prints planes row by row. A bar ends a plane of several.
static void print_planes(const char *name, const float *x, int planes, int rows, int columns)
{
    printf("%s:", name);
    for (int i = 0; i < planes * rows * columns; ++i) {
        printf(" %g", x[i]);
        if ((i + 1) % columns == 0) {
            const int last = i + 1 == planes * rows * columns;
            printf(last ? "\n" : (i + 1) % (rows * columns) == 0 ? " |" : " /");
        }
    }
}

int main(void)
{
    int N, C, H, W, F;
    long run;
    if (scanf("%d %d %d %d %d %ld", &N, &C, &H, &W, &F, &run) != 6) {
        return 1;
    }
    state = (unsigned)run;
    const int pixels = N * C * H * W, results = N * F * H * W;
    const int by_hand = pixels <= MOST && results <= MOST && F * C <= FILTERS;
    const int parts = by_hand ? 1 : 4; // integers
    float *dy = drawn(results, parts), *w = drawn(F * C * 9, parts), *dx = malloc(pixels * sizeof *dx);
    float *want = calloc(pixels, sizeof *want);
    for (int at = 0; at < results; ++at) {
        const int n = at / (F * H * W), f = at / (H * W) % F, r = at / W % H, s = at % W;
        for (int k = 0; k < C * 9; ++k) {
            const int c = k / 9, row = r + k % 9 / 3 - 1, column = s + k % 3 - 1;
            if (row >= 0 && row < H && column >= 0 && column < W) {
                want[((n * C + c) * H + row) * W + column] += dy[at] * w[f * C * 9 + k];
            }
        }
    }
    memset(dx, 0xff, pixels * sizeof *dx); // NaN, wherever nothing is written
    conv_backward_input(dy, w, dx, N, C, H, W, F);
    int wrong = 0;
    for (int i = 0; i < pixels && !wrong; ++i) {
        if (dx[i] != want[i]) {
            printf("dx of image %d, channel %d, row %d, column %d is %g, expected %g\n",
                   i / (C * H * W), i / (H * W) % C, i / W % H, i % W, dx[i], want[i]);
            if (by_hand) {
                print_planes("dy, row by row", dy, N * F, H, W);
                print_planes("w", w, F * C, 3, 3);
                print_planes("dx should be", want, N * C, H, W);
                print_planes("dx is", dx, N * C, H, W);
            }
            wrong = 1;
        }
    }
    if (!wrong) {
        printf("right in run %ld\n", run);
    }
    free(dy);
    free(w);
    free(dx);
    free(want);
    return 0;
}
