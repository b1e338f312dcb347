// Puts each pair (low[i], high[i]) of n floats in order, in place.
// A __device__ function gets two elements by reference and swaps them where they lie.
// Limit: memory bandwidth.
// grid (ceil(n / 256)), block (256), dynamic shared 0

__device__ void put_in_order(float &low, float &high)
{
    if (high < low) {
        const float kept = low;
        low = high;
        high = kept;
    }
}

extern "C" __global__ void order_pairs(float *low, float *high, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        put_in_order(low[i], high[i]);
    }
}
