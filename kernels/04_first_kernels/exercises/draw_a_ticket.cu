// Subtracts the first tile's sum from all of n numbers: out[i] = x[i] - (x[0] + ... + x[255]). The
// tile that adds up stores the sum in *offset and sets the flag *ready; all others wait for it.
// *ready and the counter *ticket are 0 before the launch; n is 256 or more, numbers wrap around.
// A block takes so much shared memory that only one fits an SM.
// grid (ceil(n / 256)), block (256), dynamic shared 204800

#include <cuda/atomic>

constexpr int kThreads = 256;

extern "C" __global__ void draw_a_ticket(const unsigned *x, unsigned *out, unsigned *offset,
                                         unsigned *ready, unsigned *ticket, int n)
{
    extern __shared__ unsigned room[]; // room[0]: a sum; room[1] is free
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(*ready);
    // TODO: let thread 0 draw the number of this block's tile, and hand it to the block
    // STARTER
    //| const int tile = blockIdx.x;
    // SOLUTION
    if (threadIdx.x == 0) {
        room[1] = atomicAdd(ticket, 1); // in the order in which blocks start
    }
    __syncthreads(); // the number of the tile is there
    const int tile = room[1];
    // END
    const int i = tile * kThreads + threadIdx.x;
    const unsigned value = i < n ? x[i] : 0;
    if (threadIdx.x == 0) {
        room[0] = 0;
    }
    __syncthreads(); // the sum is zero
    if (tile == 0) {
        atomicAdd(&room[0], value);
        __syncthreads(); // the sum is there
        if (threadIdx.x == 0) {
            *offset = room[0];
            flag.store(1, cuda::memory_order_release);
        }
    } else if (threadIdx.x == 0) {
        while (flag.load(cuda::memory_order_acquire) == 0) {
        }
        room[0] = *offset;
    }
    __syncthreads(); // the whole block has the sum
    if (i < n) {
        out[i] = value - room[0];
    }
}
