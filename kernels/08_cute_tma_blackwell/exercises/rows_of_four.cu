// W = softmax of each row of S, both M x 32 floats, any M. A block has 64 rows, in registers as
// wgmma leaves its sums: thread t has of rows 16 (t / 32) + t % 32 / 4 and 8 more the columns 8 j +
// 2 (t % 4) and the next, as s[4 j] to s[4 j + 3]. Scores are finite.
// grid (ceil(M / 64)), block (128), dynamic shared 0

extern "C" __global__ void rows_of_four(const float *S, float *W, int M)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = blockIdx.x * 64 + warp * 16 + lane / 4; // of s[0] and s[1]
    const int column = lane % 4 * 2;
    float s[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const int at = row + i / 2 % 2 * 8;
        s[i] = at < M ? S[at * 32 + column + i / 4 * 8 + i % 2] : 0.0f;
    }
    // TODO: make weights of the scores in s, with no access to memory. Which threads share a row?
    // SOLUTION
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float most = s[half * 2], sum = 0.0f;
#pragma unroll
        for (int i = half * 2; i < 16; i += 4) {
            most = fmaxf(most, fmaxf(s[i], s[i + 1]));
        }
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
#pragma unroll
        for (int i = half * 2; i < 16; i += 4) {
            s[i] = expf(s[i] - most);
            s[i + 1] = expf(s[i + 1] - most);
            sum += s[i] + s[i + 1];
        }
        sum += __shfl_xor_sync(0xffffffff, sum, 1);
        sum += __shfl_xor_sync(0xffffffff, sum, 2);
#pragma unroll
        for (int i = half * 2; i < 16; i += 4) {
            s[i] /= sum;
            s[i + 1] /= sum;
        }
    }
    // END
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const int at = row + i / 2 % 2 * 8;
        if (at < M) {
            W[at * 32 + column + i / 4 * 8 + i % 2] = s[i];
        }
    }
}
