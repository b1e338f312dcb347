// Makes a table of the shape that it reads, fills it row by row, reads its one block of elements
// from the first to the last, and counts the blocks of memory that are held in between. A second
// table, made before the first is freed, has to outlive it.

#include <stdio.h>
#include <stdlib.h>

int **try_make_table(int rows, int columns);
void try_free_table(int **table);

static int blocks;

static void *counted(void *block)
{
    blocks += block != NULL;
    return block;
}

void *watched_malloc(size_t bytes) { return counted(malloc(bytes)); }
void *watched_calloc(size_t n, size_t bytes) { return counted(calloc(n, bytes)); }

void *watched_aligned_alloc(size_t alignment, size_t bytes)
{
    return counted(aligned_alloc(alignment, bytes));
}

void *watched_realloc(void *block, size_t bytes)
{
    blocks -= block != NULL;
    return counted(realloc(block, bytes));
}

void watched_free(void *block)
{
    blocks -= block != NULL;
    free(block);
}

int main(void)
{
    int rows, columns, right = 0;
    if (scanf("%d %d", &rows, &columns) != 2) return 1;
    int **volatile table = try_make_table(rows, columns);
    if (table == NULL || table[0] == NULL) {
        printf("there is no table, or its first row is NULL\n");
        return 0;
    }
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            table[row][column] = row * columns + column;
        }
    }
    for (int i = 0; i < rows * columns; ++i) right += table[0][i] == i;
    printf("%d of %d elements are row after row\n", right, rows * columns);
    printf("%d blocks of memory\n", blocks);
    if (right < rows * columns && rows * columns <= 16) {
        printf("row by row the numbers 0 1 2 ... were stored, and from table[0][0] on memory holds");
        for (int i = 0; i < rows * columns; ++i) printf(" %d", table[0][i]);
        printf("\n");
    }
    int **volatile second = try_make_table(2, 3);
    if (second == NULL || second[0] == NULL) {
        printf("there is no second table, or its first row is NULL\n");
        return 0;
    }
    for (int i = 0; i < 6; ++i) second[i / 3][i % 3] = -i;
    for (int i = 0; i < rows * columns; ++i) right -= table[0][i] == i;
    if (right != 0) printf("a second table changes the first one\n");
    try_free_table(table);
    for (int i = 0; i < 6; ++i) {
        if (second[i / 3][i % 3] != -i) printf("element %d of the second table changed\n", i);
    }
    try_free_table(second);
    table = second = NULL; // what is lost now is a leak
    return 0;
}
