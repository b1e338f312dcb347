// Appends the numbers that it reads, prints the array, and sees when realloc is asked for how much.

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
    int *values = NULL, value;
    size_t n = 0, room = 0;
    while (scanf("%d", &value) == 1) {
        count = n;
        capacity = room;
        full += count == capacity;
        try_append(&values, &n, &room, value);
    }
    printf("%zu values, room for %zu\n", n, room);
    double rest = 0; // of the values behind the 50th, each weighted by its place
    for (size_t i = 0; i < n; ++i) {
        if (i < 50) printf("%d\n", values[i]);
        if (i >= 50) rest += (i % 97 + 1.0) * values[i];
    }
    printf("the others, weighted: %.17g\n", rest);
    if (too_early) printf("realloc is called %d times while there is room\n", too_early);
    if (other_room) printf("realloc is asked %d times for another room than twice\n", other_room);
    if (calls < full) {
        printf("realloc is called %d times, and %d values found no room\n", calls, full);
    }
    free(values);
    return 0;
}
