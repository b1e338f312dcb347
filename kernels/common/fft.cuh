// Complex arithmetic, the roots of unity, and DFTs of 2 to 32 points in registers.

#pragma once

__device__ inline float2 operator+(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

__device__ inline float2 operator-(float2 a, float2 b)
{
    return make_float2(a.x - b.x, a.y - b.y);
}

__device__ inline float2 operator*(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// exp(-2 pi i k / n), n a power of two: k / n is exact, so both parts are right to the last bits.
__device__ inline float2 root(int k, int n)
{
    float2 w;
    sincospif(k * (-2.0f / n), &w.y, &w.x);
    return w;
}

// The same for 0 <= k < n by the special function unit. __sincosf errs by up to 2^-21.2, or 4.2e-7,
// in each part where the angle is between -pi and pi, and by more beyond (CUDA programming guide,
// intrinsic functions), which is why large k go round the other way. The angle's rounding adds up
// to 2.1e-7.
__device__ inline float2 root_fast(int k, int n)
{
    float2 w;
    __sincosf((k > n / 2 ? k - n : k) * (-6.283185307179586f / n), &w.y, &w.x);
    return w;
}

// v exp(-2 pi i m / 32). With m known to the compiler it is no work at all for quarters of a turn,
// two products for an eighth, four for any other.
__device__ __forceinline__ float2 turned(float2 v, int m)
{
    constexpr float kCosine[9] = {1.0f,         0.980785280f, 0.923879533f,
                                  0.831469612f, 0.707106781f, 0.555570233f,
                                  0.382683432f, 0.195090322f, 0.0f};
    int part = m % 8;
    if (part == 4) {
        v = make_float2((v.x + v.y) * kCosine[4], (v.y - v.x) * kCosine[4]);
    } else if (part != 0) {
        float cosine = kCosine[part], sine = kCosine[8 - part];
        v = make_float2(v.x * cosine + v.y * sine, v.y * cosine - v.x * sine);
    }
    switch (m / 8) {
    case 1:
        return make_float2(v.y, -v.x);
    case 2:
        return make_float2(-v.x, -v.y);
    case 3:
        return make_float2(-v.y, v.x);
    default:
        return v;
    }
}

// The DFT of the R points v[0], v[S], v[2 S]..., in place and in natural order. From 8 points on
// R = A B: DFTs of A points, factors, DFTs of B points.
template <int R, int S = 1>
__device__ __forceinline__ void dft(float2 *v)
{
    static_assert(R == 1 || R == 2 || R == 4 || R == 8 || R == 16 || R == 32, "a radix");
    if constexpr (R == 2) {
        float2 a = v[0], b = v[S];
        v[0] = a + b;
        v[S] = a - b;
    } else if constexpr (R == 4) {
        float2 a = v[0] + v[2 * S], b = v[0] - v[2 * S];
        float2 c = v[S] + v[3 * S], d = v[S] - v[3 * S];
        v[0] = a + c;
        v[S] = make_float2(b.x + d.y, b.y - d.x); // b - i d
        v[2 * S] = a - c;
        v[3 * S] = make_float2(b.x - d.y, b.y + d.x);
    } else if constexpr (R > 4) {
        constexpr int A = R == 8 ? 2 : 4, B = R / A;
        float2 result[R];
#pragma unroll
        for (int b = 0; b < B; ++b) {
            dft<A, B * S>(v + b * S);
        }
#pragma unroll
        for (int a = 0; a < A; ++a) {
#pragma unroll
            for (int b = 0; b < B; ++b) {
                v[(a * B + b) * S] = turned(v[(a * B + b) * S], a * b * (32 / R));
            }
            dft<B, S>(v + a * B * S);
#pragma unroll
            for (int b = 0; b < B; ++b) {
                result[a + A * b] = v[(a * B + b) * S];
            }
        }
#pragma unroll
        for (int r = 0; r < R; ++r) {
            v[r * S] = result[r];
        }
    }
}
