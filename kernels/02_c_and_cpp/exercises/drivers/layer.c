// Prints the outputs of a layer whose sizes and numbers it reads, and whether it changes its inputs.
// A second call, for another network, may know nothing of the first.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void try_layer(int inputs, int hidden, float *w1, float *b1, const float *x, float *y);

static float *read_floats(int n)
{
    float *x = malloc(n * sizeof *x);
    for (int i = 0; i < n; ++i) {
        if (scanf("%f", &x[i]) != 1) exit(1);
    }
    return x;
}

static float *copied(const float *x, int n)
{
    float *copy = malloc(n * sizeof *copy);
    return memcpy(copy, x, n * sizeof *copy);
}

static void compare(const char *name, const float *x, float *before, int n)
{
    if (memcmp(x, before, n * sizeof *x)) printf("%s is changed, which is the caller's\n", name);
    free(before);
}

int main(void)
{
    int inputs, hidden;
    if (scanf("%d %d", &inputs, &hidden) != 2) return 1;
    float *w1 = read_floats(inputs * hidden);
    float *b1 = read_floats(hidden);
    float *x = read_floats(inputs);
    float *y = malloc(hidden * sizeof *y);
    float *old_w1 = copied(w1, inputs * hidden), *old_b1 = copied(b1, hidden);
    float *old_x = copied(x, inputs);
    for (int j = 0; j < hidden; ++j) y[j] = -7.0f;
    try_layer(inputs, hidden, w1, b1, x, y);
    double rest = 0; // of the outputs after the 50th, each weighted by its place
    for (int j = 0; j < hidden; ++j) {
        if (j < 50) printf("%.9g\n", y[j] + 0.0f); // a zero of either sign is 0
        if (j >= 50) rest += (j % 97 + 1.0) * y[j];
    }
    if (hidden > 50) printf("a weighted sum of the others: %.17g\n", rest);
    compare("w1", w1, old_w1, inputs * hidden);
    float other_w[] = {1, 2}, other_b[] = {-3, 1}, other_x[] = {2}, other_y[] = {-7, -7};
    try_layer(1, 2, other_w, other_b, other_x, other_y);
    if (other_y[0] != 0 || other_y[1] != 5) {
        printf("a second call, with w1 = 1 2, b1 = -3 1 and x = 2, gives %g %g and not 0 5\n",
               other_y[0], other_y[1]);
    }
    compare("b1", b1, old_b1, hidden);
    compare("x", x, old_x, inputs);
    free(y);
    free(x);
    free(b1);
    free(w1);
    return 0;
}
