// Exchanges two things of any type, each of `size` bytes. Both may be the same thing.
// main swaps chars, ints, doubles, structs of three floats and whole images with it.

#include <stdio.h>
#include <stdlib.h>

void swap_any(void *a, void *b, size_t size)
{
    // TODO: exchange the bytes: an unsigned char is one byte, and a void * becomes a pointer to
    //       such bytes by being assigned to one
    // SOLUTION
    unsigned char *x = a, *y = b;
    for (size_t i = 0; i < size; ++i) {
        const unsigned char byte = x[i];
        x[i] = y[i];
        y[i] = byte;
    }
    // END
}

struct Point { float x, y, z; };

static unsigned char images[2][100000];

int main(void)
{
    int a, b;
    if (scanf("%d %d", &a, &b) != 2) return 1;
    char c = 'c', d = 'd';
    double x = a / 8.0, y = b / 8.0;
    struct Point *points = malloc(2 * sizeof *points);
    points[0] = (struct Point){a, 1, 2};
    points[1] = (struct Point){b, 3, 4};
    swap_any(&a, &b, sizeof a);
    swap_any(&a, &a, sizeof a);
    swap_any(&c, &d, sizeof c);
    swap_any(&x, &y, sizeof x);
    swap_any(&points[0], &points[1], sizeof points[0]);
    images[0][99999] = 1;
    images[1][99999] = 2;
    swap_any(images[0], images[1], sizeof images[0]);
    printf("%d %d %c %c %g %g\n", a, b, c, d, x, y);
    for (int i = 0; i < 2; ++i) printf("%g %g %g\n", points[i].x, points[i].y, points[i].z);
    printf("%d %d\n", images[0][99999], images[1][99999]);
    free(points);
    return 0;
}
