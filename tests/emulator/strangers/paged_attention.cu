// One token's attention to keys and values that lie in pages: block (head, sequence).
#include <algorithm>
#include <cfloat>
#include <cstdint>

template <int HEAD_SIZE, int PAGE, int NUM_THREADS>
__device__ void paged_attention_kernel(float *__restrict__ out, const float *__restrict__ q,
                                       const float *__restrict__ k_cache,
                                       const float *__restrict__ v_cache,
                                       const int32_t *__restrict__ block_tables,
                                       const int32_t *__restrict__ seq_lens, const int max_pages,
                                       const float scale)
{
    constexpr int NUM_WARPS = NUM_THREADS / 32;
    const int head = blockIdx.x, num_heads = gridDim.x, seq = blockIdx.y;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int seq_len = seq_lens[seq];
    const int pages = (seq_len + PAGE - 1) / PAGE;
    const int32_t *table = block_tables + seq * max_pages;

    extern __shared__ char shared_mem[];
    float *logits = reinterpret_cast<float *>(shared_mem);
    __shared__ float red_smem[2 * NUM_WARPS];
    __shared__ float q_s[HEAD_SIZE];
    if (threadIdx.x < HEAD_SIZE) {
        q_s[threadIdx.x] = q[(seq * num_heads + head) * HEAD_SIZE + threadIdx.x];
    }
    __syncthreads();

    float qk_max = -FLT_MAX;
    for (int page = warp; page < pages; page += NUM_WARPS) {
        const int64_t physical = static_cast<int64_t>(table[page]);
        const float *k = k_cache + ((physical * num_heads + head) * PAGE) * HEAD_SIZE;
        for (int token = lane / 4; token < PAGE; token += 8) {  // four threads to a key
            float qk = 0.f;
#pragma unroll
            for (int d = lane % 4; d < HEAD_SIZE; d += 4) qk += q_s[d] * k[token * HEAD_SIZE + d];
            qk += __shfl_xor_sync(uint32_t(-1), qk, 2);
            qk += __shfl_xor_sync(uint32_t(-1), qk, 1);
            const int at = page * PAGE + token;
            const bool mask = at >= seq_len;
            if (lane % 4 == 0) logits[at] = mask ? 0.f : scale * qk;
            qk_max = mask ? qk_max : std::max(qk_max, scale * qk);
        }
    }
    for (int mask = 16; mask >= 1; mask /= 2) {
        qk_max = fmaxf(qk_max, __shfl_xor_sync(uint32_t(-1), qk_max, mask));
    }
    if (lane == 0) red_smem[warp] = qk_max;
    __syncthreads();
    qk_max = lane < NUM_WARPS ? red_smem[lane] : -FLT_MAX;
    for (int mask = NUM_WARPS / 2; mask >= 1; mask /= 2) {
        qk_max = fmaxf(qk_max, __shfl_xor_sync(uint32_t(-1), qk_max, mask));
    }
    qk_max = __shfl_sync(uint32_t(-1), qk_max, 0);

    float exp_sum = 0.f;
    for (int i = threadIdx.x; i < seq_len; i += NUM_THREADS) {
        const float val = __expf(logits[i] - qk_max);
        logits[i] = val;
        exp_sum += val;
    }
    for (int mask = 16; mask >= 1; mask /= 2) exp_sum += __shfl_xor_sync(uint32_t(-1), exp_sum, mask);
    if (lane == 0) red_smem[NUM_WARPS + warp] = exp_sum;
    __syncthreads();
    exp_sum = 0.f;
    for (int w = 0; w < NUM_WARPS; ++w) exp_sum += red_smem[NUM_WARPS + w];

    if (threadIdx.x < HEAD_SIZE) {
        float acc = 0.f;
        for (int i = 0; i < seq_len; ++i) {
            const int64_t physical = table[i / PAGE];
            acc += logits[i] *
                   v_cache[((physical * num_heads + head) * PAGE + i % PAGE) * HEAD_SIZE + threadIdx.x];
        }
        out[(seq * num_heads + head) * HEAD_SIZE + threadIdx.x] = __fdividef(acc, exp_sum + 1e-6f);
    }
}

extern "C" __global__ void paged_attention_h32_p8(float *out, const float *q, const float *k,
                                                  const float *v, const int *tables,
                                                  const int *lens, int max_pages, float scale)
{
    paged_attention_kernel<32, 8, 128>(out, q, k, v, tables, lens, max_pages, scale);
}
