// result[0] = the largest of n floats, in one launch. partial[b] becomes the largest of block b's
// 32, and done[0], 0 before the launch, counts the blocks. Takes any n.
// grid (ceil(n / 32)), block (32), dynamic shared 0

extern "C" __global__ void last_to_store(const float *x, float *result, float *partial,
                                         unsigned *done, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? x[i] : -__int_as_float(0x7f800000); // minus infinity
    for (int distance = 16; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_down_sync(0xffffffff, value, distance));
    }
    if (threadIdx.x == 0) { // its `value` is the block's largest
        // TODO: store it, count the block, and let the last block find the largest of all
        // SOLUTION
        partial[blockIdx.x] = value;
        __threadfence(); // release: the count comes after the value
        if (atomicAdd(done, 1) == gridDim.x - 1) {
            __threadfence(); // acquire: no value is read before the count
            for (int block = 0; block < gridDim.x; ++block) {
                value = fmaxf(value, partial[block]);
            }
            result[0] = value;
        }
        // END
    }
}
