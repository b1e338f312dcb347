// C = A B^T for row-major matrices of integers: A is M x K and B is N x K with 8 bits, C is M x N
// with 32, and so are the sums. Any shape with at most 65535 blocks along y.
// Like sgemm_conflict_free, for integers and without tensor cores: a word holds four neighbours
// along K, and __dp4a adds four products to a sum at once. A thread computes 8 x 8 results, in four
// sub-tiles of 4 x 4.
// Limit: the rate of __dp4a, and the latency of global memory.
// grid (ceil(N / 128), ceil(M / 128)), block (256), dynamic shared 0

constexpr int BM = 128; // of C: the block's tile
constexpr int BN = 128;
constexpr int BK = 8; // words of a row: 32 elements
constexpr int TM = 8; // of C: the thread's tile
constexpr int TN = 8;
constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kWord = 4;             // elements
constexpr int kRows = kThreads / BK; // that the block loads at once
constexpr int kPad = 4;              // of transposed tiles: no conflicts, and aligned 16-byte loads
constexpr int kHalfM = BM / 2;       // distance of a thread's two sub-tiles
constexpr int kHalfN = BN / 2;
static_assert(BM % kRows == 0 && BN % kRows == 0, "loads come out even");

// Elements k .. k + 3 of a row of K in one word; those outside are 0, and all are 0 unless
// `row_exists`. `k` is a multiple of 4.
__device__ inline int word_at(const signed char *row, int k, int K, bool row_exists)
{
    if (!row_exists || k >= K) {
        return 0;
    }
    if (K % kWord == 0) { // then every row begins at a multiple of 4 bytes
        return *reinterpret_cast<const int *>(row + k);
    }
    unsigned word = 0;
#pragma unroll
    for (int i = 0; i < kWord; ++i) {
        unsigned element = k + i < K ? static_cast<unsigned char>(row[k + i]) : 0;
        word |= element << 8 * i;
    }
    return static_cast<int>(word);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    igemm_dp4a(const signed char *A, const signed char *B, int *C, int M, int N, int K)
{
    __shared__ __align__(16) int tile_a[BK][BM + kPad]; // transposed: column k is row k
    __shared__ __align__(16) int tile_b[BK][BN + kPad];
    int first_row = blockIdx.y * BM; // of the block's tile in C
    int first_column = blockIdx.x * BN;
    int row = threadIdx.x / (BN / TN) * 4; // of the thread's first sub-tile in the block's tile
    int column = threadIdx.x % (BN / TN) * 4;
    int load_row = threadIdx.x / BK; // the first word of each tile that the thread loads
    int load_word = threadIdx.x % BK;

    int sum[TM][TN] = {};
    for (int start = 0; start < K; start += BK * kWord) {
        int from_a[BM / kRows], from_b[BN / kRows]; // all loads are in flight at once
        int load_k = start + load_word * kWord;
#pragma unroll
        for (int i = 0; i < BM / kRows; ++i) {
            int y = first_row + load_row + i * kRows;
            from_a[i] = word_at(A + (size_t)y * K, load_k, K, y < M);
        }
#pragma unroll
        for (int i = 0; i < BN / kRows; ++i) {
            int x = first_column + load_row + i * kRows;
            from_b[i] = word_at(B + (size_t)x * K, load_k, K, x < N);
        }
        __syncthreads(); // every warp is done with the tiles before these
#pragma unroll
        for (int i = 0; i < BM / kRows; ++i) {
            tile_a[load_word][load_row + i * kRows] = from_a[i];
        }
#pragma unroll
        for (int i = 0; i < BN / kRows; ++i) {
            tile_b[load_word][load_row + i * kRows] = from_b[i];
        }
        __syncthreads(); // both tiles are complete
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            int a[TM], b[TN];
#pragma unroll
            for (int i = 0; i < TM; i += 4) {
                *reinterpret_cast<int4 *>(a + i) =
                    *reinterpret_cast<int4 *>(&tile_a[k][row + i / 4 * kHalfM]);
            }
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                *reinterpret_cast<int4 *>(b + j) =
                    *reinterpret_cast<int4 *>(&tile_b[k][column + j / 4 * kHalfN]);
            }
#pragma unroll
            for (int i = 0; i < TM; ++i) {
#pragma unroll
                for (int j = 0; j < TN; ++j) {
                    sum[i][j] = __dp4a(a[i], b[j], sum[i][j]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
        int y = first_row + row + i / 4 * kHalfM + i % 4;
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            int x = first_column + column + j / 4 * kHalfN + j % 4;
            if (y < M && x < N) {
                C[(size_t)y * N + x] = sum[i][j];
            }
        }
    }
}
