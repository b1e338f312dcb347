// A record of five members. Arrays have millions of them, so it shall have no padding.
// main prints its size and alignment, and a record that went through it.

#include <stdio.h>

struct Record {
    // TODO: order the members so that the struct needs no padding; keep their types and names
    // STARTER
    //| char kind;
    //| double weight;
    //| char flag;
    //| int count;
    //| short label;
    // SOLUTION
    double weight;
    int count;
    short label;
    char kind;
    char flag;
    // END
};

int main(void)
{
    struct Record r = {.kind = 'k', .flag = 'f'};
    if (scanf("%lf %d %hd", &r.weight, &r.count, &r.label) != 3) return 1;
    printf("%zu bytes, aligned to %zu\n", sizeof r, _Alignof(struct Record));
    printf("%c %g %c %d %d\n", r.kind, r.weight, r.flag, r.count, r.label);
    return 0;
}
