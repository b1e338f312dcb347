// Each thread counts how often the numbers 0 to 7 occur among `steps` numbers of its own: values is
// steps x threads, counts 8 x threads, at most 2 billion each. All values are between 0 and 7.
// grid (ceil(threads / 128)), block (128), dynamic shared 0

constexpr int kKinds = 8;

extern "C" __global__ void count_kinds(const int *values, int *counts, int steps, int threads)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= threads) {
        return;
    }
    int count[kKinds] = {}; // eight zeros
    for (int step = 0; step < steps; ++step) {
        int value = values[step * threads + i];
        // TODO: the index `value` is known only when the kernel runs, so `count` cannot live in
        //       registers. Count the same with indices that the compiler knows.
        // STARTER
        //| ++count[value];
        // SOLUTION
        for (int kind = 0; kind < kKinds; ++kind) {
            count[kind] += value == kind ? 1 : 0;
        }
        // END
    }
    for (int kind = 0; kind < kKinds; ++kind) {
        counts[kind * threads + i] = count[kind];
    }
}
