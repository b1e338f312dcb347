// y[i] = the sum of four floats of x + one element of a table, drawn by a hash: n groups of four.
// The idea: x and y pass by once and are never used again; the table is used again and again. Which
// of them the L2 cache keeps decides how fast this is, and a launch may tell it.
// -DSTREAMED marks the loads of x and the stores of y as streaming: they may be evicted first.
// Limit: sectors of the table that the L2 cache no longer has. Takes any n and entries below 2^32.
// grid (ceil(n / 256)), block (256), dynamic shared 0

#ifdef STREAMED
#define LOAD __ldcs
#define STORE __stcs
#else
__device__ float4 load_four(const float4 *from)
{
    return *from;
}

__device__ void store_one(float *to, float value)
{
    *to = value;
}
#define LOAD load_four
#define STORE store_one
#endif

extern "C" __global__ void table_lookup(const float4 *__restrict__ x,
                                        const float *__restrict__ table, float *__restrict__ y,
                                        int n, unsigned entries)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned hash = i * 2654435761u;
        hash = (hash ^ hash >> 15) * 0x846ca68bu;
        hash ^= hash >> 16;
        const unsigned at = __umulhi(hash, entries); // from 0 to entries - 1
        const float4 four = LOAD(x + i);
        STORE(y + i, four.x + four.y + four.z + four.w + table[at]);
    }
}
