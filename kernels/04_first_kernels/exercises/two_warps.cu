// y[i] = x[i] + x[i - 1] for n integers, where x[-1] counts as 0. One block of two warps works on a
// piece of 32 after the other: warp 0 loads a piece into `box`, warp 1 adds and stores it. full[0] and
// empty[0] count the pieces that each has done. Takes any n.
// grid (1), block (64), dynamic shared 0

extern "C" __global__ void two_warps(const int* x, int* y, int n)
{
    __shared__ int box[33];
    // BUG
    //| __shared__ volatile int full, empty;
    // SOLUTION
    __shared__ int full, empty;
    // END
    const int lane = threadIdx.x % 32, pieces = (n + 31) / 32;
    if (threadIdx.x == 0) {
        full = 0;
        empty = 0;
    }
    __syncthreads();

    for (int piece = 0; piece < pieces; ++piece) {
        const int i = 32 * piece + lane;
        if (threadIdx.x < 32) {
            // BUG
            //| while (empty < piece) {
            //| }
            // SOLUTION
            while (atomicAdd_block(&empty, 0) < piece) {
            }
            __threadfence_block();  // acquire: warp 1 has read the box
            // END
            box[lane + 1] = i < n ? x[i] : 0;
            if (lane == 0) {
                box[0] = piece > 0 ? x[i - 1] : 0;
            }
            __syncwarp();
            // BUG
            //| if (lane == 0) {
            //|     full = piece + 1;
            //| }
            // SOLUTION
            if (lane == 0) {
                __threadfence_block();  // release: the box is full
                atomicExch_block(&full, piece + 1);
            }
            // END
        } else {
            // BUG
            //| while (full <= piece) {
            //| }
            // SOLUTION
            while (atomicAdd_block(&full, 0) <= piece) {
            }
            __threadfence_block();  // acquire: no number is read before
            // END
            if (i < n) {
                y[i] = box[lane + 1] + box[lane];
            }
            __syncwarp();
            // BUG
            //| if (lane == 0) {
            //|     empty = piece + 1;
            //| }
            // SOLUTION
            if (lane == 0) {
                __threadfence_block();  // release: all have read
                atomicExch_block(&empty, piece + 1);
            }
            // END
        }
    }
}
