// A whole program in C++ that does two things wrong, to show when CUDA says so.
// A launch that cannot be is reported by the launch; a kernel that goes wrong is reported by a later
// call that has nothing to do with it, and then by every call: the error is sticky.
// Build and run: nvcc -O2 -arch=native -I kernels late_error_host.cu -o late_error && ./late_error

#include <cstdio>

#include "04_first_kernels/threads/fade.cu"

static void say(const char *call, cudaError_t status)
{
    printf("%-42s %s\n", call, cudaGetErrorString(status));
}

int main()
{
    const int n = 1000;
    float *d_x;
    say("cudaMalloc", cudaMalloc(&d_x, n * sizeof(float)));

    fade<<<1, 2000>>>(d_x, n, 1); // a block has at most 1024 threads
    say("cudaGetLastError after the first launch", cudaGetLastError());
    say("cudaGetLastError once more", cudaGetLastError());

    float *nowhere = d_x + (1ull << 40); // four terabytes further on
    fade<<<4, 256>>>(nowhere, n, 1);
    say("cudaGetLastError after the second launch", cudaGetLastError());
    say("cudaDeviceSynchronize", cudaDeviceSynchronize());
    say("cudaMemset of an array that is all right", cudaMemset(d_x, 0, n * sizeof(float)));
    say("cudaGetLastError", cudaGetLastError());
    return 0;
}
