// Open addressing: a slot is taken with a compare-and-swap; values of a key are added up.
#include <cstdint>

const uint32_t kEmpty = 0xffffffff;

struct KeyValue {
    uint32_t key;
    uint32_t value;
};

__device__ uint32_t hash(uint32_t k)
{
    k ^= k >> 16;
    k *= 0x85ebca6b;
    k ^= k >> 13;
    k *= 0xc2b2ae35;
    k ^= k >> 16;
    return k;
}

extern "C" __global__ void gpu_hashtable_insert(KeyValue *hashtable, uint32_t capacity,
                                                const KeyValue *kvs, unsigned int numkvs)
{
    unsigned int threadid = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadid < numkvs) {
        uint32_t key = kvs[threadid].key, value = kvs[threadid].value;
        uint32_t slot = hash(key) & (capacity - 1);
        while (true) {
            uint32_t prev = atomicCAS(&hashtable[slot].key, kEmpty, key);
            if (prev == kEmpty || prev == key) {
                atomicAdd(&hashtable[slot].value, value);
                return;
            }
            slot = (slot + 1) & (capacity - 1);
        }
    }
}

extern "C" __global__ void gpu_hashtable_lookup(const KeyValue *hashtable, uint32_t capacity, KeyValue *kvs,
                                                unsigned int numkvs)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < numkvs; i += blockDim.x * gridDim.x) {
        uint32_t key = kvs[i].key, slot = hash(key) & (capacity - 1);
        for (;;) {
            const uint2 entry = *reinterpret_cast<const uint2 *>(&hashtable[slot]);
            if (entry.x == key) {
                kvs[i].value = entry.y;
                break;
            }
            if (entry.x == kEmpty) {
                kvs[i].value = kEmpty;
                break;
            }
            slot = (slot + 1) & (capacity - 1);
        }
    }
}

// The same in one 64-bit word: the first value of a key wins.
extern "C" __global__ void insert_pairs(unsigned long long *table, uint32_t capacity, const KeyValue *kvs, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long pair = (unsigned long long)kvs[i].value << 32 | kvs[i].key;
    for (uint32_t slot = hash(kvs[i].key) % capacity;; slot = (slot + 1) % capacity) {
        unsigned long long old = atomicCAS(&table[slot], ~0ull, pair);
        if (old == ~0ull || (uint32_t)old == (uint32_t)pair) return;
    }
}
