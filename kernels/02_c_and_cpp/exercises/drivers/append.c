// Appends the numbers that it reads, prints the array, and sees when realloc is asked for how much.
// A second array, which came with room for 3, gets the same numbers in turns with the first.

#include <stdio.h>
#include <stdlib.h>

void try_append(int **values, size_t *count, size_t *capacity, int value);

static size_t count, capacity; // as they were before the call
static int calls, too_early, other_room, full;

void *watched_realloc(void *block, size_t bytes)
{
    ++calls;
    too_early += count < capacity;
    other_room += bytes != (capacity > 0 ? 2 * capacity : 1) * sizeof(int);
    return realloc(block, bytes);
}

int main(void)
{
    int *values = NULL, *others = malloc(3 * sizeof *others), value;
    size_t n = 0, room = 0, of_others = 0, room_of_others = 3, expected = 3, wrong = 0;
    while (scanf("%d", &value) == 1) {
        count = n;
        capacity = room;
        full += count == capacity;
        try_append(&values, &n, &room, value);
        count = of_others;
        capacity = room_of_others;
        full += count == capacity;
        try_append(&others, &of_others, &room_of_others, value);
    }
    printf("%zu values, room for %zu\n", n, room);
    double rest = 0; // of the values after the 50th, each weighted by its place
    for (size_t i = 0; i < n; ++i) {
        if (i < 50) printf("%d\n", values[i]);
        if (i >= 50) rest += (i % 97 + 1.0) * values[i];
    }
    if (n > 50) printf("a weighted sum of the others: %.17g\n", rest);
    if (too_early) printf("realloc is called %d times while there is room\n", too_early);
    if (other_room) printf("realloc asks %d times for a size that isn't doubled\n", other_room);
    if (calls < full) {
        printf("realloc is called %d times, and %d values found no room\n", calls, full);
    }
    while (expected < n) expected *= 2;
    for (size_t i = 0; i < n && n == of_others; ++i) wrong += others[i] != values[i];
    if (of_others != n || wrong != 0 || room_of_others != expected) {
        printf("in an array that came with room for 3, %zu values are wrong of %zu, room for %zu\n",
               wrong, of_others, room_of_others);
    }
    free(others);
    free(values);
    return 0;
}
