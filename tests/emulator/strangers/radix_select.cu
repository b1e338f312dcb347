// The k-th largest float of a row, digit by digit of 8 bits from the top; a block for each row.
#include <cstdint>

__device__ __forceinline__ uint32_t convert(float v)
{
    uint32_t x = __float_as_uint(v);
    uint32_t mask = (x & 0x80000000) ? 0xffffffff : 0x80000000;
    return x ^ mask;
}

__device__ __forceinline__ float deconvert(uint32_t v)
{
    uint32_t mask = (v & 0x80000000) ? 0x80000000 : 0xffffffff;
    return __uint_as_float(v ^ mask);
}

struct SelectState {
    uint32_t desired, mask;
    int k;
};

extern "C" __global__ void gather_kth_value(const float *input, int slice, int k, float *kth)
{
    __shared__ int smem[256];
    __shared__ SelectState state;
    const float *data = input + blockIdx.x * slice;
    if (threadIdx.x == 0) state = {0, 0, k};

    for (int digit = 24; digit >= 0; digit -= 8) {
        smem[threadIdx.x] = 0;
        __syncthreads();
        const SelectState now = state;
        for (int i = threadIdx.x; i < slice; i += blockDim.x) {
            const uint32_t v = convert(data[i]);
            if ((v & now.mask) == now.desired) {
                // lanes with the same digit count together
                const uint32_t bin = (v >> digit) & 255;
                const unsigned peers = __match_any_sync(__activemask(), bin);
                if ((threadIdx.x & 31) == __ffs(peers) - 1) atomicAdd(&smem[bin], __popc(peers));
            }
        }
        __syncthreads();
        // suffix sums: how many have this digit or a larger one
        int count = smem[threadIdx.x];
        for (int offset = 1; offset < 256; offset <<= 1) {
            const int more = threadIdx.x + offset < 256 ? smem[threadIdx.x + offset] : 0;
            __syncthreads();
            count += more;
            smem[threadIdx.x] = count;
            __syncthreads();
        }
        const int above = threadIdx.x < 255 ? smem[threadIdx.x + 1] : 0;
        if (above < now.k && now.k <= count) {
            state.desired = now.desired | (threadIdx.x << digit);
            state.mask = now.mask | (255u << digit);
            state.k = now.k - above;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) kth[blockIdx.x] = deconvert(state.desired);
}
