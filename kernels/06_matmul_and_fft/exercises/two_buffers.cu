// C = A B for row-major A (M x K), B (K x N) and C (M x N). A block covers 64 x 64 elements of C
// with 64 threads of 8 x 8. Two buffers: while one pair of tiles is used, the next is in flight.
// Any shape with fewer than 2^31 elements a matrix.
// grid (ceil(N / 64), ceil(M / 64)), block 64, dynamic shared 0

constexpr int BM = 64;  // the block's tile of C
constexpr int BN = 64;
constexpr int BK = 8;
constexpr int TM = 8;  // the thread's tile of C
constexpr int TN = 8;
constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kEach = BM * BK / kThreads;  // elements of each tile that a thread loads

extern "C" __global__ void __launch_bounds__(kThreads)
    two_buffers(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[2][BM][BK];
    __shared__ float tile_b[2][BK][BN];
    const int first_row = blockIdx.y * BM;  // of the block's tile in C
    const int first_column = blockIdx.x * BN;
    const int row = threadIdx.x / (BN / TN) * TM;  // of the thread's tile in the block's
    const int column = threadIdx.x % (BN / TN) * TN;

    float from_a[kEach], from_b[kEach];  // in flight
    auto load = [&](int start) {         // from global memory into registers
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int element = threadIdx.x + i * kThreads;
            const int y = first_row + element / BK, ka = start + element % BK;
            const int x = first_column + element % BN, kb = start + element / BN;
            from_a[i] = y < M && ka < K ? A[y * K + ka] : 0.0f;
            from_b[i] = kb < K && x < N ? B[kb * N + x] : 0.0f;
        }
    };
    auto store = [&](int buffer) {  // from registers into shared memory
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int element = threadIdx.x + i * kThreads;
            tile_a[buffer][element / BK][element % BK] = from_a[i];
            tile_b[buffer][element / BN][element % BN] = from_b[i];
        }
    };
    float sum[TM][TN] = {};
    auto multiply = [&](int buffer) {
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            for (int i = 0; i < TM; ++i) {
                for (int j = 0; j < TN; ++j) {
                    sum[i][j] += tile_a[buffer][row + i][k] * tile_b[buffer][k][column + j];
                }
            }
        }
    };

    // TODO: make this a pipeline with one barrier an iteration: the first tiles are loaded
    //       before the loop; in it, load the next tiles, multiply this buffer, then store the
    //       next ones into the other buffer. The last iteration has none.
    // STARTER
    //| for (int start = 0; start < K; start += BK) {
    //|     load(start);
    //|     store(0);
    //|     __syncthreads();
    //|     multiply(0);
    //|     __syncthreads();
    //| }
    // SOLUTION
    load(0);
    store(0);
    __syncthreads();  // the first tiles are complete
    int buffer = 0;
    for (int start = 0; start < K; start += BK) {
        const bool more = start + BK < K;
        if (more) load(start + BK);
        multiply(buffer);
        if (more) store(buffer ^ 1);
        __syncthreads();  // the next tiles are complete, and no thread needs these any more
        buffer ^= 1;
    }
    // END

    for (int i = 0; i < TM; ++i) {
        for (int j = 0; j < TN; ++j) {
            if (first_row + row + i < M && first_column + column + j < N) {
                C[(first_row + row + i) * N + first_column + column + j] = sum[i][j];
            }
        }
    }
}
