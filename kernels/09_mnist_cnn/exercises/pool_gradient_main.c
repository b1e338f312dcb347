// The main function of the exercise on the max pool's gradient. The input is M H W, how many values
// x has, and the number of the run. With more than 100,000 values they are large, about -1e34, and
// a gradient is infinite; with more than 200,000 they are next to the lowest that there is.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pool_backward(const float *x, const float *dy, float *dx, int M, int H, int W);

enum { MOST = 24 }; // pixels that are printed

static unsigned state;

static unsigned drawn(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 12;
}

// Prints planes, row by row, of a case that can be worked by hand.
static void print_planes(const char *name, const float *x, int planes, int rows, int columns)
{
    printf("%s:", name);
    for (int i = 0; i < planes * rows * columns; ++i) {
        printf(" %g", x[i]);
        if ((i + 1) % columns == 0) {
            printf(i + 1 == planes * rows * columns ? "\n" : " /");
        }
    }
}

int main(void)
{
    int M, H, W, values;
    long run;
    if (scanf("%d %d %d %d %ld", &M, &H, &W, &values, &run) != 5) {
        return 1;
    }
    state = (unsigned)run;
    const int pixels = M * H * W, few = pixels / 4;
    float *x = malloc(pixels * sizeof *x), *dy = malloc(few * sizeof *dy);
    float *dx = malloc(pixels * sizeof *dx);
    const float unit = values > 100000 ? 1e30f : 0.25f;
    for (int i = 0; i < pixels; ++i) {
        x[i] = 0.0f - (float)(drawn() % (unsigned)values) * unit; // often all are negative
        if (values > 200000) {
            x[i] = -3.4e38f + (float)(drawn() % 30) * 1e34f;
        }
    }
    for (int i = 0; i < few; ++i) {
        dy[i] = values > 100000 && i % 5 == 0 ? INFINITY : (float)(i + 1);
    }
    memset(dx, 0xff, pixels * sizeof *dx); // NaN, wherever nothing is written
    pool_backward(x, dy, dx, M, H, W);
    int wrong = 0;
    for (int i = 0; i < pixels && !wrong; ++i) {
        const int plane = i / (H * W), r = i / W % H, s = i % W;
        const float *corner = x + (plane * H + r / 2 * 2) * W + s / 2 * 2;
        int before = 0; // pixels of the square that win against this one
        for (int k = 0; k < 4; ++k) {
            const float other = corner[k / 2 * W + k % 2];
            before += other > x[i] || (other == x[i] && k < r % 2 * 2 + s % 2);
        }
        const float want = before ? 0.0f : dy[(plane * (H / 2) + r / 2) * (W / 2) + s / 2];
        if (dx[i] != want) {
            const float *c = corner;
            printf("dx of plane %d, row %d, column %d is %g, expected %g\n", plane, r, s, dx[i],
                   want);
            printf("its square in x is %g %g / %g %g\n", c[0], c[1], c[W], c[W + 1]);
            if (pixels <= MOST) {
                print_planes("x, row by row", x, M, H, W);
                print_planes("dy", dy, M, H / 2, W / 2);
                print_planes("dx is", dx, M, H, W);
            }
            wrong = 1;
        }
    }
    if (!wrong) {
        printf("right in run %ld\n", run);
    }
    free(x);
    free(dy);
    free(dx);
    return 0;
}
