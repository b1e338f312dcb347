// The smallest and the largest of n numbers, for n >= 1, stored where low and high point.
// main reads n and the numbers, and prints what it finds in its own two variables.

#include <stdio.h>
#include <stdlib.h>

void min_max(const int *x, int n, int *low, int *high)
{
    // TODO: store the smallest number where low points, and the largest where high points
    // SOLUTION
    *low = x[0];
    *high = x[0];
    for (int i = 1; i < n; ++i) {
        if (x[i] < *low) *low = x[i];
        if (x[i] > *high) *high = x[i];
    }
    // END
}

int main(void)
{
    int n, low = 0, high = 0;
    if (scanf("%d", &n) != 1) return 1;
    int *x = malloc(n * sizeof *x);
    for (int i = 0; i < n; ++i) {
        if (scanf("%d", &x[i]) != 1) return 1;
    }
    min_max(x, n, &low, &high);
    printf("%d %d\n", low, high);
    free(x);
    return 0;
}
