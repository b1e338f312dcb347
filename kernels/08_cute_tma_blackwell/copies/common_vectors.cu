// out[p] is how many elements of pair p of layouts one access could move: those that lie together, in
// the same order, in both. PAIRS are common(from, to), separated by commas.
// Idea: ask CuTe what `copy` asks. Only numbers that the compiler knows can prove anything: a stride
// that is a variable (`unknown`) is contiguous with nothing.
// grid 1, block (1), dynamic shared 0
#include <cute/layout.hpp>

using namespace cute;

#ifndef PAIRS
#define PAIRS common(Layout<_8>{}, Layout<_8>{})
#endif

template <class From, class To>
__device__ int common(From const& from, To const& to)
{
    return decltype(max_common_vector(from, to))::value;
}

extern "C" __global__ void common_vectors(int* out, int unknown)
{
    const int found[] = {PAIRS};
    for (int pair = 0; pair < int(sizeof(found) / sizeof(int)); ++pair) out[pair] = found[pair];
}
