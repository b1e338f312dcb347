// thrust::complex, from NVIDIA's header: its conversions to std::complex and its streams, which are
// the host's, are declared for the device, where nothing calls them.
#ifdef LOOKS_FOR_THRUST_COMPLEX // this folder is in the path twice
#include_next <thrust/complex.h>
#elif !defined(HAS_THRUST_COMPLEX)
#define HAS_THRUST_COMPLEX
#include <cfloat>
#include <complex>
#include <thrust/detail/config.h>
#include <thrust/detail/type_traits.h>
#include <thrust/type_traits/is_trivially_relocatable.h>

#define DECLARES_STREAMS_ALONE
#include <sstream>
#undef DECLARES_STREAMS_ALONE

#pragma push_macro("_CCCL_HOST")
#undef _CCCL_HOST
#define _CCCL_HOST __device__
#define LOOKS_FOR_THRUST_COMPLEX
#include_next <thrust/complex.h>
#undef LOOKS_FOR_THRUST_COMPLEX
#pragma pop_macro("_CCCL_HOST")
#endif
