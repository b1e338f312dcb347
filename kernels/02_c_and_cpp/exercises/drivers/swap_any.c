// Swaps things of several types, and blocks of many sizes of which it looks at every byte. The
// blocks begin at odd addresses, as bytes may.

#include <stdio.h>
#include <stdlib.h>

void try_swap_any(void *a, void *b, size_t size);

struct Point { float x, y, z; };

static const size_t sizes[] = {0, 1, 2, 3, 7, 64, 100, 255, 300, 4099, 65537, 1050001};

static unsigned char byte_of(unsigned seed, size_t i)
{
    return (unsigned char)((seed + (unsigned)i) * 2654435761u >> 24);
}

static size_t wrong_bytes(unsigned seed, size_t size)
{
    const size_t room = size > 0 ? size + 1 : 2; // with size 0 there is a byte, to stay as it is
    unsigned char *first = malloc(room), *second = malloc(room);
    unsigned char *a = first + 1, *b = second + 1;
    size_t wrong = 0;
    for (size_t i = 0; i < size; ++i) {
        a[i] = byte_of(seed, i);
        b[i] = byte_of(seed + 77, i);
    }
    if (size == 0) {
        a[0] = 'a';
        b[0] = 'b';
    }
    try_swap_any(a, b, size);
    if (size == 0) wrong += (a[0] != 'a') + (b[0] != 'b');
    for (size_t i = 0; i < size; ++i) {
        wrong += a[i] != byte_of(seed + 77, i);
        wrong += b[i] != byte_of(seed, i);
    }
    if (wrong == 0) { // a block and itself
        try_swap_any(a, a, size);
        for (size_t i = 0; i < size; ++i) wrong += a[i] != byte_of(seed + 77, i);
    }
    free(first);
    free(second);
    return wrong;
}

int main(void)
{
    int a, b;
    if (scanf("%d %d", &a, &b) != 2) return 1;
    const unsigned seed = (unsigned)a;
    char c = 'c', d = 'd';
    double x = a / 8.0, y = b / 8.0;
    struct Point *points = malloc(2 * sizeof *points);
    points[0] = (struct Point){a, 1, 2};
    points[1] = (struct Point){b, 3, 4};
    try_swap_any(&a, &b, sizeof a);
    try_swap_any(&a, &a, sizeof a);
    try_swap_any(&c, &d, sizeof c);
    try_swap_any(&x, &y, sizeof x);
    try_swap_any(&points[0], &points[1], sizeof points[0]);
    printf("%d %d %c %c %g %g\n", a, b, c, d, x, y);
    for (int i = 0; i < 2; ++i) printf("%g %g %g\n", points[i].x, points[i].y, points[i].z);
    free(points);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        const size_t wrong = wrong_bytes(seed, sizes[i]);
        printf("two blocks of %zu: %zu bytes are wrong\n", sizes[i], wrong);
    }
    return 0;
}
