// Prints what MIX gives where it is used in several ways.

#include <stdio.h>

enum { USES = 19 };

void try_mix(double a, double b, double t, double results[]);

int main(void)
{
    double a, b, t, results[USES] = {0};
    if (scanf("%lf %lf %lf", &a, &b, &t) != 3) return 1;
    try_mix(a, b, t, results);
    for (int i = 0; i < USES; ++i) printf("%.10g\n", results[i]);
    return 0;
}
