// y[i] = x[i] held between low and high, for n floats. A grid-stride loop: any grid covers any n.
// grid any number of blocks, block 256, dynamic shared 0

extern "C" __global__ void clamp(const float* x, float* y, float low, float high, int n)
{
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: how many threads does the whole grid have? Each thread steps by that many elements.
    // STARTER
    //| const int stride = n;
    // SOLUTION
    const int stride = gridDim.x * blockDim.x;
    // END
    for (int i = first; i < n; i += stride) {
        // TODO: store x[i] in y[i], replaced by low where it is smaller and by high where larger
        // SOLUTION
        y[i] = fminf(fmaxf(x[i], low), high);
        // END
    }
}
