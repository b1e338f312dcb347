// C = A B^T for row-major matrices of integers: A is M x K and B is N x K with 8 bits, C is M x N
// with 32. A thread computes one element. Any M and N; K is a multiple of 4.
// grid (ceil(N / 16), ceil(M / 16)), block (16, 16), dynamic shared 0

extern "C" __global__ void dp4a_product(const signed char *A, const signed char *B, int *C, int M,
                                        int N, int K)
{
    int row = blockIdx.y * 16 + threadIdx.y;
    int column = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || column >= N) {
        return;
    }
    int sum = 0;
    // TODO: add the products of a row of A and a row of B, four at a time with __dp4a. Read four
    //       neighbours as one int
    // SOLUTION
    const int *a = reinterpret_cast<const int *>(A + row * K);
    const int *b = reinterpret_cast<const int *>(B + column * K);
    for (int word = 0; word < K / 4; ++word) {
        sum = __dp4a(a[word], b[word], sum);
    }
    // END
    C[row * N + column] = sum;
}
