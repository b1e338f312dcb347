// Prints the sum of n floats for each pair of a length n and a seed that it reads. With the seed 11
// the numbers are huge, with 12 one is infinite, with 13 one is no number, and with 14 one is -0.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

float try_sum_of(const float *x, int n);

int main(void)
{
    int n, seed;
    while (scanf("%d %d", &n, &seed) == 2) {
        float *x = malloc(n * sizeof *x);
        for (int i = 0; i < n; ++i) x[i] = 0.1f * ((i * 7 + seed) % 11 - 2);
        for (int i = 0; i < n && seed == 11; ++i) x[i] *= 1e30f;
        const float strange[] = {INFINITY, NAN, -0.0f};
        if (n > 0 && seed >= 12 && seed <= 14) x[n / 3] = strange[seed - 12];
        float *before = malloc(n * sizeof *x);
        memcpy(before, x, n * sizeof *x);
        const float sum = try_sum_of(x, n);
        if (isnan(sum)) printf("nan\n"); // whatever its sign
        if (!isnan(sum)) printf("%.9g\n", sum);
        if (memcmp(before, x, n * sizeof *x)) printf("the numbers in x are changed\n");
        free(before);
        free(x);
    }
    return 0;
}
