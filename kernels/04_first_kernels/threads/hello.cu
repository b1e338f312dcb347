// Every thread prints which block it is in and which thread of that block it is. No arrays.
// The idea: a kernel is written once and run by every thread, and each can ask who it is.
// Limit: printf. It collects text in a buffer on the device; use it to debug, never in fast code.
// grid (2), block (4), dynamic shared 0

extern "C" __global__ void hello()
{
    printf("block %d, thread %d\n", blockIdx.x, threadIdx.x);
}
