// sums[b] = the sum of the 256 floats of block b; the last block may have fewer. Takes any n.
// grid ceil(n / 256), block 256, dynamic shared 0

constexpr int kBlock = 256;

extern "C" __global__ void block_sums(const float* x, float* sums, int n)
{
    __shared__ float tile[kBlock];
    const int t = threadIdx.x;
    const int i = blockIdx.x * kBlock + t;
    // BUG
    //| if (i < n) {
    //|     tile[t] = x[i];
    //| }
    // SOLUTION
    tile[t] = i < n ? x[i] : 0.0f;
    // END
    __syncthreads();  // the tile is complete
    for (int half = kBlock / 2; half > 0; half /= 2) {
        if (t < half) {
            tile[t] += tile[t + half];
        }
        __syncthreads();  // all have added
    }
    if (t == 0) {
        sums[blockIdx.x] = tile[0];
    }
}
