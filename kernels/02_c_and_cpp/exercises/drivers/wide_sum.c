// Prints the sum of the numbers that it reads; a second call has to give it again. Where there are
// three it also tries so many large ones that no double holds each sum on the way.

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

long long try_sum_of(const int *x, int n);

static void try_many(void)
{
    const int n = 4194307;
    int *x = malloc(n * sizeof *x);
    if (x == NULL) return;
    for (int i = 0; i < n; ++i) x[i] = INT_MAX;
    const long long wrong = try_sum_of(x, n) - (long long)n * INT_MAX;
    if (wrong) printf("the sum of %d times %d is off by %lld\n", n, INT_MAX, wrong);
    free(x);
}

int main(void)
{
    int n;
    if (scanf("%d", &n) != 1) return 1;
    int *x = malloc(n * sizeof *x);
    for (int i = 0; i < n; ++i) {
        if (scanf("%d", &x[i]) != 1) return 1;
    }
    const long long sum = try_sum_of(x, n);
    printf("%lld\n", sum);
    const long long again = try_sum_of(x, n);
    if (again != sum) printf("a second call with the same numbers gives %lld\n", again);
    free(x);
    if (n == 3) try_many();
    return 0;
}
