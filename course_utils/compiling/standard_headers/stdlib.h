// NVRTC declares malloc, free and abort; <cuda.h> includes this for size_t.
#pragma once
#include <cstddef>
