// y is x with each tile of kTile floats turned round; n is a multiple of kTile.
// The size of a tile is a template parameter: a constant to the compiler, so that it can size a
// shared array, be checked before anything runs, and differ from instance to instance.
// Limit: memory bandwidth.
// grid (n / kTile), block (kTile), dynamic shared 0

constexpr int kWarpSize = 32;

__host__ __device__ constexpr bool is_whole_warps(int threads)
{
    return threads > 0 && threads % kWarpSize == 0;
}

template <int kTile>
__global__ void reverse_tiles(const float *x, float *y)
{
    static_assert(is_whole_warps(kTile), "a tile is whole warps");
    __shared__ float tile[kTile];
    const int start = blockIdx.x * kTile;
    tile[threadIdx.x] = x[start + threadIdx.x];
    __syncthreads(); // the last thread's element is read by the first
    y[start + threadIdx.x] = tile[kTile - 1 - threadIdx.x];
}
