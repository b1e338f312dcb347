// An array that grows: append stores one more value after the `*count` that *values holds. If
// *count has reached *capacity, it first asks realloc for twice the capacity (1 at first).
// realloc may move the block: it returns the new address, and takes NULL for "none yet".

#include <stdio.h>
#include <stdlib.h>

void append(int **values, size_t *count, size_t *capacity, int value)
{
    // TODO: make room where there is none, then store the value and count it
    // SOLUTION
    if (*count == *capacity) {
        *capacity = *capacity > 0 ? 2 * *capacity : 1;
        *values = realloc(*values, *capacity * sizeof **values);
    }
    (*values)[*count] = value;
    *count += 1;
    // END
}

int main(void)
{
    int *values = NULL, value;
    size_t count = 0, capacity = 0;
    while (scanf("%d", &value) == 1) append(&values, &count, &capacity, value);
    printf("%zu values, room for %zu\n", count, capacity);
    for (size_t i = 0; i < count; ++i) printf("%d\n", values[i]);
    free(values);
    return 0;
}
