// The main function of the exercises that read A and B through functions. The input is a word,
// M N K and the number of the run. It prints whether C is right, and then whether the limit that
// the word names is kept: "lines": changes of cache line in B, at most twice those of a walk along
// its rows, and no fewer reads than four rows of A at a time need; "blocks": changes of block in B, at most one for each; "reads": calls, at most 4 + 8
// for each k of a tile of 4 x 8.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 16, BK = 8, BN = 16, MR = 4, NR = 8 }; // LINE: floats in a cache line

void product(float *C, int M, int N, int K);
float read_a(int i, int k);
float read_b(int k, int j);

static int M, N, K;
static long run;
static long reads, reads_of_b, changes, held = -1, moves, block = -1;

enum { MOST = 17, MOST_OF_C = 64, MOST_OF_LINE = 32 }; // numbers of a matrix that is printed

static int is_printed(void) // a product that can be worked by hand, of integers
{
    return K > 0 && M * K <= MOST && K * N <= MOST && M * N <= MOST_OF_C;
}

static float a_at(int i, int k)
{
    if (is_printed()) {
        return (float)((i * 7 + k * 5) % 11 - 4);
    }
    if (run % 3 == 1 && i == M / 2 && k == K - 1) { // times 0 it is NaN, and K ends with it
        return INFINITY;
    }
    return (float)((i * 7 + k * 5) % 11 - 4) / 4; // few bits: the sums are exact, yet not whole
}

static float b_at(int k, int j)
{
    if (is_printed()) {
        return (float)((k * 3 + j * 8) % 13 - 5);
    }
    if (run % 3 == 0 && k == 0 && j == N - 1) { // times 0 it is NaN, which no product leaves out
        return INFINITY;
    }
    return (float)((k * 3 + j * 8) % 13 - 5) / 2;
}

static void demand(int inside, const char *what, int row, int column)
{
    if (!inside) {
        printf("%s(%d, %d) is outside: M = %d, N = %d, K = %d\n", what, row, column, M, N, K);
        exit(0);
    }
}

float read_a(int i, int k)
{
    demand(0 <= i && i < M && 0 <= k && k < K, "read_a", i, k);
    ++reads;
    return a_at(i, k);
}

float read_b(int k, int j)
{
    demand(0 <= k && k < K && 0 <= j && j < N, "read_b", k, j);
    const long line = ((long)k * N + j) / LINE;
    ++reads;
    ++reads_of_b;
    changes += line != held;
    held = line;
    const long now = (long)(k / BK) * N + j / BN;
    moves += now != block;
    block = now;
    return b_at(k, j);
}

static int was_written(const float *place)
{
    const unsigned char fill[sizeof(float)] = {0xff, 0xff, 0xff, 0xff};
    return memcmp(place, fill, sizeof fill) != 0;
}

static void print_row(int i, int columns, float (*at)(int, int))
{
    for (int j = 0; j < columns; ++j) {
        printf(" %g", at(i, j));
    }
}

// All rows on one line. A large matrix has two lines, the first row and row `wrong`.
static void print_matrix(const char *name, int rows, int columns, float (*at)(int, int), int wrong)
{
    printf("%s:", name);
    if (rows * columns > MOST_OF_LINE) {
        print_row(0, columns, at);
        if (wrong > 0) {
            printf(" / ...\n    row %d:", wrong);
            print_row(wrong, columns, at);
        }
        printf("\n");
        return;
    }
    for (int i = 0; i < rows; ++i) {
        print_row(i, columns, at);
        printf(i + 1 < rows ? " /" : "\n");
    }
}

static const float *made;

static float made_at(int i, int j) { return made[i * N + j]; }

static float right_at(int i, int j)
{
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += a_at(i, k) * b_at(k, j);
    }
    return sum;
}

static void print_case(const float *C, int wrong)
{
    if (!is_printed()) {
        return;
    }
    made = C;
    print_matrix("A, row by row", M, K, a_at, wrong);
    print_matrix("B", K, N, b_at, wrong);
    print_matrix("C should be", M, N, right_at, wrong);
    print_matrix("C is", M, N, made_at, wrong);
}

static int is_right(const float *C)
{
    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
            const float want = right_at(i, j);
            const int both_nan = isnan(want) && isnan(C[i * N + j]) && was_written(&C[i * N + j]);
            if (!(C[i * N + j] == want || both_nan)) {
                printf("C[%d, %d] is %g, expected %g\n", i, j, C[i * N + j], want);
                print_case(C, i);
                return 0;
            }
        }
    }
    printf("C is right\n");
    return 1;
}

int main(void)
{
    char limit[16];
    if (scanf("%15s %d %d %d %ld", limit, &M, &N, &K, &run) != 5) {
        return 1;
    }
    float *C = malloc((size_t)M * N * sizeof(float));
    memset(C, 0xff, (size_t)M * N * sizeof(float)); // NaN, wherever nothing is written
    product(C, M, N, K);
    if (is_right(C)) {
        long found = reads, most = (long)(M / MR) * (N / NR) * K * (MR + NR);
        const char *what = "reads";
        if (!strcmp(limit, "lines")) {
            found = changes;
            most = (long)M * K * 2 * (N / LINE + 1); // even if C is made in stripes
            what = "changes of cache line in B";
        } else if (!strcmp(limit, "blocks")) {
            found = moves;
            most = (long)((K + BK - 1) / BK) * ((N + BN - 1) / BN);
            what = "changes of block in B";
        }
        const long needed = strcmp(limit, "lines") ? 0 : (long)(M / 4) * K * N;
        if (reads_of_b < needed) {
            printf("%s: %ld reads of B, fewer than %ld: a copy of B is no other order of loops\n",
                   limit, reads_of_b, needed);
        } else if (found <= most) {
            printf("%s: within the limit in run %ld\n", limit, run); // which product cannot know
        } else {
            printf("%s: %ld %s, and the limit is %ld\n", limit, found, what, most);
        }
    }
    free(C);
    return 0;
}
