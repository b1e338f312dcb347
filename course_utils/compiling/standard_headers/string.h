// NVRTC declares memcpy and memset.
#pragma once
#include <cstddef>
