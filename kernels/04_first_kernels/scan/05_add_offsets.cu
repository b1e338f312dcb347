// Adds to every element what stands before its tile: out[i] += upto[i / tile - 1], for n fp32 in
// tiles of `tile` elements; the first tile stays as it is.
// The idea: the last of the three launches of a scan in tiles. upto[t] is the sum of tiles 0 to t.
// Limit: memory bandwidth.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void add_offsets(float *out, const float *upto, size_t tile, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tile && i < n) {
        out[i] += upto[i / tile - 1];
    }
}
