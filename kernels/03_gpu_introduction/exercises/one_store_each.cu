// Every thread of the grid stores its own number. No thread is without an element.
// grid any, block any, dynamic shared 0

extern "C" __global__ void one_store_each(int *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = i;
}
