// The K largest of each row, in order: sorted lists in registers, the best head of a warp's lists.
#include <algorithm>
#include <limits>
#include <type_traits>

template <typename T, int K> struct TopK {
    T values[K];
    int at[K];
    __device__ TopK()
    {
        static_assert(std::is_same<T, float>::value, "lowest() of another type");
        for (int i = 0; i < K; ++i) values[i] = std::numeric_limits<T>::lowest(), at[i] = -1;
    }
    __device__ void insert(T v, int i)
    {
        if (v <= values[K - 1]) return;
        values[K - 1] = v;
        at[K - 1] = i;
#pragma unroll
        for (int j = K - 1; j > 0; --j) {
            if (values[j - 1] < values[j]) {
                std::swap(values[j - 1], values[j]);
                std::swap(at[j - 1], at[j]);
            }
        }
    }
    __device__ void pop()
    {
#pragma unroll
        for (int j = 0; j < K - 1; ++j) values[j] = values[j + 1], at[j] = at[j + 1];
        values[K - 1] = std::numeric_limits<T>::lowest();
    }
};

template <int K> __device__ void topk_rows(const float *x, float *values, int *indices, int columns, int rows)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    TopK<float, K> mine;
    for (int i = lane; i < columns; i += 32) mine.insert(x[row * columns + i], i);
    for (int k = 0; k < K; ++k) {
        float best = mine.values[0];
        int from = lane;
        for (int offset = 16; offset; offset /= 2) {
            const float other = __shfl_down_sync(~0u, best, offset);
            const int lane_of_other = __shfl_down_sync(~0u, from, offset);
            if (other > best) best = other, from = lane_of_other;
        }
        from = __shfl_sync(~0u, from, 0);
        if (lane == from) {
            values[row * K + k] = mine.values[0];
            indices[row * K + k] = mine.at[0];
            mine.pop();
        }
    }
}

extern "C" __global__ void topk4(const float *x, float *values, int *indices, int columns, int rows)
{
    topk_rows<4>(x, values, indices, columns, rows);
}
