// Which bytes of A (M x K) and B (K x N) does the first warp of a matrix product read at k = 0?
// The idea: compute the index as sgemm_naive does (x is the row) and as sgemm_coalesced does
// (x is the column), and store the distance from the matrix's first byte instead of the product.
// Limit: none that matters. It is a tool for looking.
// grid (1), block (32, 32), dynamic shared 0

extern "C" __global__ void warp_reads(int *naive_a, int *naive_b, int *coalesced_a,
                                      int *coalesced_b, int N, int K)
{
    constexpr int kBytes = sizeof(float);
    int x = threadIdx.x; // with 32 threads along x, a warp is the 32 threads of one y
    int y = threadIdx.y;
    int k = 0;
    if (y == 0) {
        naive_a[x] = (x * K + k) * kBytes; // row is x, column is y
        naive_b[x] = (k * N + y) * kBytes;
        coalesced_a[x] = (y * K + k) * kBytes; // row is y, column is x
        coalesced_b[x] = (k * N + x) * kBytes;
    }
}
