// Prints the sum of n floats for each pair of a length n and a seed that it reads.

#include <stdio.h>
#include <stdlib.h>

float try_sum_of(const float *x, int n);

int main(void)
{
    int n, seed;
    while (scanf("%d %d", &n, &seed) == 2) {
        float *x = malloc(n * sizeof *x);
        for (int i = 0; i < n; ++i) x[i] = 0.1f * ((i * 7 + seed) % 11 - 2);
        const float sum = try_sum_of(x, n);
        printf("%.9g\n", sum);
        free(x);
    }
    return 0;
}
