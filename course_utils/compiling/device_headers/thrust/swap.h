// thrust::swap, without the parallel algorithms that NVIDIA's header brings along.
#pragma once
#include <thrust/detail/config.h>

#include <cuda/std/utility>

THRUST_NAMESPACE_BEGIN
using ::cuda::std::swap;
THRUST_NAMESPACE_END
