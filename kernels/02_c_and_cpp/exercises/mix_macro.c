// MIX(a, b, t) is the number between a and b that lies t of the way along: a + t * (b - a).
// It is a macro, so its text is put in place of each use, with the arguments' own text in it.

#include <stdio.h>

// TODO: define MIX so that any expressions may be its arguments, and a part of one may be its use
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
