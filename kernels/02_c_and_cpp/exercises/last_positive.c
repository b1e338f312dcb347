// The index of the last number above 0 among n; n itself where there is none. n may be 0.
// Walk from the end: the answer is often near it, and then few elements are read.

#include <stdio.h>
#include <stdlib.h>

size_t last_positive(const int *x, size_t n)
{
    // TODO: write it
    // SOLUTION
    for (size_t i = n; i > 0; --i) {
        if (x[i - 1] > 0) return i - 1;
    }
    // END
    return n;
}

int main(void)
{
    size_t n;
    if (scanf("%zu", &n) != 1) return 1;
    int *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; ++i) {
        if (scanf("%d", &x[i]) != 1) return 1;
    }
    printf("%zu\n", last_positive(x, n));
    free(x);
    return 0;
}
