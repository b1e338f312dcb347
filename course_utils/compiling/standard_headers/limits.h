// The limits of the whole numbers.
#pragma once
#undef CHAR_BIT
#define CHAR_BIT 8
#undef SCHAR_MAX
#define SCHAR_MAX 127
#undef SCHAR_MIN
#define SCHAR_MIN (-SCHAR_MAX - 1)
#undef UCHAR_MAX
#define UCHAR_MAX 255
#undef SHRT_MAX
#define SHRT_MAX 32767
#undef SHRT_MIN
#define SHRT_MIN (-SHRT_MAX - 1)
#undef USHRT_MAX
#define USHRT_MAX 65535
#undef INT_MAX
#define INT_MAX 2147483647
#undef INT_MIN
#define INT_MIN (-INT_MAX - 1)
#undef UINT_MAX
#define UINT_MAX 4294967295u
#undef LONG_MAX
#define LONG_MAX 9223372036854775807l
#undef LONG_MIN
#define LONG_MIN (-LONG_MAX - 1)
#undef ULONG_MAX
#define ULONG_MAX 18446744073709551615ul
#undef LLONG_MAX
#define LLONG_MAX 9223372036854775807ll
#undef LLONG_MIN
#define LLONG_MIN (-LLONG_MAX - 1)
#undef ULLONG_MAX
#define ULLONG_MAX 18446744073709551615ull
