// A table of rows x columns ints, both at least 1, that is used as table[row][column].
// All elements are in one block, row after row. A second block holds a pointer to each row.

#include <stdio.h>
#include <stdlib.h>

int **make_table(int rows, int columns)
{
    // TODO: allocate the rows * columns elements, and an array of one pointer for each row;
    //       let each pointer point to its row's first element, and return the array
    // STARTER
    //| return NULL;
    // SOLUTION
    int *elements = malloc(sizeof *elements * rows * columns);
    int **table = malloc(sizeof *table * rows);
    for (int row = 0; row < rows; ++row) {
        table[row] = elements + (size_t)row * columns;
    }
    return table;
    // END
}

void free_table(int **table)
{
    // TODO: free both blocks, in an order in which each can still be found
    // SOLUTION
    free(table[0]);
    free(table);
    // END
}

int main(void)
{
    int rows, columns;
    if (scanf("%d %d", &rows, &columns) != 2) return 1;
    int **table = make_table(rows, columns);
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            table[row][column] = 100 * row + column;
        }
    }
    const size_t count = (size_t)rows * columns;
    for (size_t i = 0; i < count; ++i) printf("%d\n", table[0][i]); // one block: row by row
    free_table(table);
    return 0;
}
