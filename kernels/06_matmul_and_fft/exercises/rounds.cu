// Each block is a slot of a GPU. In every wave each of them takes the next tile,
// and one that finds none left counts itself as idle.
// grid (slots), block 32, dynamic shared 0

extern "C" __global__ void rounds(int tiles, int* owner, int* idle)
{
    for (int first = 0; first < tiles; first += gridDim.x) {  // of the wave
        __syncthreads();
        const int tile = first + blockIdx.x;
        if (threadIdx.x == 0) {
            if (tile < tiles) {
                owner[tile] = blockIdx.x;
            } else {
                atomicAdd(idle, 1);
            }
        }
    }
}
