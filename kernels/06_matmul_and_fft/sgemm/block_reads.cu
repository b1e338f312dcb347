// How often does block (1, 0) of a matrix product read each element of A (M x K) and B (K x N)?
// The idea: the loops of sgemm_coalesced (TILED 0) or the loads of sgemm_shared (TILED 1),
// adding 1 to a count where those kernels read. atomicAdd does so safely for many threads at once.
// Limit: none that matters. It is a tool for looking.
// grid (ceil(N / 8), ceil(M / 8)), block (8, 8), dynamic shared 0

constexpr int kTile = 8;

extern "C" __global__ void block_reads(int *reads_a, int *reads_b, int M, int N, int K)
{
    int row = blockIdx.y * kTile + threadIdx.y;
    int column = blockIdx.x * kTile + threadIdx.x;
    if (blockIdx.x != 1 || blockIdx.y != 0 || row >= M || column >= N) {
        return;
    }
    for (int k = 0; k < K; ++k) {
        // With tiles, thread (x, y) loads column x of each tile of A and row y of each of B.
        if (!TILED || k % kTile == threadIdx.x) {
            atomicAdd(&reads_a[row * K + k], 1);
        }
        if (!TILED || k % kTile == threadIdx.y) {
            atomicAdd(&reads_b[k * N + column], 1);
        }
    }
}
