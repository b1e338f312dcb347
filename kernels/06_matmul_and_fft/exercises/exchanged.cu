// y is the discrete Fourier transform of each row of x: 256 complex numbers a row, 64 threads with
// four of them each. Four stages of radix 4 in one launch, and exchanges in shared memory.
// grid rows, block 64, dynamic shared 0

__device__ float2 times(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// exp(-2 pi i k / n)
__device__ float2 root(int k, int n)
{
    float2 w;
    sincospif(k * (-2.0f / n), &w.y, &w.x);
    return w;
}

// The transform of four points, in registers.
__device__ void four(float2* v)
{
    const float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y);
    const float2 b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
    const float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y);
    const float2 d = make_float2(v[1].x - v[3].x, v[1].y - v[3].y);
    v[0] = make_float2(a.x + c.x, a.y + c.y);
    v[1] = make_float2(b.x + d.y, b.y - d.x);
    v[2] = make_float2(a.x - c.x, a.y - c.y);
    v[3] = make_float2(b.x - d.y, b.y + d.x);
}

extern "C" __global__ void __launch_bounds__(64) exchanged(const float2* x, float2* y)
{
    __shared__ float2 shared[256];
    const int j = threadIdx.x;
    x += blockIdx.x * 256;
    y += blockIdx.x * 256;
    float2 v[4];
    for (int r = 0; r < 4; ++r) v[r] = x[j + 64 * r];
    four(v);
    for (int done = 4; done < 256; done *= 4) {
        // v[r] are the results of butterfly j of the stage before, whose transforms had done / 4
        // points: it belongs at first + r * done / 4.
        const int before = done / 4;
        const int first = j / before * done + j % before;
        // TODO: put the four results into shared memory, and take the four points j + 64 r of this
        //       stage from there. Two barriers: old points have been read, new ones are there.
        // SOLUTION
        __syncthreads();  // what the stage before brought has been read
        for (int r = 0; r < 4; ++r) shared[first + r * before] = v[r];
        __syncthreads();  // everything is there
        for (int r = 0; r < 4; ++r) v[r] = shared[j + 64 * r];
        // END
        for (int r = 1; r < 4; ++r) v[r] = times(v[r], root(r * (j % done), 4 * done));
        four(v);
    }
    for (int r = 0; r < 4; ++r) y[j + 64 * r] = v[r];
}
