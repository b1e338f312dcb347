// Counts the outcomes of litmus.cu: outcomes[bits] += 1 for every instance of every round, where bit
// l of `bits` says that load l saw its round's store. `loads` is 2 or 4, outcomes has 16 words.
// The idea: a count for each block first, in shared memory, and one atomic for each outcome then.
// Limit: memory bandwidth. Takes any instances and rounds.
// grid (any), block (any), dynamic shared 0

constexpr int kOutcomes = 16;

extern "C" __global__ void litmus_count(const unsigned *found, unsigned long long *outcomes,
                                        int instances, int rounds, int loads)
{
    __shared__ unsigned mine[kOutcomes];
    for (int at = threadIdx.x; at < kOutcomes; at += blockDim.x) {
        mine[at] = 0;
    }
    __syncthreads();
    const long long stride = (long long)gridDim.x * blockDim.x;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < (long long)instances * rounds; i += stride) {
        const long long round = i / instances;
        const unsigned *row = found + round * loads * instances + i % instances;
        int bits = 0;
        for (int load = 0; load < loads; ++load) {
            bits |= (row[(long long)load * instances] > round) << load; // rounds count from 1
        }
        atomicAdd(&mine[bits], 1u);
    }
    __syncthreads();
    for (int at = threadIdx.x; at < kOutcomes; at += blockDim.x) {
        if (mine[at] > 0) {
            atomicAdd(&outcomes[at], (unsigned long long)mine[at]);
        }
    }
}
