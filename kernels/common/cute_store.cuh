// The way of a thread's sums to global memory, for kernels in CuTe.

#pragma once

#include <cute/tensor.hpp>

// Rounds the thread's sums to bf16 and stores those that are in the matrix, two neighbours of a row at
// a time. `part` is the thread's part of C, `at` the coordinates of the same elements, `shape` the
// extents of C; rows of C have an even number of elements.
template <class Sums, class Part, class Places, class Shape>
__device__ inline void store_inside(const Sums &sum, Part &&part, const Places &at,
                                    const Shape &shape)
{
    using namespace cute;
    Tensor rounded = make_tensor_like<bfloat16_t>(sum);
    copy(sum, rounded);
    Tensor pairs = recast<uint32_t>(rounded);
    Tensor to = recast<uint32_t>(part);
    CUTE_UNROLL
    for (int i = 0; i < size(pairs); ++i) {
        if (elem_less(at(2 * i), shape)) {
            to(i) = pairs(i);
        }
    }
}
