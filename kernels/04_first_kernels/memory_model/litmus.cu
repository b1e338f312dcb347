// A litmus test, run many times at once: threads of several blocks each do two accesses to the words
// x and y, in an order that nothing but the fences given with -D keeps. What each load found is
// written to found[(round * kLoads + load) * instances + instance]: `round` or more where it saw this
// round's store, less where it saw an older one. Words begin at 0; rounds count from 1.
// The idea: a forbidden outcome never occurs, an allowed one may. Only a count can show that it does.
// Limit: blocks that are resident together. instances = grid * block <= words, a power of two.
// grid (any that is resident at once), block (a multiple of 32), dynamic shared 0

#ifndef TEST
#define TEST MP // MP message passing, SB store buffering, LB load buffering, CoRR, IRIW
#endif
#ifndef LOAD_X
#define LOAD_X "ld.relaxed.gpu.global.u32"
#define LOAD_Y "ld.relaxed.gpu.global.u32"
#define STORE_X "st.relaxed.gpu.global.u32"
#define STORE_Y "st.relaxed.gpu.global.u32"
#define FENCE_0 "" // between the two accesses of role 0 (of IRIW: none, a writer has one access)
#define FENCE_1 "" // between those of role 1, or of the readers
#endif
#ifndef WARM
#define WARM 0 // 1: role 1 reads x once more before, so that its SM's L1 cache may hold the old value
#endif
#ifndef NEAR
#define NEAR 0 // 1: the roles of one instance are threads of one block
#endif

constexpr unsigned kScatter = 2654435761u; // odd, so i * kScatter is another word for each i
constexpr int MP = 0, SB = 1, LB = 2, CoRR = 3, IRIW = 4;
constexpr int kRoles = TEST == IRIW ? 4 : 2;
constexpr int kLoads = TEST == IRIW ? 4 : 2;

__device__ unsigned load_x(const unsigned *at)
{
    unsigned value;
    asm volatile(LOAD_X " %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

__device__ unsigned load_y(const unsigned *at)
{
    unsigned value;
    asm volatile(LOAD_Y " %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

__device__ void store_x(unsigned *at, unsigned value)
{
    asm volatile(STORE_X " [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

__device__ void store_y(unsigned *at, unsigned value)
{
    asm volatile(STORE_Y " [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

__device__ void fence_0()
{
    asm volatile(FENCE_0 ::: "memory");
}

__device__ void fence_1()
{
    asm volatile(FENCE_1 ::: "memory");
}

// What one role of one instance does; found[0] and found[instances] are its first two loads' places.
__device__ void play(int role, unsigned *x, unsigned *y, unsigned round, unsigned *found,
                     int instances)
{
    if (TEST == MP && role == 0) {
        store_x(x, round); // the data
        fence_0();
        store_y(y, round); // the flag
    } else if (TEST == MP) {
        if (WARM) load_x(x);
        const unsigned flag = load_y(y);
        fence_1();
        const unsigned data = load_x(x);
        found[0] = flag;
        found[instances] = data;
    } else if (TEST == SB && role == 0) {
        store_x(x, round);
        fence_0();
        found[0] = load_y(y);
    } else if (TEST == SB) {
        store_y(y, round);
        fence_1();
        found[instances] = load_x(x);
    } else if (TEST == LB && role == 0) {
        const unsigned seen = load_x(x);
        fence_0();
        store_y(y, round);
        found[0] = seen;
    } else if (TEST == LB) {
        const unsigned seen = load_y(y);
        fence_1();
        store_x(x, round);
        found[instances] = seen;
    } else if (TEST == CoRR && role == 0) {
        store_x(x, round);
    } else if (TEST == CoRR) {
        const unsigned first = load_x(x);
        fence_1();
        const unsigned second = load_x(x);
        found[0] = first;
        found[instances] = second;
    } else if (role == 0) {
        store_x(x, round);
    } else if (role == 1) {
        store_y(y, round);
    } else if (role == 2) {
        const unsigned first = load_x(x);
        fence_1();
        const unsigned second = load_y(y);
        found[0] = first;
        found[instances] = second;
    } else {
        const unsigned first = load_y(y);
        fence_1();
        const unsigned second = load_x(x);
        found[2 * instances] = first;
        found[3 * instances] = second;
    }
}

__device__ unsigned mixed(unsigned a)
{
    a = (a ^ a >> 16) * 0x7feb352du;
    a = (a ^ a >> 15) * 0x846ca68bu;
    return a ^ a >> 16;
}

extern "C" __global__ void litmus(unsigned *words_x, unsigned *words_y, unsigned *found, int words,
                                  int rounds, int longest_delay, unsigned seed)
{
    const int instances = gridDim.x * blockDim.x;
    const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (int round = 1; round <= rounds; ++round) {
        const unsigned dice = mixed(seed + round * 0x9e3779b9u + warp);
        for (int turn = 0; turn < kRoles; ++turn) {
            const int role = (turn + dice) % kRoles;
            // Role r of an instance is played r warps further on in its block, and (unless NEAR) in
            // another block: one or more further on, as this launch has drawn.
            const int away = NEAR ? 0 : role * (1 + seed % (gridDim.x > 1 ? gridDim.x - 1 : 1));
            const int block = (blockIdx.x + away) % gridDim.x;
            const int thread = (threadIdx.x + 32 * role) % blockDim.x;
            const unsigned instance = block * blockDim.x + thread;
            const unsigned at_x = (instance * kScatter) & (words - 1);
            const unsigned at_y = ((instance + 7919) * kScatter) & (words - 1);
            for (unsigned wait = (dice >> 8) % (longest_delay + 1); wait > 0; --wait) {
                asm volatile("");
            }
            play(role, words_x + at_x, words_y + at_y, round,
                 found + (size_t)(round - 1) * kLoads * instances + instance, instances);
        }
    }
}
