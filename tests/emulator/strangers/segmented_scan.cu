// Running sums that begin again at every flag; warps by shuffles, blocks through shared memory.
template <class T> struct Pair {
    T value;
    int flag;
};

template <class T> __device__ Pair<T> operator+(const Pair<T> &a, const Pair<T> &b)
{
    return {b.flag ? b.value : a.value + b.value, a.flag | b.flag};
}

template <class T> __device__ Pair<T> warp_scan(Pair<T> v, int lane)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        Pair<T> before{__shfl_up_sync(0xffffffffu, v.value, d), __shfl_up_sync(0xffffffffu, v.flag, d)};
        if (lane >= d) v = before + v;
    }
    return v;
}

template <class T, int WARPS>
__global__ void segmented_scan(const T *in, const unsigned char *head, T *out, int n)
{
    __shared__ Pair<T> totals[WARPS];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    Pair<T> carry{T(0), 0};
    for (int start = 0; start < n; start += blockDim.x) {
        const int i = start + threadIdx.x;
        Pair<T> v{i < n ? in[i] : T(0), i < n ? head[i] : 0};
        v = warp_scan(v, lane);
        if (lane == 31) totals[warp] = v;
        __syncthreads();
        Pair<T> before = carry;
        for (int w = 0; w < warp; ++w) before = before + totals[w];
        if (i < n) out[i] = (before + v).value;
        for (int w = 0; w < WARPS; ++w) carry = carry + totals[w];
        __syncthreads();
    }
}

template __global__ void segmented_scan<double, 4>(const double *, const unsigned char *, double *, int);
