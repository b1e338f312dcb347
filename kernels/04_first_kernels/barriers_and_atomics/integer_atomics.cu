// Every integer atomic once: each of n threads applies its x[i] to eleven words of `result`, and
// ticket[i] is what one atomicAdd returned, a number that no other thread gets.
// The idea: an atomic reads, computes and writes in one step, and returns what was there before.
// Where the order decides (atomicExch: the last, atomicCAS: the first) any thread may be the one.
// Limit: contention. All threads use the same few words, and their atomics are serialised.
// grid (ceil(n / 256)), block (256), dynamic shared 0

enum { kAdd, kSub, kMin, kMax, kAnd, kOr, kXor, kInc, kDec, kExch, kCas };

extern "C" __global__ void integer_atomics(const unsigned *x, unsigned *result, unsigned *ticket,
                                           int n)
{
    constexpr unsigned kLast = 9; // atomicInc counts 0, 1 ... 9, 0 ...; atomicDec backwards
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        ticket[i] = atomicAdd(&result[kAdd], 1); // what was there before this thread came
        atomicSub(&result[kSub], x[i]);
        atomicMin(&result[kMin], x[i]);
        atomicMax(&result[kMax], x[i]);
        atomicAnd(&result[kAnd], x[i]);
        atomicOr(&result[kOr], x[i]);
        atomicXor(&result[kXor], x[i]);
        atomicInc(&result[kInc], kLast);
        atomicDec(&result[kDec], kLast);
        atomicExch(&result[kExch], x[i]);  // stores x[i], whatever was there
        atomicCAS(&result[kCas], 0, x[i]); // stores x[i] only over a 0
    }
}
