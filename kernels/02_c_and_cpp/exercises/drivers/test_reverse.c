// Tries the cell's test on the function that the input names, and prints what it says.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void Reverse(int *x, size_t n);

int try_passes(Reverse *reverse);

static void swap(int *a, int *b)
{
    const int kept = *a;
    *a = *b;
    *b = kept;
}

static void by_pairs(int *x, size_t n)
{
    for (size_t i = 0; i < n / 2; ++i) swap(&x[i], &x[n - 1 - i]);
}

static void by_recursion(int *x, size_t n)
{
    if (n < 2) return;
    swap(&x[0], &x[n - 1]);
    by_recursion(x + 1, n - 2);
}

static void nothing(int *x, size_t n) { (void)x, (void)n; }

static void stops_early(int *x, size_t n)
{
    for (size_t i = 0; i + 1 < n / 2; ++i) swap(&x[i], &x[n - 1 - i]);
}

static void twice(int *x, size_t n)
{
    for (size_t i = 0; i < n; ++i) swap(&x[i], &x[n - 1 - i]);
}

static void loses_the_middle(int *x, size_t n)
{
    by_pairs(x, n);
    if (n % 2 == 1) x[n / 2] = 0;
}

static int downwards(const void *a, const void *b)
{
    const int first = *(const int *)a, second = *(const int *)b;
    return (first < second) - (first > second);
}

static void sorts(int *x, size_t n)
{
    if (n > 0) qsort(x, n, sizeof *x, downwards);
}

static void counts_in_a_byte(int *x, size_t n) { by_pairs(x, n % 256); }

static void swaps_the_ends(int *x, size_t n)
{
    if (n > 1) swap(&x[0], &x[n - 1]);
}

static void room_for_512(int *x, size_t n)
{
    if (n <= 512) by_pairs(x, n);
}

static void keeps_16_bits(int *x, size_t n)
{
    by_pairs(x, n);
    for (size_t i = 0; i < n; ++i) x[i] = (short)x[i];
}

static void once(int *x, size_t n)
{
    static int calls;
    if (calls++ == 0) by_pairs(x, n);
}

static const struct {
    const char *name;
    Reverse *reverse;
    int right;
} functions[] = {
    {"swaps pairs", by_pairs, 1},
    {"calls itself", by_recursion, 1},
    {"does nothing", nothing, 0},
    {"stops a pair early", stops_early, 0},
    {"swaps each pair twice", twice, 0},
    {"loses the middle", loses_the_middle, 0},
    {"sorts downwards", sorts, 0},
    {"counts in a byte", counts_in_a_byte, 0},
    {"swaps the ends alone", swaps_the_ends, 0},
    {"has room for 512", room_for_512, 0},
    {"keeps 16 bits", keeps_16_bits, 0},
    {"works once", once, 0},
};

int main(void)
{
    char line[80] = "";
    if (fgets(line, sizeof line, stdin) == NULL) return 1;
    line[strcspn(line, "\n")] = '\0';
    for (size_t k = 0; k < sizeof functions / sizeof functions[0]; ++k) {
        if (strcmp(line, functions[k].name)) continue;
        const int passes = try_passes(functions[k].reverse), right = functions[k].right;
        const char *const said = passes ? "accepted" : "refused";
        if (!passes == !right) {
            printf("%s\n", said);
        } else {
            const char *const wanted = right ? "accepted" : "refused";
            printf("a function that %s is %s, expected %s\n", line, said, wanted);
        }
    }
    return 0;
}
