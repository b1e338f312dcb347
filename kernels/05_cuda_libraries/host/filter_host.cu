// A whole program in C++: a signal of 100,000 numbers by a filter of 129 taps, with cuFFT. The plan's
// layout alone cuts the signal into segments that overlap. Checked on the host. Then a plan that
// is refused, and its status in words.
// Build and run: nvcc -O2 -arch=native -I kernels filter_host.cu -lcufft -o filter && ./filter

#include <cufft.h>

#include <cmath>
#include <vector>

#include "04_first_kernels/host/check.h"

// The statuses that a program meets. cufft.h has them all.
const char *say(cufftResult status)
{
    switch (status) {
    case CUFFT_SUCCESS:
        return "success";
    case CUFFT_INVALID_PLAN:
        return "no such plan, or not one for this call";
    case CUFFT_ALLOC_FAILED:
        return "no memory left for a workspace";
    case CUFFT_INVALID_VALUE:
        return "an argument that cannot be";
    case CUFFT_EXEC_FAILED:
        return "a kernel could not be launched";
    case CUFFT_INVALID_SIZE:
        return "a length that cannot be";
    default:
        return "see cufftResult in cufft.h";
    }
}

#define FFT_CHECK(call)                                                         \
    do {                                                                        \
        cufftResult status = (call);                                            \
        if (status != CUFFT_SUCCESS) {                                          \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, say(status));    \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

// Each row of a times b, divided by `points`: cuFFT's transforms there and back make that factor.
__global__ void multiply(float2 *a, const float2 *b, int rows, int stored, int points)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * stored) {
        const float2 p = a[i], q = b[i % stored];
        a[i] = make_float2((p.x * q.x - p.y * q.y) / points, (p.x * q.y + p.y * q.x) / points);
    }
}

int main()
{
    int n = 100'000, taps = 129, points = 1024, stored = points / 2 + 1;
    int step = points - taps + 1, segments = (n + step - 1) / step;
    std::vector<float> x(segments * step + taps - 1), h(points), out(segments * points, NAN);
    for (int i = 0; i < n + taps - 1; ++i) {
        x[i] = static_cast<float>(i % 7) - 3;
    }
    for (int j = 0; j < taps; ++j) {
        h[j] = static_cast<float>(j % 5) - 2;
    }
    float *d_x, *d_h, *d_out;
    float2 *d_half, *d_filter;
    CHECK(cudaMalloc(&d_x, x.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_h, h.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_out, out.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_half, segments * stored * sizeof(float2)));
    CHECK(cudaMalloc(&d_filter, stored * sizeof(float2)));
    CHECK(cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_h, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice));

    cufftHandle of_filter, there, back; // made once, executed as often as you like
    FFT_CHECK(cufftPlan1d(&of_filter, points, CUFFT_R2C, 1));
    FFT_CHECK(cufftPlanMany(&there, 1, &points, &points, 1, step, &stored, 1, stored, CUFFT_R2C,
                            segments)); // from one segment to the next: step, less than points
    FFT_CHECK(cufftPlanMany(&back, 1, &points, &stored, 1, stored, &points, 1, points, CUFFT_C2R,
                            segments));
    FFT_CHECK(cufftExecR2C(of_filter, d_h, d_filter));
    FFT_CHECK(cufftExecR2C(there, d_x, d_half));
    multiply<<<(segments * stored + 255) / 256, 256>>>(d_half, d_filter, segments, stored, points);
    CHECK(cudaGetLastError());
    FFT_CHECK(cufftExecC2R(back, d_half, d_out));
    CHECK(cudaMemcpy(out.data(), d_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));

    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        float sum = 0; // of integers: exact
        for (int j = 0; j < taps; ++j) {
            sum += h[j] * x[i + taps - 1 - j];
        }
        const float got = out[i / step * points + taps - 1 + i % step]; // the first ones are spoiled
        wrong += !(std::fabs(got - sum) < 1e-3f);                       // a NaN is wrong
    }
    printf("%d of %d results are wrong\n", wrong, n);

    cufftHandle none;
    const cufftResult status = cufftPlan1d(&none, 0, CUFFT_C2C, 1);
    printf("a plan for 0 points: status %d, %s\n", status, say(status));

    for (cufftHandle plan : {of_filter, there, back}) {
        FFT_CHECK(cufftDestroy(plan));
    }
    for (void *array : {(void *)d_x, (void *)d_h, (void *)d_out, (void *)d_half, (void *)d_filter}) {
        CHECK(cudaFree(array));
    }
    return wrong || status == CUFFT_SUCCESS;
}
