// Calls min_max with n numbers that it reads, and prints what it stores. A second call, for the last
// number alone, may know nothing of the call before.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void try_min_max(const int *x, int n, int *low, int *high);

int main(void)
{
    int n, low = 12345, high = -12345;
    if (scanf("%d", &n) != 1) return 1;
    int *x = malloc(n * sizeof *x), *before = malloc(n * sizeof *x);
    for (int i = 0; i < n; ++i) {
        if (scanf("%d", &x[i]) != 1) return 1;
    }
    memcpy(before, x, n * sizeof *x);
    try_min_max(x, n, &low, &high);
    printf("%d %d\n", low, high);
    int last = before[n - 1], last_low = 54321, last_high = -54321;
    try_min_max(&last, 1, &last_low, &last_high);
    if (last_low != before[n - 1] || last_high != before[n - 1]) {
        printf("a second call, for %d alone, finds %d %d\n", before[n - 1], last_low, last_high);
    }
    if (memcmp(before, x, n * sizeof *x)) printf("the numbers in x are changed\n");
    free(before);
    free(x);
    return 0;
}
