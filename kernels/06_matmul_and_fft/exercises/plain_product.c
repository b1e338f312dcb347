// The main function of the exercises that multiply matrices in memory. The input is M N K; it prints
// whether C is right. The arrays are exactly as long as they must be.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void product(const float *A, const float *B, float *C, int M, int N, int K);

static float *whole_numbers(int count, int period)
{
    float *x = malloc((size_t)count * sizeof(float));
    for (int i = 0; i < count; ++i) {
        x[i] = (float)(i * 7 % period - period / 3); // small whole numbers: their sums are exact
    }
    return x;
}

int main(void)
{
    int M, N, K;
    if (scanf("%d %d %d", &M, &N, &K) != 3) {
        return 1;
    }
    float *A = whole_numbers(M * K, 11), *B = whole_numbers(K * N, 13);
    float *C = malloc((size_t)M * N * sizeof(float));
    memset(C, 0xff, (size_t)M * N * sizeof(float)); // NaN, wherever nothing is written
    product(A, B, C, M, N, K);
    int wrong = 0;
    for (int i = 0; i < M && !wrong; ++i) {
        for (int j = 0; j < N && !wrong; ++j) {
            float want = 0.0f;
            for (int k = 0; k < K; ++k) {
                want += A[i * K + k] * B[k * N + j];
            }
            wrong = !(C[i * N + j] == want);
            if (wrong) {
                printf("C[%d, %d] is %g, expected %g\n", i, j, C[i * N + j], want);
            }
        }
    }
    if (!wrong) {
        printf("C is right\n");
    }
    free(A);
    free(B);
    free(C);
    return 0;
}
