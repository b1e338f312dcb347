// Prints the sums of the columns of a matrix that it reads; a second call has to give them again.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void try_column_sums(const float *A, size_t rows, size_t columns, float *sums);

int main(void)
{
    size_t rows, columns;
    if (scanf("%zu %zu", &rows, &columns) != 2) return 1;
    float *A = malloc(rows * columns * sizeof *A);
    float *before = malloc(rows * columns * sizeof *before);
    float *sums = malloc(columns * sizeof *sums), *again = malloc(columns * sizeof *again);
    for (size_t i = 0; i < rows * columns; ++i) {
        if (scanf("%f", &A[i]) != 1) return 1;
    }
    memcpy(before, A, rows * columns * sizeof *A);
    for (size_t j = 0; j < columns; ++j) sums[j] = -INFINITY, again[j] = NAN;
    try_column_sums(A, rows, columns, sums);
    double rest = 0; // of the columns after the 50th, each weighted by its place
    for (size_t j = 0; j < columns; ++j) {
        if (j < 50 && isnan(sums[j])) printf("nan\n"); // whatever its sign
        if (j < 50 && !isnan(sums[j])) printf("%.9g\n", sums[j] + 0.0f); // -0 is 0
        if (j >= 50) rest += (j % 97 + 1.0) * sums[j];
    }
    if (columns > 50) printf("a weighted sum of the others: %.17g\n", rest);
    if (memcmp(before, A, rows * columns * sizeof *A)) printf("the matrix is changed\n");
    try_column_sums(A, rows, columns, again);
    size_t other = 0;
    while (other < columns && (again[other] == sums[other]
                               || (isnan(again[other]) && isnan(sums[other])))) {
        ++other;
    }
    if (other < columns) printf("a second call gives %g for column %zu\n", again[other], other);
    free(again);
    free(sums);
    free(before);
    free(A);
    return 0;
}
