// Prints the sum of the numbers that it reads; a second call has to give it again.

#include <stdio.h>
#include <stdlib.h>

long long try_sum_of(const int *x, int n);

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
    return 0;
}
