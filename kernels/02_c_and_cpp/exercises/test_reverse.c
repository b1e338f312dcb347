// passes(reverse) is 1 if reverse(x, n) reverses the n ints at x, for any ints and any n up to
// 1000, 0 included, and in every call. It's 0 if reverse is wrong for any of them.

#include <stdio.h>

typedef void Reverse(int *x, size_t n);

int passes(Reverse *reverse)
{
    // TODO: write it
    // STARTER
    //| (void)reverse;
    //| return 1;
    // SOLUTION
    int x[1000];
    for (size_t n = 0; n <= 1000; ++n) {
        for (size_t i = 0; i < n; ++i) x[i] = (int)(i * 7919 % 1009) * 100003 - 50000000;
        reverse(x, n);
        for (size_t i = 0; i < n; ++i) {
            if (x[n - 1 - i] != (int)(i * 7919 % 1009) * 100003 - 50000000) return 0;
        }
    }
    return 1;
    // END
}

void flip(int *x, size_t n)
{
    for (size_t i = 0; i < n / 2; ++i) {
        const int kept = x[i];
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = kept;
    }
}

int main(void)
{
    printf("flip passes: %d\n", passes(flip));
    return 0;
}
