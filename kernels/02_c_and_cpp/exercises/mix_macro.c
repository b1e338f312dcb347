// MIX(a, b, t) is a macro for the number that is t of the way from a to b: a + t * (b - a).
// Any expressions may be its arguments, and it may be used as a part of any expression.

#include <stdio.h>

// TODO: write it
// STARTER
//| #define MIX(a, b, t) 0.0
// SOLUTION
#define MIX(a, b, t) ((a) + (t) * ((b) - (a)))
// END

int main(void)
{
    double a, b, t;
    if (scanf("%lf %lf %lf", &a, &b, &t) != 3) return 1;
    printf("%g\n", MIX(a, b, t));
    printf("%g\n", MIX(a + 1, b - 1, t));
    printf("%g\n", MIX(a, b, t + 0.5));
    printf("%g\n", 2 * MIX(a, b, t));
    printf("%g\n", MIX(a > b ? a : b, 0, t));
    printf("%g\n", MIX(0, a < b ? b : a, t));
    return 0;
}
