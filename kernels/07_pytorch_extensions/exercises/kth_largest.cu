// kth[r] = the k-th largest of row r of keys, rows x n unsigned integers: radix select, from the
// highest 4 bits down. A block a row; 1 <= k <= n.
// grid (rows), block (256), dynamic shared 0

constexpr int kThreads = 256, kBins = 16;

extern "C" __global__ void kth_largest(const unsigned *keys, unsigned *kth, int n, int k)
{
    __shared__ int counts[kBins];
    __shared__ int bin, above; // the bin of the k-th largest, and how many of its digits are larger
    const unsigned *row = keys + (long long)blockIdx.x * n;
    unsigned prefix = 0; // of the k-th largest: the bits found so far, then zeros
    int wanted = k;      // its place among the keys that begin like it
    for (int shift = 28; shift >= 0; shift -= 4) {
        if (threadIdx.x < kBins) {
            counts[threadIdx.x] = 0;
        }
        __syncthreads(); // the counters are zero
        // TODO: count the digits (4 bits from `shift` on) of the keys that begin with the bits
        // found so far, all of them in the first pass; find the bin of the `wanted`-th from above;
        // bring prefix and wanted up to date
        // SOLUTION
        for (int i = threadIdx.x; i < n; i += kThreads) {
            if (shift == 28 || row[i] >> (shift + 4) == prefix >> (shift + 4)) {
                atomicAdd(&counts[row[i] >> shift & (kBins - 1)], 1);
            }
        }
        __syncthreads(); // all are counted
        if (threadIdx.x < kBins) {
            int larger = 0;
            for (int b = kBins - 1; b > int(threadIdx.x); --b) {
                larger += counts[b];
            }
            if (larger < wanted && wanted <= larger + counts[threadIdx.x]) {
                bin = threadIdx.x;
                above = larger;
            }
        }
        __syncthreads(); // the bin is found
        prefix |= unsigned(bin) << shift;
        wanted -= above;
        // END
        __syncthreads(); // all have read what they need
    }
    if (threadIdx.x == 0) {
        kth[blockIdx.x] = prefix;
    }
}
