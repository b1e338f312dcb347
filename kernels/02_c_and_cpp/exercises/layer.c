// One layer of a network: y[j] = max(0, b1[j] + sum over i of x[i] * w1[i * hidden + j]).
// w1 is row-major, inputs x hidden. The caller gives the address of the struct.

#include <stdio.h>
#include <stdlib.h>

struct Network {
    int inputs, hidden;
    float *w1, *b1;
};

void layer(const struct Network *nn, const float *x, float *y)
{
    // TODO: write it, for all nn->hidden outputs
    // SOLUTION
    for (int j = 0; j < nn->hidden; ++j) {
        float sum = nn->b1[j];
        for (int i = 0; i < nn->inputs; ++i) sum += x[i] * nn->w1[i * nn->hidden + j];
        y[j] = sum > 0.0f ? sum : 0.0f;
    }
    // END
}

float *read_floats(int n)
{
    float *x = malloc(n * sizeof *x);
    for (int i = 0; i < n; ++i) {
        if (scanf("%f", &x[i]) != 1) exit(1);
    }
    return x;
}

int main(void)
{
    struct Network nn;
    if (scanf("%d %d", &nn.inputs, &nn.hidden) != 2) return 1;
    nn.w1 = read_floats(nn.inputs * nn.hidden);
    nn.b1 = read_floats(nn.hidden);
    float *x = read_floats(nn.inputs);
    float *y = calloc(nn.hidden, sizeof *y);
    layer(&nn, x, y);
    for (int j = 0; j < nn.hidden; ++j) printf("%g\n", y[j]);
    free(y);
    free(x);
    free(nn.b1);
    free(nn.w1);
    return 0;
}
