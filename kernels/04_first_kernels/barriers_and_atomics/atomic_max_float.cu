// The largest of n fp32 elements, none of them NaN: *highest = max x[i]. It is -infinity before the
// launch.
// The idea: there is no atomicMax for floats, and atomicCAS builds any atomic there is not. Compute
// the new value, and store it only if the word still holds the value that you computed from. If it
// doesn't, take its new value and try again.
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
            return; // no thread came between: the value is stored
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
