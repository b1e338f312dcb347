// Prints size and alignment of the struct, a record that went through it, and whether each member
// has its type and its alignment.

#include <stdio.h>

struct Layout { size_t size, alignment, offset[5]; int has_its_type[5]; };
struct Plain { double weight; int count, label, kind, flag; };

struct Layout try_layout(void);
struct Plain try_record(double weight, int count, short label, char kind, char flag);

int main(void)
{
    static const char *const names[] = {"weight", "count", "label", "kind", "flag"};
    static const char *const types[] = {"double", "int", "short", "char", "char"};
    static const size_t sizes[] = {sizeof(double), sizeof(int), sizeof(short), 1, 1};
    double weight;
    int count, misplaced = 0;
    short label;
    if (scanf("%lf %d %hd", &weight, &count, &label) != 3) return 1;
    const struct Layout layout = try_layout();
    const struct Plain r = try_record(weight, count, label, 'k', 'f');
    printf("%zu bytes, aligned to %zu\n", layout.size, layout.alignment);
    printf("%c %g %c %d %d\n", r.kind, r.weight, r.flag, r.count, r.label);
    for (int i = 0; i < 5; ++i) {
        if (!layout.has_its_type[i]) printf("%s is no %s any more\n", names[i], types[i]);
        if (layout.offset[i] % sizes[i] == 0) continue;
        printf("%s is at byte %zu, no multiple of its size\n", names[i], layout.offset[i]);
        ++misplaced;
    }
    if (misplaced == 0) printf("each member is at a multiple of its size\n");
    return 0;
}
