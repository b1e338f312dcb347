// The running sums of each block's 512 elements of n fp32, and the block's own sum in sums[b].
// Another idea than scan_hillis_steele: a tree adds up, and a second walk through it, from the root
// down, hands every node the sum of all that is to its left. Two additions for each element.
// Limit: twice as many steps, few threads at work in most of them, with strides that collide in
// banks.
// grid (ceil(n / 512)), block (256), dynamic shared 0

constexpr int kThreads = 256;
constexpr int kTile = 2 * kThreads;

extern "C" __global__ void scan_blelloch(const float *x, float *out, float *sums, int n)
{
    __shared__ float tree[kTile];
    const int t = threadIdx.x;
    const int first = blockIdx.x * kTile;
    const float a = first + t < n ? x[first + t] : 0.0f;
    const float b = first + t + kThreads < n ? x[first + t + kThreads] : 0.0f;
    tree[t] = a;
    tree[t + kThreads] = b;
    for (int distance = 1; distance < kTile; distance *= 2) { // up: the right one of a pair adds
        __syncthreads(); // the step before is done
        const int right = 2 * distance * (t + 1) - 1;
        if (right < kTile) {
            tree[right] += tree[right - distance];
        }
    }
    __syncthreads(); // the root holds the sum of all
    if (t == 0) {
        sums[blockIdx.x] = tree[kTile - 1];
        tree[kTile - 1] = 0.0f; // nothing is to the left of all
    }
    for (int distance = kTile / 2; distance > 0; distance /= 2) { // down
        __syncthreads(); // the step before is done
        const int right = 2 * distance * (t + 1) - 1;
        if (right < kTile) {
            const float left_sum = tree[right - distance];
            tree[right - distance] = tree[right]; // the left child begins where its parent does
            tree[right] += left_sum;              // the right one after the left one
        }
    }
    __syncthreads(); // every leaf has the sum before it
    if (first + t < n) {
        out[first + t] = tree[t] + a; // inclusive
    }
    if (first + t + kThreads < n) {
        out[first + t + kThreads] = tree[t + kThreads] + b;
    }
}
