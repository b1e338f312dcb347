// Copies the row of each token to the TOP rows that its assignments have: permuted[places[t * TOP +
// j]] = x[t]. Rows are `width` numbers of 16 bits, a multiple of 8. Any number of tokens.
// The idea: a token's row is read once and written TOP times, 16 bytes a thread.
// Limit: memory. A GEMM that gathers its own rows would save the copy, but not with TMA's boxes.
// grid (tokens), block (128), dynamic shared 0

#ifndef TOP
#define TOP 2
#endif

extern "C" __global__ void gather_rows(const uint4 *x, const int *places, uint4 *permuted,
                                       int width)
{
    const int chunks = width / 8; // of 16 bytes
    size_t to[TOP];
#pragma unroll
    for (int j = 0; j < TOP; ++j) {
        to[j] = (size_t)places[(size_t)blockIdx.x * TOP + j] * chunks;
    }
    for (int c = threadIdx.x; c < chunks; c += blockDim.x) {
        const uint4 piece = x[(size_t)blockIdx.x * chunks + c];
#pragma unroll
        for (int j = 0; j < TOP; ++j) {
            permuted[to[j] + c] = piece;
        }
    }
}
