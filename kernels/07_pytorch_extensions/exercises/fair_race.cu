// token[r] = the winner of a race in row r of logits, rows x n: token i waits for -log(1 - u), with
// u = uniform(bits[r, i]), above 0 and up to 1, and scores logit - log(time). The highest score
// wins, and the lower index where scores are equal; tokens are counted from `first`. Logits may be
// -inf, but not NaN or +inf. A warp a row.
// grid (ceil(rows / 8)), block (256), dynamic shared 0

#include <math_constants.h> // CUDART_INF_F
#include "philox.cuh"       // uniform

constexpr int kWarpSize = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void fair_race(const float *logits, const unsigned *bits, int *token,
                                     int rows, int first, int n)
{
    int lane = threadIdx.x % kWarpSize;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    if (row >= rows) {
        return; // the whole warp
    }
    logits += (long long)row * n;
    bits += (long long)row * n;
    float best = -CUDART_INF_F;
    int winner = n; // none so far
    // TODO: best and winner of this lane's tokens, i = lane, lane + 32, ...; a u near 0 wins, and
    // 1 - u must not lose its digits
    // SOLUTION
    for (int i = lane; i < n; i += kWarpSize) {
        float time = -log1pf(-uniform(bits[i]));
        float score = logits[i] - logf(time);
        if (score > best || winner == n) {
            best = score;
            winner = i;
        }
    }
    // END
    // TODO: those of the warp
    // SOLUTION
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        float other = __shfl_xor_sync(kWholeWarp, best, distance);
        int theirs = __shfl_xor_sync(kWholeWarp, winner, distance);
        if (other > best || (other == best && theirs < winner)) {
            best = other;
            winner = theirs;
        }
    }
    // END
    if (lane == 0) {
        token[row] = first + winner;
    }
}
