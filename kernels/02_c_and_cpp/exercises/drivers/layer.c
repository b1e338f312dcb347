// Prints the outputs of a layer whose sizes and numbers it reads.

#include <stdio.h>
#include <stdlib.h>

void try_layer(int inputs, int hidden, float *w1, float *b1, const float *x, float *y);

static float *read_floats(int n)
{
    float *x = malloc(n * sizeof *x);
    for (int i = 0; i < n; ++i) {
        if (scanf("%f", &x[i]) != 1) exit(1);
    }
    return x;
}

int main(void)
{
    int inputs, hidden;
    if (scanf("%d %d", &inputs, &hidden) != 2) return 1;
    float *w1 = read_floats(inputs * hidden);
    float *b1 = read_floats(hidden);
    float *x = read_floats(inputs);
    float *y = malloc(hidden * sizeof *y);
    for (int j = 0; j < hidden; ++j) y[j] = -7.0f;
    try_layer(inputs, hidden, w1, b1, x, y);
    double rest = 0; // of the outputs behind the 50th, each weighted by its place
    for (int j = 0; j < hidden; ++j) {
        if (j < 50) printf("%g\n", y[j]);
        if (j >= 50) rest += (j % 97 + 1.0) * y[j];
    }
    printf("the others, weighted: %.17g\n", rest);
    free(y);
    free(x);
    free(b1);
    free(w1);
    return 0;
}
