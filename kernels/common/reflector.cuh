// Householder reflectors H = I - tau v v^T with v[0] = 1, as LAPACK's geqrf has them, and powers of
// two that keep the squares of a column from overflow and underflow.

#pragma once

// The reflector that turns a column x into (beta, 0, ..., 0), from alpha = x[0] and the sum of
// squares of the rest, its tail. v is 1, then the tail times `inverse`. A tail of zeros needs no
// reflection: tau = 0, as in LAPACK.
struct Reflector {
    float beta, tau, inverse;
};

__device__ inline Reflector reflector_of(float alpha, float squares)
{
    if (squares == 0.0f) {
        return {alpha, 0.0f, 0.0f};
    }
    // The sign that makes alpha - beta a sum of two numbers of one sign: no digits are lost.
    float beta = -copysignf(sqrtf(fmaf(alpha, alpha, squares)), alpha);
    return {beta, (beta - alpha) / beta, 1.0f / (alpha - beta)};
}

// Squares of a tail below kTooSmall may have lost numbers whose squares underflow; with an alpha
// that is small as well they matter. Then the tail and alpha are multiplied by kUp first.
constexpr float kTooSmall = 8.077936e-28f;     // 2^-90
constexpr float kSmallAlpha = 9.313226e-10f;   // 2^-30
constexpr float kUp = 18446744073709551616.0f; // 2^64

// value times a power of two, denormal numbers included: the course compiles with -ftz=true, which
// makes zeros of them in an ordinary product.
__device__ inline float scaled(float value, float power)
{
    float product;
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(value), "f"(power));
    return product;
}

// The bits of |value|: they compare like the numbers, denormal ones too.
__device__ inline unsigned size_bits(float value)
{
    return __float_as_uint(value) & 0x7fffffff;
}

// The power of two that brings a column whose largest number has these bits near 1, between 2^-126
// and 2^126, and 1 for zeros, infinity and NaN.
__device__ inline float power_for(unsigned largest)
{
    int exponent = largest >> 23; // with the bias of 127
    if (largest == 0 || exponent == 255) {
        return 1.0f;
    }
    return __uint_as_float(unsigned(max(254 - max(exponent, 1), 1)) << 23);
}

// 1 / power, exactly, for a power between 2^-126 and 2^126.
__device__ inline float undo(float power)
{
    return __uint_as_float((254u << 23) - __float_as_uint(power));
}
