// Batch normalisation as it is applied after training, in place: x = scale[f] * x + shift[f] for
// each of a number of planes of `pixels` fp32 numbers. Plane p belongs to filter f = p % filters.
// The idea: mean, variance, gain and bias of a filter are constants by then: one FMA is left.
// Limit: bytes in flight, as in copy.cu. Eight bytes move for one FMA.
// At most 65,535 planes, the most that a grid has in y.
// grid (ceil(pixels / 256), planes), block (256), dynamic shared 0

extern "C" __global__ void batchnorm(float *x, const float *scale, const float *shift, int filters,
                                     int pixels)
{
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    int filter = blockIdx.y % filters;
    if (pixel < pixels) {
        size_t linear = (size_t)blockIdx.y * pixels + pixel;
        x[linear] = scale[filter] * x[linear] + shift[filter];
    }
}
