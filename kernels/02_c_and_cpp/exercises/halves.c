// The sum of n floats by halves: the sum of the first n / 2, plus the sum of the others. The sum of
// one float is that float, and the sum of none is 0. The order decides how the sum is rounded, so
// it is part of the task.

#include <stdio.h>
#include <stdlib.h>

float sum_of(const float *x, int n)
{
    // TODO: write it
    // STARTER
    //| return 0.0f;
    // SOLUTION
    if (n == 0) return 0.0f;
    if (n == 1) return x[0];
    const int half = n / 2;
    return sum_of(x, half) + sum_of(x + half, n - half);
    // END
}

int main(void)
{
    int n, seed;
    if (scanf("%d %d", &n, &seed) != 2) return 1;
    float *x = malloc((n + 1) * sizeof *x);
    for (int i = 0; i < n; ++i) x[i] = 0.1f * ((i * 7 + seed) % 11 - 2);
    printf("%.9g\n", sum_of(x, n));
    free(x);
    return 0;
}
