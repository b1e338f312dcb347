// A transform of N points by N / P threads of a block, thread t holding the points t + m N / P for
// m < P, before and after: two or three of Stockham's stages (the third radix may be 1), with an
// exchange through shared memory between two of them.

#pragma once

#include "fft.cuh"

template <int N, int P>
struct BlockFft {
    static constexpr int kThreads = N / P;
    static constexpr int kShared = N + N / 16; // float2 of shared memory

    // One float2 of padding after 16: neighbours at strides of 16 lie in different banks. Where
    // a % 16 + b % 16 < 16, padded(a + b) is padded(a) + padded(b); all sums below are such sums,
    // so that a thread computes one address and the rest are offsets known to the compiler.
    __device__ static constexpr int padded(int i) { return i + i / 16; }

    // Where butterfly j of a stage puts its first result; the others follow at steps of kDone.
    template <int R, int kDone>
    __device__ static constexpr int target(int j)
    {
        return j / kDone * kDone * R + j % kDone;
    }

    // A transform that is one warp's needs no other warp.
    __device__ static void sync()
    {
        if constexpr (kThreads <= 32) {
            __syncwarp();
        } else {
            __syncthreads();
        }
    }

    // P / R butterflies of radix R on transforms of kDone points.
    template <int R, int kDone>
    __device__ static __forceinline__ void stage(float2 *v, int t)
    {
#pragma unroll
        for (int i = 0; i < P / R; ++i) {
            if constexpr (kDone > 1) {
                int k = (t + i * kThreads) % kDone;
#pragma unroll
                for (int r = 1; r < R; ++r) {
                    v[i + r * (P / R)] = v[i + r * (P / R)] * root_fast(r * k, kDone * R);
                }
            }
            dft<R, P / R>(v + i);
        }
    }

    // To each thread the points that its next butterflies take.
    template <int R, int kDone>
    __device__ static __forceinline__ void exchange(float2 *v, int t, float2 *shared)
    {
        float2 *to = shared + padded(target<R, kDone>(t));
        const float2 *from = shared + padded(t);
        if constexpr (kDone > 1) {
            sync(); // what the exchange before brought has been read
        }
#pragma unroll
        for (int i = 0; i < P / R; ++i) {
#pragma unroll
            for (int r = 0; r < R; ++r) {
                to[padded(target<R, kDone>(i * kThreads)) + padded(r * kDone)] = v[i + r * (P / R)];
            }
        }
        sync();
#pragma unroll
        for (int m = 0; m < P; ++m) {
            v[m] = from[padded(m * kThreads)];
        }
    }

    template <int kFirst, int kSecond, int kThird>
    __device__ static __forceinline__ void run(float2 *v, int t, float2 *shared)
    {
        static_assert(kFirst * kSecond * kThird == N, "the radices make the transform");
        stage<kFirst, 1>(v, t);
        exchange<kFirst, 1>(v, t, shared);
        stage<kSecond, kFirst>(v, t);
        if constexpr (kThird > 1) {
            exchange<kSecond, kFirst>(v, t, shared);
            stage<kThird, kFirst * kSecond>(v, t);
        }
    }
};
