// C = A B, a tile of 4 x 8 elements of C after the other. M is a multiple of 4, N of 8; any K.
// read_a(i, k) is A[i * K + k], read_b(k, j) is B[k * N + j]. Both are the checker's: it counts how
// often they are called. A tile may call them (4 + 8) K times in all, for its 32 K multiply-adds.

enum { MR = 4, NR = 8 };

float read_a(int i, int k);
float read_b(int k, int j);

void product(float *C, int M, int N, int K)
{
    for (int first_i = 0; first_i < M; first_i += MR) {
        for (int first_j = 0; first_j < N; first_j += NR) {
            float sum[MR][NR] = {{0}}; // the tile, all zeros
            // TODO: for each k read NR numbers of B into an array; then read MR numbers of A, and
            //       multiply each of them with all NR
            // SOLUTION
            for (int k = 0; k < K; ++k) {
                float b[NR];
                for (int j = 0; j < NR; ++j) {
                    b[j] = read_b(k, first_j + j);
                }
                for (int i = 0; i < MR; ++i) {
                    const float a = read_a(first_i + i, k);
                    for (int j = 0; j < NR; ++j) {
                        sum[i][j] += a * b[j];
                    }
                }
            }
            // END

            // TODO: store the tile in C
            // SOLUTION
            for (int i = 0; i < MR; ++i) {
                for (int j = 0; j < NR; ++j) {
                    C[(first_i + i) * N + first_j + j] = sum[i][j];
                }
            }
            // END
        }
    }
}
