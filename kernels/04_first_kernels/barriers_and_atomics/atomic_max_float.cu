// The largest of n fp32 elements, none of them NaN: *highest = max x[i]. It is -infinity before the
// launch.
// The idea: there is no atomicMax for floats, and atomicCAS builds any atomic there is not. Compute
// what should stand there, and store it only if what you computed from still stands there; if not,
// take what does and try again.
// Limit: contention for one word. Most threads find a larger value there and leave after one try.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr unsigned kMinusInfinity = 0xff800000; // the bits of -infinity in fp32

__device__ void atomic_max(float *address, float value)
{
    unsigned *word = reinterpret_cast<unsigned *>(address); // atomicCAS compares bits
    unsigned seen = kMinusInfinity; // a first guess; the try below finds out
    while (value > __uint_as_float(seen)) {
        unsigned before = atomicCAS(word, seen, __float_as_uint(value));
        if (before == seen) {
            return; // nobody came between: the value is stored
        }
        seen = before;
    }
}

extern "C" __global__ void atomic_max_float(const float *x, float *highest, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomic_max(highest, x[i]);
    }
}
