// y = W x with W in blocks of 32 weights of 4 bits and a half for their scale, x in blocks of 32
// int8 and a scale. A warp for each row.
#include <cstdint>
#include <cuda_fp16.h>

#define QK 32
#define WARP_SIZE 32

typedef struct {
    half d;
    uint8_t qs[QK / 2];  // low nibbles: weights 0 to 15, high ones: 16 to 31; 8 stands for 0
} block_q4;

typedef struct {
    half d;
    int8_t qs[QK];
} block_q8;

static_assert(sizeof(block_q4) == 18 && sizeof(block_q8) == 34, "no padding");

template <typename T> static __device__ __forceinline__ int get_int(const T *x, int i32)
{
    const uint16_t *x16 = (const uint16_t *)x;  // blocks begin at even addresses only
    return x16[2 * i32] | (x16[2 * i32 + 1] << 16);
}

static __device__ __forceinline__ float vec_dot(const block_q4 &w, const block_q8 &x, int quarter)
{
    const int v = get_int(w.qs, quarter);
    int sum = __dp4a(v & 0x0F0F0F0F, get_int(x.qs, quarter), 0);
    sum = __dp4a((v >> 4) & 0x0F0F0F0F, get_int(x.qs, quarter + 4), sum);
    const int ones = 0x01010101;
    const int of_x = __dp4a(ones, get_int(x.qs, quarter), __dp4a(ones, get_int(x.qs, quarter + 4), 0));
    return __half2float(w.d) * __half2float(x.d) * (sum - 8 * of_x);
}

extern "C" __global__ void __launch_bounds__(4 * WARP_SIZE, 1)
    mul_mat_vec_q4_q8(const void *__restrict__ vw, const void *__restrict__ vx, float *__restrict__ dst,
                      const int ncols, const int nrows)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= nrows) return;

    const block_q4 *w = (const block_q4 *)vw + (size_t)row * (ncols / QK);
    const block_q8 *x = (const block_q8 *)vx;
    float tmp = 0.0f;
    for (int i = threadIdx.x / 4; i < ncols / QK; i += WARP_SIZE / 4) {
        tmp += vec_dot(w[i], x[i], threadIdx.x % 4);
    }
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) {
        tmp += __shfl_xor_sync(0xffffffff, tmp, mask, 32);
    }
    if (threadIdx.x == 0) dst[row] = tmp;
}
