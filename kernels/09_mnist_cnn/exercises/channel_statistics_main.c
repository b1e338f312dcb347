// The main function of the exercise on batch norm's statistics. The input is N C P, the mean of the
// first channel, how far from the others the first pixel of a channel lies, and the number of the
// run. A mean of less than 0.01 is the unit of all numbers.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void statistics(const float *x, float *mean, float *variance, int N, int C, int P);

static unsigned state;

static float drawn(void) // -0.5 to 0.5
{
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / (1 << 24) - 0.5f;
}

static int near(const char *what, int c, double found, double want, double most)
{
    if (fabs(found - want) <= most) {
        return 1;
    }
    printf("%s of channel %d is %.9g, expected %.9g\n", what, c, found, want);
    return 0;
}

int main(void)
{
    int N, C, P;
    double base, far;
    long run;
    if (scanf("%d %d %d %lf %lf %ld", &N, &C, &P, &base, &far, &run) != 6) {
        return 1;
    }
    state = (unsigned)run;
    float *x = malloc((size_t)N * C * P * sizeof *x);
    float *mean = malloc(C * sizeof *mean), *variance = malloc(C * sizeof *variance);
    const float unit = base != 0 && fabs(base) < 0.01 ? (float)base : 1.0f;
    for (int i = 0; i < N * C * P; ++i) { // another mean and deviation for each channel
        const int c = i / P % C;
        const float of_image = 0.1f * (float)(i / (C * P) % 3);
        x[i] = (float)(base / (c + 1)) + unit * (float)(c + 1) * (drawn() + of_image);
    }
    for (int c = 0; c < C; ++c) {
        x[c * P] += unit * (float)far;
    }
    memset(mean, 0xff, C * sizeof *mean); // NaN, wherever nothing is written
    memset(variance, 0xff, C * sizeof *variance);
    statistics(x, mean, variance, N, C, P);
    int right = 1;
    for (int c = 0; c < C && right; ++c) {
        double sum = 0, squares = 0;
        for (int i = 0; i < N * P; ++i) {
            sum += x[(i / P * C + c) * P + i % P];
        }
        const double center = sum / ((double)N * P);
        for (int i = 0; i < N * P; ++i) {
            squares += pow(x[(i / P * C + c) * P + i % P] - center, 2);
        }
        squares /= (double)N * P;
        right = near("the mean", c, mean[c], center, 1e-6 * fabs(center) + 1e-6 * sqrt(squares)) &&
                near("the variance", c, variance[c], squares, 1e-4 * squares);
    }
    if (right) {
        printf("right in run %ld\n", run);
    }
    free(x);
    free(mean);
    free(variance);
    return 0;
}
