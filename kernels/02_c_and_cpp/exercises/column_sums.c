// sums[j] is the sum of column j of the row-major matrix A, rows x columns. Any shape.
// sums comes with anything in it.

#include <stdio.h>
#include <stdlib.h>

void column_sums(const float *A, size_t rows, size_t columns, float *sums)
{
    // TODO: write it
    // SOLUTION
    for (size_t j = 0; j < columns; ++j) sums[j] = 0.0f;
    for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < columns; ++j) sums[j] += A[i * columns + j];
    }
    // END
}

int main(void)
{
    size_t rows, columns;
    if (scanf("%zu %zu", &rows, &columns) != 2) return 1;
    float *A = malloc(rows * columns * sizeof *A);
    float *sums = malloc(columns * sizeof *sums);
    for (size_t i = 0; i < rows * columns; ++i) {
        if (scanf("%f", &A[i]) != 1) return 1;
    }
    for (size_t j = 0; j < columns; ++j) sums[j] = -7.0f;
    column_sums(A, rows, columns, sums);
    for (size_t j = 0; j < columns; ++j) printf("%g\n", sums[j]);
    free(sums);
    free(A);
    return 0;
}
