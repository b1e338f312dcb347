// The sum of n ints, whatever they are. main reads n and the numbers.

#include <stdio.h>
#include <stdlib.h>

long long sum_of(const int *x, int n)
{
    // BUG
    //| int sum = 0;
    // SOLUTION
    long long sum = 0; // 64 bits, here and in every addition
    // END
    for (int i = 0; i < n; ++i) sum += x[i];
    return sum;
}

int main(void)
{
    int n;
    if (scanf("%d", &n) != 1) return 1;
    int *x = malloc(n * sizeof *x);
    for (int i = 0; i < n; ++i) {
        if (scanf("%d", &x[i]) != 1) return 1;
    }
    printf("%lld\n", sum_of(x, n));
    free(x);
    return 0;
}
