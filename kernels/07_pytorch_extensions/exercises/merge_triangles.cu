// R (n x n, n up to 16) of the QR factorisation of two upper triangles, one on top of the other, for
// `pairs` of them: top and bottom are pairs x n x n. What lies below their diagonals is not to be
// read as zero: it holds something else. R's rows have the signs that Householder reflectors give
// them: beta has the sign that alpha has not. Store zeros below R's diagonal. A warp a pair, a lane a column,
// so that half of the lanes have none.
// grid (ceil(pairs / 8)), block (256), dynamic shared 0

#include "reflector.cuh" // reflector_of(alpha, squares): beta, tau and inverse, where v = x inverse

constexpr int kMost = 16;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void merge_triangles(const float *top, const float *bottom, float *R,
                                           int pairs, int n)
{
    int lane = threadIdx.x % 32;
    int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (pair >= pairs) {
        return; // the whole warp
    }
    top += (long long)pair * n * n;
    bottom += (long long)pair * n * n;
    R += (long long)pair * n * n;
    float t[kMost], b[kMost]; // the lane's column of both
#pragma unroll
    for (int i = 0; i < kMost; ++i) {
        bool there = i <= lane && lane < n;
        t[i] = there ? top[i * n + lane] : 0.0f;
        b[i] = there ? bottom[i * n + lane] : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < kMost; ++j) {
        if (j < n) {
            // TODO: the reflector of column j, from row j of the top and rows 0 to j of the bottom,
            // and what it makes of t[j] and of b[0] to b[j] in all lanes
            // SOLUTION
            float alpha = __shfl_sync(kWholeWarp, t[j], j), dot = 0.0f;
#pragma unroll
            for (int i = 0; i <= j; ++i) {
                dot += __shfl_sync(kWholeWarp, b[i], j) * b[i];
            }
            Reflector h = reflector_of(alpha, __shfl_sync(kWholeWarp, dot, j));
            float w = h.tau * (t[j] + dot * h.inverse);
#pragma unroll
            for (int i = 0; i <= j; ++i) {
                float v = __shfl_sync(kWholeWarp, b[i], j) * h.inverse;
                b[i] = lane > j ? b[i] - w * v : b[i];
            }
            t[j] = lane > j ? t[j] - w : lane == j ? h.beta : t[j];
            // END
        }
    }
#pragma unroll
    for (int i = 0; i < kMost; ++i) {
        if (i < n && lane < n) {
            R[i * n + lane] = i <= lane ? t[i] : 0.0f;
        }
    }
}
